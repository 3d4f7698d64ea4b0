"""The pages and people's questions of the sites that nothing was fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from evals.answers.check_keys import path_of
from evals.answers.fact_matching import comparable, first_place
from evals.answers.keys import AnswerKey
from evals.answers.suite_list import KeySet, own_key_sets, present
from webrag_core.acquisition.warc import WarcAcquirer


@dataclass(frozen=True, slots=True)
class Site:
    """A frozen site: its archive, its pages, and the questions that one of them answers."""

    keys: KeySet
    kind: str
    archive: WarcAcquirer
    urls: tuple[str, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a site of a kind, and what tells whether passages answer it."""

    kind: str
    key: AnswerKey
    hosts: frozenset[str]

    def is_answered_on(self, url: str) -> bool:
        """Whether this is one of the pages that answer."""
        return urlsplit(url).hostname in self.hosts and path_of(url) in {path_of(page) for page in self.key.page}

    def facts_stand_in(self, texts: Sequence[str]) -> bool:
        """Whether every fact of the answer stands in these texts, each in any of its wordings."""
        text = comparable("\n".join(texts))
        return all(first_place(fact, text) is not None for fact in self.key.must)


def reporting_sites(names: Sequence[str] = (), most_pages: int | None = None) -> list[Site]:
    """The sites of the reporting half, or those of these names, with the questions that their pages answer, or the
    first `most_pages` of each.

    A kind is that of the list of suites, with its language where that is not English.
    """
    sites = []
    for chosen in present(own_key_sets("reporting", names)):
        assert chosen.listed is not None
        language = "" if chosen.listed.language == "en" else f" ({chosen.listed.language})"
        archive = WarcAcquirer(chosen.warc)
        urls = tuple(archive.page_urls()[:most_pages])
        hosts = frozenset(urlsplit(url).hostname or "" for url in urls)
        paths = {path_of(url) for url in urls}
        kind = f"{chosen.listed.kind}{language}"
        questions = tuple(
            Question(kind, key, hosts)
            for key in chosen.keys
            if key.answerable and any(path_of(page) in paths for page in key.page)
        )
        sites.append(Site(chosen, kind, archive, urls, questions))
    return sites
