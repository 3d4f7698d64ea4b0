"""What pages leave out is stored with their versions; pages and sources of which everything is kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest

from tests.acquisition.served_pages import HOME, ServedPages
from tests.command_line import Webrag, webrag_here
from tests.corpus.corpora import broken_rules, rows, texts
from webrag_core.config import Settings
from webrag_core.corpus.sources import attach_source
from webrag_core.errors import FetchError
from webrag_core.history.left_out import left_out_of, left_out_words
from webrag_core.indexing.pipeline import AddedDocument, Corpus

__all__ = ["webrag_here"]

A = f"{HOME}a"
PAGE = (
    "<html><head><title>Lamps</title></head><body><nav>All our lamps</nav><main><h1>Lamps</h1><p>They burn for nine"
    " hours.</p><p hidden>Any will do.</p><h2>Oil</h2><div class=pagination><a href=/1>Any</a> <a href=/2>will</a>"
    " <a href=/3>do.</a></div></main><footer><p>Mill Lane 4, Leeds</p></footer></body></html>"
)

Story = Callable[[Corpus, ServedPages], Awaitable[None]]


@pytest.fixture
def tell(settings: Settings) -> Callable[[Story], None]:
    """Run a story on an empty corpus over a site with the page A; all invariants hold at its end."""

    def tell(story: Story) -> None:
        async def run() -> None:
            site = ServedPages({A: PAGE})
            async with Corpus.open(settings, site) as corpus:
                await story(corpus, site)
                assert await broken_rules(corpus.database) == set()

        asyncio.run(run())

    return tell


async def add(corpus: Corpus, *, all_text: bool | None, refresh: bool = False) -> AddedDocument:
    results: list[AddedDocument | FetchError] = []
    await corpus.add_all([A], lambda _, result: results.append(result), refresh=refresh, all_text=all_text)
    (result,) = results
    assert isinstance(result, AddedDocument)
    return result


def test_counts_are_stored_with_the_version_and_bare_headings_are_warned_of(tell: Callable[[Story], None]) -> None:
    async def story(corpus: Corpus, site: ServedPages) -> None:
        added = await corpus.add(A)
        assert ["Oil" in warning for warning in added.warnings] == [True]
        async with corpus.database.connection() as connection:
            (version,) = await left_out_of(connection, A)
            assert await left_out_of(connection, f"{HOME}b") == []
        assert version.left_out == {"boilerplate": 25, "navigation": 11, "hidden": 10, "actions": 0, "bare_headings": 1}
        assert left_out_words(version.left_out) == (
            "boilerplate 25 characters, navigation 11, hidden 10, 1 heading with nothing below"
        )
        assert left_out_words(None) == ""

    tell(story)


def test_all_text_of_a_page_is_kept_from_then_on(tell: Callable[[Story], None]) -> None:
    """What is stored already is fetched again for it, unconditionally; later fetches keep the choice."""

    async def story(corpus: Corpus, site: ServedPages) -> None:
        await corpus.add(A)
        assert (await add(corpus, all_text=True)).outcome == "fetched"
        assert "Mill Lane" in (await texts(corpus))[A]
        assert (await add(corpus, all_text=True)).outcome == "reused"
        site.pages[A] = PAGE.replace("nine", "ten")
        assert (await corpus.add(A, refresh=True)).outcome == "fetched"
        assert "Mill Lane" in (await texts(corpus))[A]
        await add(corpus, all_text=False)
        assert "Mill Lane" not in (await texts(corpus))[A]
        assert site.answers == [200] * 4
        causes = await rows(corpus.database, "SELECT cause, all_text FROM document_versions ORDER BY number")
        assert causes == [("page", False), ("extractor", True), ("page", True), ("extractor", False)]

    tell(story)


def test_a_source_may_keep_all_text_of_its_pages(tell: Callable[[Story], None]) -> None:
    async def story(corpus: Corpus, site: ServedPages) -> None:
        async def attach(*, all_text: bool) -> None:
            async with corpus.database.connection() as connection:
                await attach_source(connection, HOME, 10, all_text=all_text)

        await attach(all_text=True)
        await corpus.add(A)
        assert "Mill Lane" in (await texts(corpus))[A]
        await attach(all_text=False)
        await corpus.add(A)
        assert "Mill Lane" not in (await texts(corpus))[A]

    tell(story)


def test_history_shows_what_was_left_out(settings: Settings, webrag_here: Webrag) -> None:
    async def store() -> None:
        async with Corpus.open(settings, ServedPages({A: PAGE})) as corpus:
            await corpus.add(A)

    asyncio.run(store())
    shown = webrag_here("history", A, "--left-out")
    assert "boilerplate 25 characters, navigation 11, hidden 10" in " ".join(shown.stdout.split())
    (version,) = json.loads(webrag_here("history", A, "--left-out", "--json").stdout)["versions"]
    assert (version["version"], version["all_text"], version["left_out"]["hidden"]) == (1, False, 10)
    assert webrag_here("history", f"{HOME}b", "--left-out").returncode != 0
