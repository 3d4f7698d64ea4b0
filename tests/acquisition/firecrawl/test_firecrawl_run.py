"""A whole answer run through Firecrawl, or past it: what the result and the ledger say. The server here is ours."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg

from tests.acquisition.firecrawl_server import KEY, document, firecrawl
from tests.acquisition.local_server import resolver
from tests.local_site import SITE, LocalSite, page
from tests.provider_server import Call, Reply
from webrag_core.acquisition.firecrawl.acquirer import FirecrawlAcquirer
from webrag_core.acquisition.firecrawl.fallback import FallbackAcquirer
from webrag_core.acquisition.gate import NetworkGate
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.models import OrchestrationResult

PAGES = {
    "/": page(
        "Start", "Where the handbook of queues begins.", {"/queues": "queues and threads", "/gone": "queues gone"}
    ),
    "/queues": page("Queues and threads", "Asynchronous queues are not safe to share between threads."),
}
QUESTION = "Are queues safe to share between threads?"
REFUSED = "Firecrawl: HTTP 402 (no credits left); fetched directly instead"


def answer(settings: Settings, url: str, direct: LocalSite) -> OrchestrationResult:
    configured = settings.model_copy(update={"firecrawl_api_url": url, "webrag_warc": None})
    gate = NetworkGate(configured, resolver=resolver({"site.example": ["93.184.216.34"]}))

    async def run() -> OrchestrationResult:
        acquirer = FallbackAcquirer(FirecrawlAcquirer(configured, gate), direct)
        async with Corpus.open(configured, acquirer) as corpus:
            return await OrchestratorEngine(corpus).run(AnswerRequest((f"{SITE}/",), QUESTION, policy="fixed-k:1"))

    return asyncio.run(run())


def rows(settings: Settings, query: str) -> list[tuple[Any, ...]]:
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url) as connection:
        return connection.execute(query.encode()).fetchall()


def serve(call: Call) -> Any:
    """The start page; 404 for what is gone; no credits for the rest."""
    path = call.body["url"].removeprefix(SITE)
    if path == "/":
        return {"success": True, "data": document(call.body["url"], PAGES["/"])}
    if path == "/gone":
        return {"success": True, "data": document(call.body["url"], "<p>Nothing of that name.</p>", statusCode=404)}
    return Reply({"success": False, "error": f"pay, {KEY}"}, status=402)


def test_a_page_that_firecrawl_refuses_is_fetched_directly_and_the_result_says_so(settings: Settings) -> None:
    direct = LocalSite(PAGES, name="http")
    with firecrawl(serve) as server:
        result = answer(settings, server.url, direct)
    assert result.citations[0].source_url == f"{SITE}/queues"
    assert f"{SITE}/queues: {REFUSED}" in result.warnings
    assert f"{SITE}/gone: the page does not exist (HTTP 404)" in result.warnings
    assert direct.requests == [f"{SITE}/queues"]
    assert rows(settings, "SELECT canonical_url, acquirer FROM documents WHERE status = 'ready' ORDER BY 1") == [
        (f"{SITE}/", "firecrawl"),
        (f"{SITE}/queues", "http"),
    ]
    assert rows(settings, "SELECT url, acquirer, outcome, reason FROM fetch_log ORDER BY 1") == [
        (f"{SITE}/", "firecrawl", "fetched", None),
        (f"{SITE}/gone", "firecrawl", "failed", "not_found"),
        (f"{SITE}/queues", "http", "fetched", None),
    ]


def test_pages_of_both_live_acquirers_are_used_again(settings: Settings) -> None:
    with firecrawl(serve) as server:
        answer(settings, server.url, LocalSite(PAGES, name="http"))
        direct = LocalSite(PAGES, name="http")
        server.calls.clear()
        again = answer(settings, server.url, direct)
    assert direct.requests == []
    assert server.calls == []  # nor is the page that failed a moment ago
    assert {document.outcome for document in again.documents} == {"reused", "stored", "failed"}
    assert not any(REFUSED in warning for warning in again.warnings)


def test_a_seed_fetched_directly_is_a_warning_too(settings: Settings) -> None:
    with firecrawl(Reply({"success": False, "error": "pay"}, status=402)) as server:
        result = answer(settings, server.url, LocalSite(PAGES, name="http"))
    assert f"{SITE}/: {REFUSED}, and 1 more page" in result.warnings
    assert KEY not in str(result)
