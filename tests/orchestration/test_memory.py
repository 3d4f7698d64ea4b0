"""What a run knows before it fetches anything: pages that stored site maps name are candidates."""

from __future__ import annotations

import asyncio

import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from webrag_core.acquisition.sitemaps.models import MapEntry
from webrag_core.config import Settings
from webrag_core.corpus.sources import attach_source
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.memory import MAPPED, RunScope, mapped_pages
from webrag_core.orchestration.models import OrchestrationResult

OOLONG = f"{HOME}oolong"
QUESTION = "How long is oolong tea brewed?"
PAGES = {
    HOME: html("Tea house", "We sell leaves of many kinds, and the cups that belong to them."),
    OOLONG: html("Oolong tea", "Oolong tea is brewed for three minutes, in water of ninety degrees."),
}
NAMED = [
    MapEntry(OOLONG, title="Brewing oolong tea"),
    MapEntry(f"{HOME}oolong.zip", title="Brewing oolong tea"),
    MapEntry(f"{HOME}imprint"),
]


async def attached(corpus: Corpus) -> int:
    """Store the start page and, by a refresh, the site's map. Return the page's document id."""
    seed = (await corpus.add(HOME)).document_id
    async with corpus.database.connection() as connection:
        await attach_source(connection, HOME, 1)
    await corpus.refresher().run("example.org", due_only=False)
    return seed


def ask(
    settings: Settings, entries: list[MapEntry], *, scope: RunScope = "source", pages: dict[str, str] = PAGES
) -> tuple[OrchestrationResult, ServedPages]:
    """Ask a site of which the start page and the map are stored."""
    site = ServedPages({HOME: pages[HOME]}, entries=[*entries])

    async def work() -> OrchestrationResult:
        async with Corpus.open(settings, site) as corpus:
            await attached(corpus)
            site.pages = pages
            return await OrchestratorEngine(corpus).run(AnswerRequest((HOME,), QUESTION, scope=scope))

    return asyncio.run(work()), site


def test_a_page_that_only_the_site_map_names_is_read(settings: Settings) -> None:
    result, _ = ask(settings, NAMED)
    assert [candidate.url for candidate in result.rounds[0].candidates] == [OOLONG]
    [candidate] = result.rounds[0].candidates
    assert (candidate.from_url, candidate.link_depth) == (HOME, 1)
    assert result.citations[0].source_url == OOLONG
    assert "three minutes" in result.citations[0].verbatim_text


def test_a_run_of_its_own_pages_alone_knows_no_map(settings: Settings) -> None:
    result, _ = ask(settings, NAMED, scope="run")
    assert result.rounds[0].candidates == []
    assert OOLONG not in {document.url for document in result.documents}


def test_a_map_that_lies_costs_a_failed_page(settings: Settings) -> None:
    lies = [MapEntry(f"{HOME}oolong-{number}", title="Brewing oolong tea") for number in range(3)]
    result, _ = ask(settings, [*lies, *NAMED])
    assert result.citations[0].source_url == OOLONG
    assert {document.url for document in result.documents if document.outcome == "failed"} <= {one.url for one in lies}


@pytest.mark.parametrize("query", ["Which oolongs?", "OOLONG", "What about oolong's brewing queries?"])
def test_entries_with_most_words_of_the_question_come_first_and_are_limited(settings: Settings, query: str) -> None:
    many = [MapEntry(f"{HOME}{number:04}", title=f"Oolong no. {number}") for number in range(MAPPED + 50)]
    best = MapEntry(f"{HOME}zz", title="Oolong", description="Brewing an oolong query")
    site = ServedPages(PAGES, entries=[*many, best, MapEntry(f"{HOME}cups", title="Cups")])

    async def work() -> None:
        async with Corpus.open(settings, site) as corpus:
            seed = await attached(corpus)
            async with corpus.database.connection() as connection:
                entries = await mapped_pages(connection, "source", seeds=[seed], query=query)
                assert len(entries) == MAPPED
                assert {entry.title for entry in entries} <= {entry.title for entry in [*many, best]}
                if "brew" in query:
                    assert entries[0] == best
                for nothing in ("How is it?", "xylophone"):
                    assert await mapped_pages(connection, "source", seeds=[seed], query=nothing) == []

    asyncio.run(work())
