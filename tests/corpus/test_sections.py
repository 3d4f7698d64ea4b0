"""A source that is attached to a site which the corpus knows already: its start page, its map, its page limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Literal

import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules, rows, texts
from webrag_core.acquisition.sitemaps.models import MapEntry
from webrag_core.config import Settings
from webrag_core.corpus.declared import Declaration, apply_declarations
from webrag_core.corpus.refresh_store import store_map
from webrag_core.corpus.sources import Source, attach_source, find_source
from webrag_core.corpus.watch import watch_source
from webrag_core.errors import FetchError
from webrag_core.indexing.pipeline import Corpus

KEY = "example.org"
DOCS = f"{HOME}docs/"
SECTION = f"{KEY}/docs"
Way = Literal["file", "command line"]
WAYS: tuple[Way, ...] = ("file", "command line")


def page(word: str, *links: str) -> str:
    """A page about `word` with these links."""
    named = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    return html(word, f"There is something to be said about {word}, and this page says it. {named}")


def check(settings: Settings, site: ServedPages, work: Callable[[Corpus], Awaitable[None]]) -> None:
    """Run `work` on a corpus that asks `site`; all invariants hold at the end."""

    async def body() -> None:
        async with Corpus.open(settings, site) as corpus:
            await work(corpus)
            assert await broken_rules(corpus.database) == set()

    asyncio.run(body())


async def attach(corpus: Corpus, way: Way, seed: str, pages: int = 50) -> None:
    """Attach the section below `seed` in one of the two ways there are."""
    async with corpus.database.transaction() as connection:
        if way == "file":
            path = "/" + seed.removeprefix(HOME)
            key = KEY + path.rstrip("/")
            await apply_declarations(connection, [Declaration(key, seed, path, pages, "defs/example")])
        else:
            await attach_source(connection, seed, pages)


async def source_of(corpus: Corpus, key: str = SECTION) -> Source:
    """The row of the section."""
    async with corpus.database.connection() as connection:
        return await find_source(connection, key)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("known", ["a page", "a failed page", "the failed start page"])
def test_a_section_of_a_known_site_is_taken_in(settings: Settings, way: Way, known: str) -> None:
    site = ServedPages()

    async def work(corpus: Corpus) -> None:
        if known == "a page":
            site.pages[HOME + "other"] = page("other")
            await corpus.add(HOME + "other")
        else:
            with pytest.raises(FetchError):
                await corpus.add(DOCS if known == "the failed start page" else HOME + "mistyped")
        site.pages |= {DOCS: page("docs", DOCS + "one"), DOCS + "one": page("one")}
        await attach(corpus, way, DOCS)
        report = await corpus.refresher().run(SECTION, due_only=True)
        assert set(report.changed) == {DOCS, DOCS + "one"}
        assert report.empty is None
        assert {DOCS, DOCS + "one"} <= set(await texts(corpus))
        [balance] = await rows(
            corpus.database, "SELECT discovered, fetched + unchanged + failed + skipped + not_due FROM refresh_runs"
        )
        assert balance == (2, 2)
        site.answers.clear()
        await corpus.refresher().run(SECTION, due_only=True)
        assert site.answers == [], "a start page that is held is asked for when it is due"

    check(settings, site, work)


def test_a_start_page_that_is_held_under_another_url_is_not_asked_for_again(settings: Settings) -> None:
    site = ServedPages({DOCS + "start": page("docs")}, {DOCS: DOCS + "start"})

    async def work(corpus: Corpus) -> None:
        await attach(corpus, "command line", DOCS)
        assert (await corpus.refresher().run(SECTION, due_only=True)).counts.fetched == 1
        site.answers.clear()
        assert (await corpus.refresher().run(SECTION, due_only=True)).counts.not_due == 1
        assert site.answers == []

    check(settings, site, work)


@pytest.mark.parametrize("way", WAYS)
def test_a_section_has_a_site_map_of_its_own(settings: Settings, way: Way) -> None:
    site = ServedPages({HOME + "other": page("other"), DOCS: page("docs"), DOCS + "mapped": page("mapped")})

    async def work(corpus: Corpus) -> None:
        await corpus.add(HOME + "other")
        await watch_source(corpus.database, site, settings, await source_of(corpus, KEY))
        assert (await source_of(corpus, KEY)).map_entries == 0, "the site has no map at its root"
        site.entries = [MapEntry(DOCS + "mapped"), MapEntry(HOME + "elsewhere")]
        await attach(corpus, way, DOCS)
        report = await corpus.refresher().run(SECTION, due_only=True)
        assert set(report.changed) == {DOCS, DOCS + "mapped"}
        await attach(corpus, way, DOCS, pages=60)
        assert (await source_of(corpus)).map_entries == 1, "entries outside the section are not its own"

    check(settings, site, work)


def test_a_map_that_was_read_for_another_start_page_is_not_its_map(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        await attach(corpus, "command line", DOCS + "one.html")
        before = await source_of(corpus)
        async with corpus.database.transaction() as connection:
            await store_map(connection, before, [], datetime.now(UTC))
        assert (await source_of(corpus)).map_entries == 0
        await attach(corpus, "command line", DOCS + "two.html")
        assert (await source_of(corpus)).map_read_at is None
        async with corpus.database.transaction() as connection:
            await store_map(connection, before, [], datetime.now(UTC))
        assert (await source_of(corpus)).map_read_at is None

    check(settings, ServedPages(), work)


def test_pages_outside_the_section_do_not_use_up_its_page_limit(settings: Settings) -> None:
    names = ("one", "two", "three")
    site = ServedPages({HOME + name: page(name) for name in names})

    async def work(corpus: Corpus) -> None:
        for name in names:
            await corpus.add(HOME + name)
        site.pages |= {DOCS + name: page(f"docs {name}") for name in names}
        site.pages[DOCS] = page("docs", *(DOCS + name for name in names))
        await attach(corpus, "command line", DOCS, pages=2)
        report = await corpus.refresher().run(SECTION)
        assert set(report.changed) == {DOCS, DOCS + "one"}
        assert report.counts.skipped == 2
        await attach(corpus, "command line", DOCS, pages=3)
        site.entries = [MapEntry(DOCS + "two"), MapEntry(DOCS + "three")]
        flags = (await watch_source(corpus.database, site, settings, await source_of(corpus))).flags
        assert [flag.url for flag in flags if flag.signal == "new"] == [DOCS + "two"]

    check(settings, site, work)


@pytest.mark.parametrize("known", ["a page", "a failed page"])
def test_an_attached_source_that_holds_no_page_says_so_every_time(settings: Settings, known: str) -> None:
    site = ServedPages({HOME + "other": page("other")})

    async def work(corpus: Corpus) -> None:
        if known == "a page":
            await corpus.add(HOME + "other")
        else:
            with pytest.raises(FetchError):
                await corpus.add(HOME + "mistyped")
        await attach(corpus, "command line", DOCS)
        for _ in range(2):
            site.answers.clear()
            report = await corpus.refresher().run(SECTION, due_only=True)
            assert site.answers == [404]
            assert report.empty == {DOCS: "not_found"}
        site.pages[DOCS] = page("docs")
        assert (await corpus.refresher().run(SECTION, due_only=True)).empty is None

    check(settings, site, work)


def test_a_source_whose_start_page_is_on_another_site_says_where(settings: Settings) -> None:
    elsewhere = "https://www.example.org/"
    site = ServedPages({elsewhere: page("front")}, {HOME: elsewhere})

    async def work(corpus: Corpus) -> None:
        await attach(corpus, "command line", HOME)
        for _ in range(2):
            report = await corpus.refresher().run(KEY, due_only=True)
            assert report.empty == {HOME: f"it is a page of another source, {elsewhere}"}

    check(settings, site, work)
