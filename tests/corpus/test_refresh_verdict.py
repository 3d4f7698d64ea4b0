"""The verdict of a refresh is that of the whole run: a site that gives no page failed, whatever the reason, whichever
pages were due and however often the run tried. Asking nobody is no answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import count

import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules, rows
from tests.corpus.test_brake import article
from tests.corpus.test_refresh import days_pass, rows_done
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.sitemaps.models import MapEntry
from webrag_core.config import Settings
from webrag_core.corpus.brake import Brake
from webrag_core.corpus.ingestor import IngestOutcome
from webrag_core.corpus.refresh import RefreshReport, SourceRefresh
from webrag_core.corpus.refresh_store import last_refreshes
from webrag_core.corpus.sources import attach_source
from webrag_core.errors import FetchError, Reason
from webrag_core.indexing.pipeline import Corpus

KEY = "example.org"
ATTEMPTS = 4
PAGES = {HOME: article(0), **{f"{HOME}p{number}": article(number) for number in range(1, 5)}}
NOTICE = html("Lorem", *(f"Ipsum dolor {word} amet consectetur." for word in ("sit", "adipiscing", "elit")))
NOT_FOUND = html("Page not found", "The page that you asked for does not exist.")
LOGIN = f"{HOME}login"

ERRORS = {
    "500": FetchError(Reason.HTTP_STATUS, "HTTP 500", status=500),
    "refused": FetchError(Reason.CONNECT_FAILURE, "connection refused"),
    "DNS": FetchError(Reason.DNS_FAILURE, "no such host"),
    "timeout": FetchError(Reason.TIMEOUT, "no answer"),
    "429": FetchError(Reason.RATE_LIMITED, "HTTP 429", status=429),
    "robots": FetchError(Reason.ROBOTS_DISALLOWED, "forbidden"),
}
KINDS = (*ERRORS, "soft 404", "log-in", "notice")


@dataclass(slots=True)
class BrokenSite(ServedPages):
    """A site that may give nothing: it counts requests and raises `error` for each."""

    error: FetchError | None = None
    asked: int = 0

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """As the protocol says."""
        self.asked += 1
        if self.error is not None:
            raise self.error
        return await ServedPages.fetch(self, url, etag=etag, last_modified=last_modified)

    def break_down(self, kind: str) -> None:
        """From now on every page is of this kind."""
        self.error = ERRORS.get(kind)
        if kind == "soft 404":
            self.pages = dict.fromkeys(PAGES, NOT_FOUND)
        elif kind == "notice":
            self.pages = dict.fromkeys(PAGES, NOTICE)
        elif kind == "log-in":
            self.redirects = dict.fromkeys(PAGES, LOGIN)
            self.pages = {LOGIN: html("Log in", "Please log in with your name and your word.")}

    def recover(self) -> None:
        """All is well again."""
        self.error, self.redirects, self.pages = None, {}, dict(PAGES)


_number = count()


async def refresh(
    corpus: Corpus, *, due_only: bool, attempts: int = ATTEMPTS, limit: int | None = None
) -> RefreshReport:
    """The last report of a run that tries again while it may."""

    async def take(url: str, run_id: str, brake: Brake) -> IngestOutcome:
        return await corpus.ingestor.ingest(url, run_id=run_id, refresh=True, brake=brake)

    refresher = SourceRefresh(corpus.database, corpus.acquirer, corpus.settings, take)
    run, ids = next(_number), list[str]()
    while True:
        run_id = f"run {run} attempt {len(ids)}"
        report = await refresher.run(KEY, run_id=run_id, due_only=due_only, earlier=ids, limit=limit)
        ids.append(run_id)
        if not report.silent or not report.transient or len(ids) == attempts:
            return report


async def answered(corpus: Corpus) -> int | None:
    """Number of the refresh in which the site answered last."""
    async with corpus.database.connection() as connection:
        found = await last_refreshes(connection, [KEY])
    return found[0].id if found else None


async def attach(corpus: Corpus) -> None:
    async with corpus.database.transaction() as connection:
        await attach_source(connection, HOME, 20)


@pytest.mark.parametrize("due_only", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_site_that_gives_no_page_failed_whatever_the_attempt(settings: Settings, due_only: bool) -> None:
    async def run() -> None:
        site = BrokenSite(dict(PAGES))
        async with Corpus.open(settings, site) as corpus:
            for url in PAGES:
                await corpus.ingestor.ingest(url)
            await refresh(corpus, due_only=False)
            stored = await rows(corpus.database, "SELECT sha256 FROM document_versions ORDER BY 1")
            for kind in KINDS:
                await days_pass(corpus, 31)
                before = await answered(corpus)
                site.break_down(kind)
                report = await refresh(corpus, due_only=due_only)
                assert report.silent, kind
                assert report.failed.keys() == PAGES.keys(), kind
                assert bool(report.transient) is (kind in ("500", "refused", "DNS", "timeout", "429")), kind
                assert await answered(corpus) == before, kind
                asked = site.asked
                nothing_due = await refresh(corpus, due_only=True)
                assert (site.asked, nothing_due.silent, await answered(corpus)) == (asked, False, before), kind
                site.recover()
                await days_pass(corpus, 31)
                assert not (await refresh(corpus, due_only=due_only)).silent, kind
                assert await answered(corpus) != before, kind
                assert await rows(corpus.database, "SELECT sha256 FROM document_versions ORDER BY 1") == stored
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())


@pytest.mark.parametrize("due_only", [False, True])
def test_a_new_source_that_gives_no_page_failed(settings: Settings, due_only: bool) -> None:
    async def run() -> None:
        site = BrokenSite(dict(PAGES))
        async with Corpus.open(settings, site) as corpus:
            await attach(corpus)
            for kind in KINDS[:-2]:  # a first text that is a notice or a log-in is a text
                site.break_down(kind)
                report = await refresh(corpus, due_only=due_only)
                assert report.silent, kind
                assert report.empty is not None, kind
                assert await answered(corpus) is None, kind
                site.recover()
            assert not (await refresh(corpus, due_only=due_only)).silent
            assert await answered(corpus) is not None

    asyncio.run(run())


def test_one_page_that_fails_is_no_failure_of_its_site(settings: Settings) -> None:
    async def run() -> None:
        site = BrokenSite(dict(PAGES))
        async with Corpus.open(settings, site) as corpus:
            for url in PAGES:
                await corpus.ingestor.ingest(url)
            for kind in ("gone", "notice", "all"):
                await rows_done(corpus, "UPDATE documents SET next_check = now() + interval '9 days'")
                await rows_done(corpus, "UPDATE documents SET next_check = now() WHERE canonical_url = %s", f"{HOME}p2")
                site.recover()
                if kind == "all":
                    site.break_down("refused")
                elif kind == "notice":
                    site.pages[f"{HOME}p2"] = NOTICE
                else:
                    del site.pages[f"{HOME}p2"]
                report = await refresh(corpus, due_only=True, attempts=1)
                assert report.silent is (kind == "all"), kind  # only one page was due: others show whose fault it is
                assert (f"{HOME}p2" in report.failed, len(report.failed) + len(report.changed)) == (
                    True,
                    4 if kind == "all" else 1,
                )
                assert (await refresh(corpus, due_only=False, limit=0)).silent is False

    asyncio.run(run())


def test_a_map_that_says_that_nothing_changed_is_an_answer(settings: Settings) -> None:
    async def run() -> None:
        site = BrokenSite(dict(PAGES))
        async with Corpus.open(settings, site) as corpus:
            await attach(corpus)
            await refresh(corpus, due_only=False)
            first = await answered(corpus)
            await refresh(corpus, due_only=True)
            assert await answered(corpus) == first
            site.entries = [MapEntry(url) for url in PAGES]
            await rows_done(corpus, "UPDATE sources SET map_read_at = NULL")
            await refresh(corpus, due_only=True)
            assert await answered(corpus) != first

    asyncio.run(run())


def test_a_run_that_is_repeated_does_not_lose_what_failed_before(settings: Settings) -> None:
    async def run() -> None:
        site = BrokenSite(dict(PAGES))
        async with Corpus.open(settings, site) as corpus:
            for url in PAGES:
                await corpus.ingestor.ingest(url)

            async def attempt(run_id: str, *earlier: str) -> RefreshReport:
                async def take(url: str, run_id: str, brake: Brake) -> IngestOutcome:
                    return await corpus.ingestor.ingest(url, run_id=run_id, refresh=True, brake=brake)

                refresher = SourceRefresh(corpus.database, site, corpus.settings, take)
                return await refresher.run(KEY, run_id=run_id, due_only=True, earlier=earlier)

            await days_pass(corpus, 31)
            site.break_down("500")
            await attempt("killed before its verdict")
            site.recover()
            del site.pages[f"{HOME}p3"]
            report = await attempt("again", "killed before its verdict")
            assert (report.failed, report.counts.unchanged) == ({f"{HOME}p3": "not_found"}, len(PAGES) - 1)
            last = await attempt("once more", "killed before its verdict", "again")
            assert (last.failed, last.silent, last.counts.failed) == (report.failed, False, 0)

    asyncio.run(run())
