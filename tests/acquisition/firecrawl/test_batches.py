"""Batch jobs of Firecrawl on the wire, and the refreshes that they serve. The server here is ours."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.acquisition.firecrawl_server import KEY, PAGE, document, firecrawl, scraped
from tests.acquisition.local_server import resolver
from tests.local_site import SITE, LocalSite, page
from tests.provider_server import Call, Provider, Reply
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.firecrawl import batches
from webrag_core.acquisition.firecrawl.acquirer import FirecrawlAcquirer
from webrag_core.acquisition.firecrawl.fallback import FallbackAcquirer
from webrag_core.acquisition.gate import NetworkGate
from webrag_core.config import Settings, load_settings
from webrag_core.corpus.refresh import RefreshReport
from webrag_core.errors import FetchError, Reason
from webrag_core.indexing.pipeline import Corpus
from webrag_core.providers import rate_limits

HOST = "https://docs.example"
NAMES = {"docs.example": ["93.184.216.34"], "inside.example": ["10.0.0.7"], "site.example": ["93.184.216.35"]}
ONE, TWO, GONE, LOST = (f"{HOST}/{name}" for name in ("one", "two", "gone", "lost"))
JOB = {"success": True, "id": "job-1", "url": "https://api.firecrawl.dev/v2/batch/scrape/job-1"}
ASKED = "GET /v2/batch/scrape/job-1"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "_FIRST_PAUSE_S", 0.02)
    monkeypatch.setattr(batches, "_POLL_S", 0.02)


def state(status: str, *documents: dict[str, Any], following: str | None = None) -> dict[str, Any]:
    said = {"success": True, "status": status, "completed": len(documents), "total": 9, "data": list(documents)}
    return {**said, **({"next": following} if following else {})}


def fetched(server: Provider, urls: Sequence[str], seconds: float = 3.0) -> dict[str, AcquiredPage | FetchError]:
    configured = load_settings(firecrawl_api_url=server.url, firecrawl_api_key=KEY, firecrawl_timeout=seconds)
    acquirer = FirecrawlAcquirer(configured, NetworkGate(configured, resolver=resolver(NAMES)))

    async def one(url: str) -> AcquiredPage | FetchError:
        try:
            return await acquirer.fetch(url)
        except FetchError as error:
            return error

    async def run() -> dict[str, AcquiredPage | FetchError]:
        async with acquirer.announced(urls):
            return dict(zip(urls, await asyncio.gather(*map(one, urls)), strict=True))

    return asyncio.run(run())


def reasons(pages: dict[str, AcquiredPage | FetchError]) -> dict[str, Reason]:
    return {url: page.reason for url, page in pages.items() if isinstance(page, FetchError)}


@pytest.mark.slow
def test_a_batch_sends_its_options_follows_next_and_every_page_has_its_own_end() -> None:
    elsewhere = "https://api.firecrawl.dev/v2/batch/scrape/job-1?skip=1"
    inside, moved = "http://inside.example/", f"{HOST}/moved"
    second = state(
        "completed",
        document(ONE, PAGE.replace("Queues", "One"), url=f"{HOST}/one/"),
        document(GONE, statusCode=404),
        document(moved, url=inside),
        document(f"{HOST}/unasked"),
    )
    script = (JOB, state("scraping"), state("completed", document(TWO), following=elsewhere), second)
    with firecrawl(*script) as server:
        pages = fetched(server, [ONE, TWO, inside, GONE, LOST, moved])
    assert server.asked == ["POST /v2/batch/scrape", ASKED, ASKED, f"{ASKED}?skip=1"]
    body = server.calls[0].body
    assert body["urls"] == [ONE, TWO, GONE, LOST, moved]  # what the gate refuses is not sent
    assert body["formats"] == ["markdown", "html", "links"]
    assert (body["skipTlsVerification"], body["maxAge"], body["ignoreInvalidURLs"]) == (False, 0, True)
    assert all(call.headers["authorization"] == f"Bearer {KEY}" for call in server.calls)
    first = pages[ONE]
    assert isinstance(first, AcquiredPage)
    assert b"<h1>One</h1>" in first.body
    assert (first.url, first.final_url) == (ONE, f"{HOST}/one/")
    assert isinstance(pages[TWO], AcquiredPage)
    assert reasons(pages) == {
        inside: Reason.BLOCKED_ADDRESS,
        moved: Reason.BLOCKED_ADDRESS,
        GONE: Reason.NOT_FOUND,
        LOST: Reason.PROVIDER_FAILED,
    }


def test_a_batch_the_sdk_cannot_read_loses_no_page() -> None:
    odd = state("completed", document(ONE, proxyUsed="enhanced"), document(TWO))
    with firecrawl(JOB, odd) as server:
        assert not reasons(fetched(server, [ONE, TWO]))


def test_a_batch_out_of_time_is_cancelled_and_what_it_delivered_counts() -> None:
    def answer(call: Call) -> Any:
        if call.method == "DELETE":
            return {"success": True, "status": "cancelled"}
        return JOB if call.method == "POST" else state("scraping", document(ONE))

    with firecrawl(answer) as server:
        pages = fetched(server, [ONE, TWO], seconds=2.0)
    assert reasons(pages) == {TWO: Reason.TIMEOUT}
    assert server.asked[-1] == "DELETE /v2/batch/scrape/job-1"


def test_where_no_batch_can_be_started_pages_are_scraped_one_by_one() -> None:
    def answer(call: Call) -> Any:
        return Reply({}, 500) if "batch" in call.path else scraped(call.body["url"])

    with firecrawl(answer) as server:
        assert not reasons(fetched(server, [ONE, TWO]))
    assert sorted(server.asked) == ["POST /v2/batch/scrape", "POST /v2/scrape", "POST /v2/scrape"]
    with firecrawl(answer) as server:
        fetched(server, [ONE])
    assert server.asked == ["POST /v2/scrape"]


def test_a_refresh_asks_in_batches_and_a_page_that_fails_costs_itself(settings: Settings) -> None:
    urls = [f"{SITE}/{number}" for number in range(6)]

    def html(url: str) -> str:
        return page(f"Page {url[-1]}", f"What page {url[-1]} has to say about the queues of its chapter.")

    def answer(call: Call) -> Any:
        if call.path == "/v2/scrape":
            return scraped(call.body["url"], html(call.body["url"]))
        if call.method == "POST":
            return JOB
        documents = [document(url, html(url).replace("chapter", "part")) for url in urls[:4]]
        return state("completed", *documents, document(urls[4], statusCode=404))  # the last is lost

    async def run(server: Provider) -> RefreshReport:
        configured = settings.model_copy(update={"firecrawl_api_url": server.url, "webrag_warc": None})
        gate = NetworkGate(configured, resolver=resolver(NAMES))
        direct = LocalSite({"/5": html(urls[5])}, name="http")
        async with Corpus.open(configured, FallbackAcquirer(FirecrawlAcquirer(configured, gate), direct)) as corpus:
            for url in urls:
                await corpus.add(url)
            server.calls.clear()
            return await corpus.refresher().run("site.example")

    with firecrawl(answer) as server:
        report = asyncio.run(run(server))
    assert server.asked == ["POST /v2/batch/scrape", ASKED]
    assert sorted(server.calls[0].body["urls"]) == urls
    assert report.failed == {urls[4]: "not_found"}
    assert report.changed == tuple(urls[:4])
    assert report.counts.unchanged == 1  # fetched directly
