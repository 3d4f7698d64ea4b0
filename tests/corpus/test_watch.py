"""A look at a source's own signals: what flags a page, what does not, and what one look costs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules, rows
from webrag_core.acquisition.sitemaps.models import MapEntry
from webrag_core.config import Settings
from webrag_core.corpus import sources
from webrag_core.corpus.kept_sources import kept_sources
from webrag_core.corpus.refresh_store import record_signals, unwatched_sources
from webrag_core.corpus.watch import CHECKS_PER_TURN, PROBES, Flag, WatchResult, flags_version, watch_source
from webrag_core.indexing.pipeline import Corpus

KEY = "example.org"
NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta")
URLS = [HOME + name for name in NAMES]
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


def page(word: str) -> str:
    """A page about `word`."""
    return html(word, f"There is something to be said about {word}, and this page says it.")


@pytest.fixture
def live(settings: Settings) -> Settings:
    """The live web: no frozen site."""
    return settings.model_copy(update={"webrag_warc": None})


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[tuple[Corpus, ServedPages]]:
    """A corpus that holds the pages of a live site; all invariants hold at the end."""
    site = ServedPages({url: page(name) for url, name in zip(URLS, NAMES, strict=True)}, name="http")
    async with Corpus.open(settings, site) as corpus:
        for url in URLS:
            await corpus.add(url)
        site.answers.clear()
        yield corpus, site
        assert await broken_rules(corpus.database) == set()


async def look(corpus: Corpus, site: ServedPages) -> WatchResult:
    """One look."""
    async with corpus.database.connection() as connection:
        source = await sources.find_source(connection, KEY)
    return await watch_source(corpus.database, site, corpus.settings, source)


def check(settings: Settings, work: Callable[[Corpus, ServedPages], Awaitable[None]]) -> None:
    """Run `work` on the site."""

    async def body() -> None:
        async with opened(settings) as (corpus, site):
            await work(corpus, site)

    asyncio.run(body())


def test_a_look_at_an_undated_site_asks_a_few_pages_in_turn(live: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        for asked_for_start in (True, False):  # a site without a site map is not asked for one again the next time
            assert (await look(corpus, site)).flags == ()
            assert site.answers == [404] * asked_for_start + [304] * PROBES
            site.answers.clear()
        asked = await rows(corpus.database, "SELECT DISTINCT url FROM fetch_log WHERE outcome = 'unchanged' ORDER BY 1")
        assert [row[0] for row in asked] == sorted(URLS)

    check(live, work)


def test_a_page_that_answers_otherwise_is_flagged_and_due(live: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        site.pages[URLS[0]] = page("another")
        del site.pages[URLS[1]]
        found = (await look(corpus, site)).flags
        assert [(flag.url, flag.signal) for flag in found] == [(URLS[0], "validator"), (URLS[1], "validator")]
        assert found[1].value == "not_found"
        due = await rows(corpus.database, "SELECT canonical_url FROM documents WHERE next_check <= now() ORDER BY 1")
        assert [row[0] for row in due] == URLS[:2]
        report = await corpus.refresher().run(KEY, due_only=True)
        assert report.changed == (URLS[0],)
        assert report.failed == {URLS[1]: "not_found"}

    check(live, work)


def test_pages_with_a_date_on_the_map_are_not_asked_and_a_date_that_moves_flags_them(live: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        site.entries = [MapEntry(url, last_modified=LONG_AGO) for url in URLS]
        assert (await look(corpus, site)).flags == ()
        assert site.answers == [404], "the start page alone"
        site.entries[2] = replace(site.entries[2], last_modified=LONG_AGO + timedelta(days=1))
        [flag] = (await look(corpus, site)).flags
        assert (flag.url, flag.signal) == (URLS[2], "sitemap")
        assert site.answers == [404, 404]
        assert [f.value for f in (await look(corpus, site)).flags] == [flag.value], "until somebody asked for the page"
        await corpus.refresher().run(KEY, due_only=True)
        assert (await look(corpus, site)).flags == ()

    check(live, work)


def test_a_signal_that_has_proved_to_lie_is_not_listened_to(live: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        async with corpus.database.connection() as connection:
            source = await sources.find_source(connection, KEY)
            for signal in ("sitemap", "validator"):
                await record_signals(connection, source.id, {(signal, True, False): 40})
        site.entries = [MapEntry(url, last_modified=LONG_AGO) for url in URLS[:3]]
        await look(corpus, site)
        site.entries = [MapEntry(url, last_modified=datetime.now(UTC)) for url in URLS[:3]]
        site.pages[URLS[5]] = page("another")
        assert (await look(corpus, site)).flags == ()
        assert site.answers == [404, 404], "the start page alone"

    check(live, work)


def test_a_changed_start_page_is_flagged_without_a_request_of_its_own(live: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        site.pages[HOME] = page("home")
        site.entries = [MapEntry(url) for url in URLS]
        await corpus.add(HOME)
        site.answers.clear()
        assert (await look(corpus, site)).flags == ()
        site.pages[HOME] = page("another home")
        [flag] = (await look(corpus, site)).flags
        assert (flag.url, flag.signal) == (HOME, "text")
        assert site.answers.count(200) == 2, "once a check"
        assert (await corpus.refresher().run(KEY, due_only=True)).changed == (HOME,)
        assert (await look(corpus, site)).flags == ()

    check(live, work)


@pytest.mark.slow
def test_pages_asked_in_a_check_grow_with_the_source(live: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        for number in range(CHECKS_PER_TURN * PROBES):
            url = f"{HOME}more/{'abcdefghijkl'[number % 12]}{'mnopqrst'[number // 12]}"
            site.pages[url] = page(url)
            await corpus.add(url)
        site.answers.clear()
        await look(corpus, site)
        assert site.answers.count(304) == PROBES + 1

    check(live, work)


def test_new_pages_of_the_map_flag_an_attached_source_up_to_its_limit(live: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        async with corpus.database.connection() as connection:
            await sources.attach_source(connection, HOME, len(URLS) + 1)
        site.entries = [MapEntry(HOME + name) for name in ("new-1", "new-2")]
        assert (await look(corpus, site)).flags == (Flag(HOME + "new-1", "new", ""),)

    check(live, work)


def test_whose_turn_it_is(live: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        async def turn(frozen: str | None = None) -> list[str]:
            async with corpus.database.connection() as connection:
                return await unwatched_sources(connection, frozen=frozen, limit=10)

        async def change(statement: str) -> None:
            async with corpus.database.connection() as connection:
                await connection.execute(statement.encode())

        assert await turn() == [], "it was read a moment ago"
        await change("UPDATE sources SET created_at = now() - interval '2 hours'")
        assert await turn() == [], "nobody attached it: daily"
        await change("UPDATE sources SET page_limit = 100")
        assert await turn() == [KEY]
        await look(corpus, site)
        assert await turn() == []
        await change("UPDATE sources SET watched_at = watched_at - interval '20 minutes', map_read_at = NULL")
        assert await turn() == []
        await change("UPDATE sources SET watch_minutes = 15")
        assert await turn() == [KEY]
        assert await turn("snapshot 1") == [KEY]
        await change("UPDATE sources SET watch_token = 'snapshot 1'")
        assert await turn("snapshot 1") == []
        await change("UPDATE sources SET paused = true")
        assert await turn() == await turn("snapshot 2") == []

    check(live, work)


def test_a_flag_that_nobody_cleared_is_a_new_one_the_next_day() -> None:
    flags = (Flag("https://a.example/", "feed", "1"), Flag("https://b.example/", "feed", "2"))
    today = datetime(2026, 5, 1, 10, tzinfo=UTC)
    version = flags_version(flags, today)
    assert flags_version(flags[::-1], today + timedelta(hours=10)) == version
    assert flags_version(flags, today + timedelta(days=1)) != version
    assert flags_version((replace(flags[0], value="2"), flags[1]), today) != version


def test_a_site_that_answers_no_look_for_two_days_is_stale_until_it_answers(live: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        async def days_later(days: int) -> list[bool]:
            """What is said after a look, and once more when days passed since."""
            said = []
            for passed in (days, 0):
                async with corpus.database.connection() as connection:
                    said += [source.is_stale for source in await kept_sources(connection, timedelta(days=30))]
                    await connection.execute(
                        "UPDATE sources SET look_failed_since = look_failed_since - make_interval(days => %s)",
                        (passed,),
                    )
            return said

        async with corpus.database.connection() as connection:
            await sources.attach_source(connection, HOME, 20)
            await connection.execute("UPDATE sources SET kept_since = now() - interval '20 days'")
        pages = dict(site.pages)
        site.pages.clear()
        await look(corpus, site)
        assert await days_later(3) == [False, False]  # no look was ever answered: perhaps it never will be
        site.pages.update(pages)
        await look(corpus, site)
        site.pages.clear()
        await look(corpus, site)
        assert await days_later(1) == [False, False]
        await look(corpus, site)
        assert await days_later(2) == [False, True]
        async with corpus.database.connection() as connection:
            await connection.execute("UPDATE sources SET paused = true")
            assert await days_later(0) == [False, False]
            await connection.execute("UPDATE sources SET paused = false")  # silence counts anew
            assert await days_later(0) == [False, False]
            await connection.execute("UPDATE sources SET kept_since = now() - interval '20 days'")
        assert await days_later(0) == [True, True]
        site.pages.update(pages)
        async with corpus.database.connection() as connection:  # a page that a look misses is due, and no look asks it
            await connection.execute("UPDATE documents SET next_check = now() + interval '9 days'")
        await look(corpus, site)
        assert await days_later(9) == [False, False]

    check(live, work)
