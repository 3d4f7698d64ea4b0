"""Ask the questions of answer keys: their site is stored in a database of its own, and all of it is searched.

That database is the one of `webrag eval sitewalk --stored`: a page that is there already is not parsed again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any

from evals.answers.given_answer import GivenAnswer, given
from evals.answers.key_verdicts import Judgement, judge
from evals.answers.keys import AnswerKey
from evals.answers.suite_list import KeySet
from evals.storing import store_site
from evals.walks.sitewalk import suite_settings
from webrag_core.acquisition.urls import source_key
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.answering.manager import Manager, Question
from webrag_core.config import Settings
from webrag_core.errors import WebragError
from webrag_core.indexing.pipeline import Corpus

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoredSite:
    """An open corpus that holds a site, the archive that its pages come from, and its sources."""

    corpus: Corpus
    archive: WarcAcquirer
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskedKey:
    """A key of a suite, the answer to its question, the verdict, and the seconds that the answer took. Where the
    question ended with an error there is no answer, and `error` says why."""

    suite: str
    key: AnswerKey
    answer: GivenAnswer | None
    judgement: Judgement
    seconds: float
    error: str | None = None

    @property
    def likely(self) -> bool:
        """Whether a passage was shown as the likely answer, and no sentence said."""
        return self.answer is not None and self.answer.status == "likely"

    @property
    def band(self) -> str | None:
        """How sure the answer is of its sentences."""
        return None if self.answer is None else self.answer.band

    def line(self) -> dict[str, Any]:
        """The item as JSON: the key, the verdict, the answer, and the pages that its sentences cite."""
        line = {"suite": self.suite, **self.key.model_dump(mode="json", by_alias=True), **asdict(self.judgement)}
        line |= {"seconds": round(self.seconds, 3), "error": self.error}
        if self.answer is not None:
            urls = {quote.number: quote.url for quote in self.answer.citations}
            cited = {number for sentence in self.answer.sentences for number in sentence.citations}
            line["from"] = sorted({urls[number] for number in cited if number in urls})
        return line | {"answer": None if self.answer is None else self.answer.model_dump(mode="json")}


def judged(
    suite: str, key: AnswerKey, answer: GivenAnswer | None, seconds: float, error: str | None = None
) -> AskedKey:
    """The item of an answer, or of an `error` where there is none."""
    judgement = Judgement("failed", said=0, facts=len(key.must)) if answer is None else judge(key, answer)
    return AskedKey(suite, key, answer, judgement, seconds, error)


async def ask_suite(chosen: KeySet, keys: Sequence[AnswerKey], settings: Settings) -> AsyncIterator[AskedKey]:
    """Store the site of a suite and ask these of its keys, one after the other. A question that ends with an error is
    an item, too. Raises InvalidInputError when the site cannot be read."""
    async with stored_site(chosen, settings) as site:
        manager = Manager(site.corpus)
        for key in keys:
            yield await _ask(manager, chosen.name, key, site.sources)


@asynccontextmanager
async def stored_site(chosen: KeySet, settings: Settings) -> AsyncIterator[StoredSite]:
    """The site of a suite, stored. Pages that cannot be stored are counted in a warning. Raises InvalidInputError when
    the site cannot be read."""
    archive = WarcAcquirer(chosen.warc)
    pages = archive.page_urls()
    sources = tuple(dict.fromkeys(source_key(url) for url in pages))
    async with Corpus.open(suite_settings(settings, chosen.warc, stored=True), archive) as corpus:
        await store_site(corpus, chosen.name, pages)
        yield StoredSite(corpus, archive, sources)


async def _ask(manager: Manager, suite: str, key: AnswerKey, sources: tuple[str, ...]) -> AskedKey:
    begun = time.perf_counter()
    try:
        answer = given(await manager.answer(Question(key.question, sources=sources)))
    except WebragError as error:
        logger.warning("%s %s: %s", suite, key.id, error.message)
        return judged(suite, key, None, time.perf_counter() - begun, error.message)
    return judged(suite, key, answer, time.perf_counter() - begun)
