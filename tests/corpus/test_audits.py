"""Validators are audited: what a server that lies about its pages hides is found, an honest one is asked cheaply."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

import pytest

from tests.acquisition.served_pages import HOME, ServedPages
from tests.corpus.corpora import rows
from tests.corpus.test_refresh import days_pass, page, rows_done
from tests.corpus.test_refresh_reach import refresh
from tests.corpus.test_refresh_verdict import attach
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.urls import canonicalise
from webrag_core.config import Settings
from webrag_core.corpus.audits import SHARE
from webrag_core.indexing.pipeline import Corpus

URLS = [f"{HOME}p{number}" for number in range(40)]


@dataclass(slots=True)
class LyingPages(ServedPages):
    """Some pages keep their ETag for ever."""

    lying: set[str] = field(default_factory=set)

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """As the protocol says."""
        if canonicalise(url) not in self.lying:
            return await ServedPages.fetch(self, url, etag=etag, last_modified=last_modified)
        kept, self.etag = self.etag, f'"{canonicalise(url)}"'
        try:
            return await ServedPages.fetch(self, url, etag=etag, last_modified=last_modified)
        finally:
            self.etag = kept


async def stale(corpus: Corpus, site: ServedPages) -> list[str]:
    """Pages whose stored text lacks the word that their page has now."""
    texts = await rows(
        corpus.database,
        "SELECT d.canonical_url, v.markdown FROM documents d JOIN document_versions v ON v.id = d.newest_version",
    )
    return [url for url, text in texts if site.pages[url].split("<h1>")[1].split("</h1>")[0] not in text]


async def age(corpus: Corpus, days: float) -> None:
    """Everything that was seen was seen earlier, the full answers too."""
    passed = timedelta(days=days)
    await days_pass(corpus, days)
    await rows_done(corpus, "UPDATE document_versions SET fetched_at = fetched_at - %s", passed)
    periods = "UPDATE version_periods SET seen_from = seen_from - %s, seen_last = seen_last - %s"
    await rows_done(corpus, periods, passed, passed)


async def opened(corpus: Corpus) -> None:
    await attach(corpus)
    await rows_done(corpus, "UPDATE sources SET refresh_hours = 24, page_limit = 100")
    for url in URLS:
        await corpus.ingestor.ingest(url)


@pytest.mark.parametrize("share", [1.0, pytest.param(0.5, marks=pytest.mark.slow)])
def test_a_site_whose_validators_never_move_is_found_out_in_two_refreshes(settings: Settings, share: float) -> None:
    async def run() -> None:
        site = LyingPages({url: page(f"first{url[-2:]}") for url in URLS}, lying=set(URLS))
        site.pages[HOME] = page("home")
        async with Corpus.open(settings, site) as corpus:
            await opened(corpus)
            for day in range(2):
                for url in Random(day).sample(URLS, round(share * len(URLS))):
                    site.pages[url] = page(f"day{day}{url[-2:]}")
                await age(corpus, 1.01)
                await refresh(corpus)
            assert await stale(corpus, site) == []

    asyncio.run(run())


def test_one_etag_for_all_pages_is_none(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({url: page(f"first{url[-2:]}") for url in URLS[:12]}, etag='"always"')
        async with Corpus.open(settings, site) as corpus:
            for url in site.pages:
                await corpus.ingestor.ingest(url)
            changed = URLS[7]
            site.pages[changed] = page("another")
            assert (await refresh(corpus)).changed == (changed,)

    asyncio.run(run())


@pytest.mark.slow
def test_one_page_that_lies_is_stale_for_four_intervals_at_most_and_never_again(settings: Settings) -> None:
    async def run() -> None:
        site = LyingPages({url: page(f"first{url[-2:]}") for url in URLS}, lying={URLS[20]})
        site.pages[HOME] = page("home")
        async with Corpus.open(settings, site) as corpus:
            await opened(corpus)
            days = 0
            site.pages[URLS[20]] = page("another")
            while days < 5:  # chance may find it earlier, and after four intervals every page is asked whole
                site.pages[URLS[days]] = page(f"honest{days}")
                days += 1
                await age(corpus, 1.01)
                await refresh(corpus)
            assert await stale(corpus, site) == []
            for words in ("once more", "and again"):
                site.pages[URLS[20]] = page(words)
                await age(corpus, 1.01)
                site.answers.clear()
                await refresh(corpus)
                assert await stale(corpus, site) == []
                assert site.answers.count(304) > len(URLS) / 2  # the others are believed

    asyncio.run(run())


@pytest.mark.slow
def test_an_honest_site_is_asked_whole_for_one_page_in_twenty(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({url: page(f"first{url[-2:]}") for url in URLS})
        async with Corpus.open(settings, site) as corpus:
            for url in URLS:
                await corpus.ingestor.ingest(url)
            for number in range(3):
                site.answers.clear()
                site.pages[URLS[number]] = page(f"changed{number}")
                assert (await refresh(corpus)).changed == (URLS[number],)
                whole = site.answers.count(200)
                assert len(URLS) // SHARE <= whole <= len(URLS) // SHARE + 1
            assert await rows(corpus.database, "SELECT count(*) FROM documents WHERE ask_whole IS NOT NULL") == [(0,)]

    asyncio.run(run())
