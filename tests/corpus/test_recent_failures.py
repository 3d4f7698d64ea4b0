"""The negative cache: what failed a short time ago is not asked again, unless somebody wants a refresh."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules, rows
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.config import Settings
from webrag_core.errors import FetchError, Reason
from webrag_core.indexing.pipeline import Corpus

URL = f"{HOME}page"
HOUR, DAY = 3600, 86_400


@dataclass(slots=True)
class FailingSite(ServedPages):
    """A live site that answers one URL with an error, as long as one is set."""

    error: FetchError | None = None
    asked: list[str] = field(default_factory=list)

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """As the protocol says."""
        self.asked.append(url)
        if self.error is not None and url == URL:
            raise self.error
        return await ServedPages.fetch(self, url, etag=etag, last_modified=last_modified)


def site_with(reason: Reason, status: int | None = None, name: str = "http") -> FailingSite:
    """The failing page, and one that answers."""
    pages = {url: html("Page", f"There is something to be read at {url}.") for url in (URL, HOME)}
    return FailingSite(pages, name=name, error=FetchError(reason, "it failed", status=status))


def check(settings: Settings, site: FailingSite, work: Callable[[Corpus], Awaitable[None]]) -> None:
    """Run `work` on a corpus that knows the host; all invariants hold at the end."""

    async def body() -> None:
        async with Corpus.open(settings.model_copy(update={"webrag_warc": None}), site) as corpus:
            await corpus.add(HOME)
            site.asked.clear()
            await work(corpus)
            assert await broken_rules(corpus.database) == set()

    asyncio.run(body())


async def failure(corpus: Corpus, *, refresh: bool = False) -> FetchError:
    """The error of one more request."""
    with pytest.raises(FetchError) as raised:
        await corpus.add(URL, refresh=refresh)
    return raised.value


async def seconds_pass(corpus: Corpus, seconds: float) -> None:
    """All fetches were earlier."""
    async with corpus.database.connection() as connection:
        for statement in (
            "UPDATE fetch_log SET (started_at, seen_at) = (started_at - %s, seen_at - %s)",
            "UPDATE documents SET last_checked = last_checked - %s",
            "UPDATE document_versions SET fetched_at = fetched_at - %s",
            "UPDATE version_periods SET (seen_from, seen_last) = (seen_from - %s, seen_last - %s)",
        ):
            await connection.execute(statement, [timedelta(seconds=seconds)] * statement.count("%s"))


@pytest.mark.parametrize(
    ("reason", "status", "believed_for"),
    [
        (Reason.NOT_FOUND, 404, DAY),
        (Reason.HTTP_STATUS, 410, DAY),
        (Reason.HTTP_STATUS, 403, DAY),
        (Reason.ROBOTS_DISALLOWED, None, DAY),
        (Reason.HTTP_STATUS, 503, HOUR),
        (Reason.RATE_LIMITED, 429, HOUR),
        (Reason.TIMEOUT, None, HOUR),
    ],
)
def test_a_failure_is_believed_for_some_time(
    settings: Settings, reason: Reason, status: int | None, believed_for: int
) -> None:
    site = site_with(reason, status)

    async def work(corpus: Corpus) -> None:
        assert not (await failure(corpus)).earlier
        await seconds_pass(corpus, believed_for - 60)
        again = await failure(corpus)
        assert (again.earlier, again.reason, again.status) == (True, reason, status)
        assert again.message.startswith(f"failed earlier ({reason.value}")
        assert site.asked == [URL]
        await seconds_pass(corpus, 120)
        assert not (await failure(corpus)).earlier
        assert site.asked == [URL, URL]

    check(settings, site, work)


@pytest.mark.parametrize("reason", [Reason.DNS_FAILURE, Reason.CONNECT_FAILURE, Reason.BLOCKED_ADDRESS])
def test_what_may_be_our_own_fault_is_tried_again_at_once(settings: Settings, reason: Reason) -> None:
    site = site_with(reason)

    async def work(corpus: Corpus) -> None:
        for _ in range(2):
            assert not (await failure(corpus)).earlier
        assert site.asked == [URL, URL]

    check(settings, site, work)


def test_a_refresh_asks_anyway_and_a_good_answer_ends_it(settings: Settings) -> None:
    site = site_with(Reason.NOT_FOUND, 404)

    async def work(corpus: Corpus) -> None:
        await failure(corpus)
        assert not (await failure(corpus, refresh=True)).earlier
        with pytest.raises(FetchError) as raised:
            await corpus.add(URL, max_age=0.0)
        assert not raised.value.earlier
        assert (await corpus.refresher().run("example.org")).failed == {URL: "not_found"}
        assert site.asked.count(URL) == 4
        site.error = None
        assert (await corpus.add(URL, refresh=True)).outcome == "fetched"
        assert (await corpus.add(URL)).outcome == "reused"

    check(settings, site, work)


def test_a_host_that_is_no_source_is_remembered_too(settings: Settings) -> None:
    site = site_with(Reason.NOT_FOUND, 404)

    async def work(corpus: Corpus) -> None:
        elsewhere = "https://elsewhere.example/"
        for earlier in (False, True):
            with pytest.raises(FetchError) as raised:
                await corpus.add(elsewhere)
            assert raised.value.earlier is earlier
        assert await rows(corpus.database, "SELECT key FROM sources") == [("example.org",)]

    check(settings, site, work)


def test_settings_switch_it_off(settings: Settings) -> None:
    site = site_with(Reason.NOT_FOUND, 404)

    async def work(corpus: Corpus) -> None:
        for _ in range(2):
            assert not (await failure(corpus)).earlier

    check(settings.model_copy(update={"webrag_retry_missing_after": 0.0}), site, work)


def test_a_frozen_site_is_always_asked(settings: Settings) -> None:
    site = site_with(Reason.NOT_FOUND, 404, name="warc")

    async def work(corpus: Corpus) -> None:
        for _ in range(2):
            assert not (await failure(corpus)).earlier

    check(settings, site, work)


def test_a_failed_attempt_makes_no_stored_text_younger(settings: Settings) -> None:
    site = site_with(Reason.TIMEOUT)

    async def work(corpus: Corpus) -> None:
        failed, site.error = site.error, None
        await corpus.add(URL)
        site.error = failed
        await seconds_pass(corpus, 2 * HOUR)
        for requests in (2, 2):  # of the second one none: it failed a moment ago
            added = await corpus.add(URL, max_age=float(HOUR))
            assert (added.outcome, len(site.asked)) == ("reused", requests)
            (warning,) = added.warnings
            assert warning.startswith(f"{URL}: older than wanted, it answered last at ")
        assert "failed earlier (timeout" in warning
        assert (await corpus.add(URL, max_age=3.0 * HOUR)).warnings == ()
        await failure(corpus, refresh=True)
        site.error = None
        await seconds_pass(corpus, 2 * HOUR)
        assert (await corpus.add(URL, max_age=float(HOUR))).outcome == "unchanged"
        assert (await corpus.add(URL, max_age=float(HOUR))).outcome == "reused"

    check(settings, site, work)
