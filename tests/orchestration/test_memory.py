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
from webrag_core.orchestration.memory import MAPPED, mapped_pages
from webrag_core.orchestration.models import OrchestrationResult
from webrag_core.orchestration.run_scope import RunScope

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
    settings: Settings,
    entries: list[MapEntry],
    *,
    scope: RunScope = "source",
    pages: dict[str, str] = PAGES,
    now_entries: list[MapEntry] | None = None,
) -> tuple[OrchestrationResult, ServedPages]:
    """Ask a site of which the start page and the map are stored. `now_entries` is its map when the run begins."""
    site = ServedPages({HOME: pages[HOME]}, entries=[*entries])

    async def work() -> OrchestrationResult:
        async with Corpus.open(settings, site) as corpus:
            await attached(corpus)
            site.pages = pages
            site.entries = entries if now_entries is None else now_entries
            return await OrchestratorEngine(corpus).run(AnswerRequest((HOME,), QUESTION, scope=scope))

    return asyncio.run(work()), site


def test_a_page_that_only_the_site_map_names_is_read(settings: Settings) -> None:
    result, _ = ask(settings, NAMED)
    assert [candidate.url for candidate in result.rounds[0].candidates] == [OOLONG]
    [candidate] = result.rounds[0].candidates
    assert (candidate.from_url, candidate.link_depth) == (HOME, 1)
    assert result.citations[0].source_url == OOLONG
    assert "three minutes" in result.citations[0].verbatim_text


def test_a_run_of_its_own_pages_alone_uses_no_stored_map_but_reads_the_one_of_today(settings: Settings) -> None:
    result, _ = ask(settings, NAMED, scope="run", now_entries=[])
    assert result.rounds[0].candidates == []
    assert OOLONG not in {document.url for document in result.documents}
    result, _ = ask(settings, [], scope="run", now_entries=NAMED)
    assert result.citations[0].source_url == OOLONG


def test_a_stored_map_is_not_read_again_within_a_week(settings: Settings) -> None:
    result, _ = ask(settings, [], now_entries=NAMED)
    assert result.rounds[0].candidates == []


def test_the_setting_switches_the_reading_off(settings: Settings) -> None:
    settings = settings.model_copy(update={"webrag_site_index": False})
    result, _ = ask(settings, [], scope="run", now_entries=NAMED)
    assert (result.rounds[0].candidates, result.map_files) == ([], [])


@pytest.mark.parametrize("budget", [None, 0])
def test_a_site_without_a_stored_map_is_read_once_by_a_run_that_may_follow_links(
    settings: Settings, budget: int | None
) -> None:
    site = ServedPages(PAGES, entries=NAMED)

    async def work() -> None:
        async with Corpus.open(settings, site) as corpus:
            engine = OrchestratorEngine(corpus)
            result = await engine.run(AnswerRequest((HOME,), QUESTION, expansion_budget=budget))
            read = budget is None
            assert ([c.url for c in result.rounds[0].candidates] == [OOLONG]) is read
            assert result.map_files == ([f"{HOME}map"] if read else [])
            again = await engine.run(AnswerRequest((HOME,), "Which cups are sold?", expansion_budget=budget))
            assert again.map_files == []

    asyncio.run(work())


def test_a_site_that_does_not_answer_in_time_costs_a_warning(settings: Settings) -> None:
    site = ServedPages(PAGES, entries=NAMED, map_seconds=60)
    settings = settings.model_copy(update={"webrag_preview_timeout": 1})

    async def work() -> None:
        async with Corpus.open(settings, site) as corpus:
            result = await OrchestratorEngine(corpus).run(AnswerRequest((HOME,), QUESTION))
            assert any("was not read within 1 s" in warning for warning in result.warnings)
            assert result.citations

    asyncio.run(work())


def test_the_words_of_a_search_index_count_and_take_places_of_their_own(settings: Settings) -> None:
    pages = {HOME: html("Tea house", "We sell leaves of many kinds, and the cups that belong to them.")}
    named = [MapEntry(f"{HOME}oolong-{number}", title="How long is oolong tea brewed?") for number in range(12)]
    pages |= {one.url: html("Oolong", f"We like oolong, says guest {one.url}.") for one in named}
    pages[f"{HOME}p7"] = html("Leaves, page 7", "Oolong tea is brewed for three minutes, in water of ninety degrees.")
    indexed = MapEntry(f"{HOME}p7", title="Leaves, page 7", words="oolong tea is brewed for three minutes water ninety")
    others = [MapEntry(f"{HOME}p{n}", title=f"Leaves, page {n}", words="green leaves") for n in range(20, 25)]
    settings = settings.model_copy(update={"webrag_previews": 3})
    result, _ = ask(settings, [*named, indexed, *others], pages=pages)
    assert f"{HOME}p7" in [one.url for one in result.documents[:4]]  # the start page and three previews
    assert result.citations[0].source_url == f"{HOME}p7"


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
                entries = await mapped_pages(connection, seeds=[seed], query=query)
                assert len(entries) == MAPPED
                assert {entry.title for entry in entries} <= {entry.title for entry in [*many, best]}
                if "brew" in query:
                    assert entries[0].url == best.url
                for nothing in ("How is it?", "xylophone"):
                    assert await mapped_pages(connection, seeds=[seed], query=nothing) == []

    asyncio.run(work())
