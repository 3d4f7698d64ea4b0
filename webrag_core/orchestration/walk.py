"""The walk of an answer: the pages that its question led to, and from which page each was reached."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from webrag_core.acquisition.urls import page_key
from webrag_core.orchestration.models import OrchestrationResult

WalkState = Literal["read", "failed", "stored", "next"]
"""Of a page: read by the walk; asked for, without a text; quoted, while the walk did not read it; to be read next."""
_NEXT = 3  # of the pages that would have been read next


@dataclass(frozen=True, slots=True)
class WalkPage:
    """A page. `round` is the one that read it, 0 for a start page, None where the walk did not. `from_url` is the page
    of the walk whose link led to it, None where there is none, or where it is no longer known; `named_in` another page,
    or a file of the site, that names it. `quotes` are numbers of the answer."""

    url: str
    title: str | None
    state: WalkState
    round: int | None = None
    from_url: str | None = None
    named_in: str | None = None
    quotes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Walk:
    """The pages in the order of reading, each after the one that led to it; then those that were only quoted, and the
    first of those that would have been next."""

    question: str
    pages: tuple[WalkPage, ...]

    @property
    def rounds(self) -> int:
        """How many rounds read pages."""
        return len({page.round for page in self.pages if page.round is not None})


def make_walk(
    question: str,
    *,
    rounds: Mapping[str, int],
    failed: Iterable[str],
    origins: Mapping[str, str],
    titles: Mapping[str, str | None],
    quotes: Mapping[str, list[int]],
    look_next: Iterable[str],
) -> Walk:
    """Put a walk together: `rounds` are those of the pages that were asked for, in order, `origins` the pages that led
    to them, `quotes` the numbers of quotes by page."""
    lost = set(failed)
    pages = []
    keys = {page_key(url): url for url in rounds}  # links spell addresses in other ways
    origins = {url: keys.get(page_key(origin), origin) for url, origin in origins.items()}
    for url, number in rounds.items():
        # a page of its own round or of a later one has not led to it
        earlier = {page for page, other in rounds.items() if other < number}
        state: WalkState = "failed" if url in lost else "read"
        pages.append(_page(url, state, number, origins.get(url), earlier, titles, quotes))
    pages += [_page(url, "stored", None, None, rounds, titles, quotes) for url in quotes if url not in rounds]
    ahead = [url for url in look_next if url not in rounds and url not in quotes][:_NEXT]
    pages += [_page(url, "next", None, origins.get(url), rounds, titles, quotes) for url in ahead]
    return Walk(question, tuple(pages))


def walk_of(result: OrchestrationResult) -> Walk:
    """The walk of a run that ended just now."""
    read = [page for page in result.read_documents() if page.outcome != "duplicate"]
    origins: dict[str, str] = {}
    titles: dict[str, str | None] = {}
    quotes: dict[str, list[int]] = {}
    for done in result.rounds:
        for candidate in done.candidates:
            origins.setdefault(candidate.url, candidate.from_url)
    for citation in result.citations:
        titles[citation.source_url] = citation.title
        quotes.setdefault(citation.source_url, []).append(citation.number)
    return make_walk(
        result.query,
        rounds={page.url: page.round for page in read},
        failed=[page.url for page in read if page.outcome == "failed"],
        origins=origins,
        titles=titles,
        quotes=quotes,
        look_next=result.look_next,
    )


def _page(
    url: str,
    state: WalkState,
    number: int | None,
    origin: str | None,
    earlier: Collection[str],
    titles: Mapping[str, str | None],
    quotes: Mapping[str, list[int]],
) -> WalkPage:
    """A page, which one of `earlier` may have led to. A seed has no origin, whoever links to it."""
    from_page = None if number == 0 else origin
    return WalkPage(
        url=url,
        title=titles.get(url),
        state=state,
        round=number,
        from_url=from_page if from_page in earlier else None,
        named_in=from_page if from_page is not None and from_page not in earlier else None,
        quotes=tuple(quotes.get(url, ())),
    )
