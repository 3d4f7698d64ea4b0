"""An index in memory finds what the server finds, to the last digit, and never another state than the snapshot's."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval import resident_index
from webrag_core.retrieval.request import Pattern, ScopeFilter, SearchRequest
from webrag_core.retrieval.resident_index import READ_AFTER, ResidentIndex, ask_state, residence_in
from webrag_core.retrieval.scope import Scope, scope_size
from webrag_core.retrieval.search import CorpusSearch, search
from webrag_core.store.database import Database

TOPICS = ("lions", "whales", "harbours", "copper", "lanterns", "barley", "glaciers", "violins")
REQUESTS = [
    SearchRequest(query="Which lions hunt zebras near harbours?"),
    SearchRequest(query="copper lanterns", filters=ScopeFilter(url_prefixes=[f"{SITE}/copper"])),
    SearchRequest(query="glaciers and barley of violins", filters=ScopeFilter(documents=[1, 2, 5, 99])),
    SearchRequest(query="whales", pattern=Pattern.HYBRID),
    SearchRequest(query="whales in harbours", pattern=Pattern.SEMANTIC),
    SearchRequest(query="lions of copper", mode="full_context"),
    SearchRequest(query="lyons of coper", formulations=["barley lanterns"], pattern=Pattern.MULTI_QUERY),
]


def pages() -> dict[str, str]:
    """Pages that share their words, and hold some of them more than seven times."""
    texts = {}
    for number, topic in enumerate(TOPICS):
        others = [TOPICS[(number + step) % len(TOPICS)] for step in (1, 3)]
        sentences = [f"The {topic} of day {day} came before {others[day % 2]} and zebras hunt." for day in range(12)]
        texts[f"/{topic}"] = page(topic.title(), " ".join(sentences))
    return texts


def as_data(result: CorpusSearch) -> dict[str, object]:
    """Everything but the times."""
    return result.model_dump(mode="json", exclude={"timing"})


def held(database: Database, model_id: int) -> ResidentIndex | None:
    """The index that is in memory."""
    return resident_index._HELD[database].of_models[model_id].index


def test_results_are_those_of_the_server(settings: Settings) -> None:
    async def body() -> None:
        site = LocalSite(pages())
        async with Corpus.open(settings, site) as corpus:
            for path in site.pages:
                await corpus.add(SITE + path)
            model_id = await corpus.model_id()
            by_server = [as_data(await search(corpus, request)) for request in REQUESTS[:3]]
            assert held(corpus.database, model_id) is None
            for _ in range(READ_AFTER):
                await search(corpus, REQUESTS[0])
            assert held(corpus.database, model_id) is not None
            in_memory = [as_data(await search(corpus, request)) for request in REQUESTS]
        for first in range(3, len(REQUESTS), 3):
            async with Corpus.open(settings, site) as fresh:  # its first searches are the server's
                by_server += [as_data(await search(fresh, request)) for request in REQUESTS[first : first + 3]]
        assert in_memory == by_server
        assert all(result["chunks"] for result in in_memory)

    asyncio.run(body())


def test_an_index_is_of_the_state_that_is_searched(settings: Settings) -> None:
    async def body() -> None:
        site = LocalSite(pages())
        async with Corpus.open(settings, site) as corpus:
            for path in site.pages:
                await corpus.add(SITE + path)
            model_id = await corpus.model_id()
            request = SearchRequest(query="Which walrus wears a monocle?")
            for _ in range(READ_AFTER + 1):
                await search(corpus, request)
            before = held(corpus.database, model_id)
            assert before is not None
            site.pages["/lions"] = page("Lions", "The walrus wears a monocle. It is made of brass.")
            await corpus.add(f"{SITE}/lions", refresh=True)
            for _ in range(READ_AFTER + 1):
                assert (await search(corpus, request)).chunks[0].chunk.source_url == f"{SITE}/lions"
            after = held(corpus.database, model_id)
            assert after is not None
            assert after.state != before.state
            site.pages["/lions"] = page("Lions", "The lions of day 3 sleep in the shade of a tree.")
            await corpus.add(f"{SITE}/lions", refresh=True)
            assert not any("monocle" in found.chunk.text for found in (await search(corpus, request)).chunks)
            async with corpus.database.snapshot() as connection:
                sizes = (await scope_size(connection, Scope(None, {}))).indexes
                state = await ask_state(connection, residence_in(corpus.database, model_id))
                assert await state.index(connection, replace(sizes, corpus_parents=10**6)) is None  # too many to hold

    asyncio.run(body())
