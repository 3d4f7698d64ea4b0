"""Providers, pages and databases that fail during a run: what was found is kept, and the run says why it stopped."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.local_site import SITE, LocalSite, page
from tests.provider_server import Call, Reply, serving
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.config import Settings
from webrag_core.errors import EmbeddingError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration import answers
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.models import OrchestrationResult, Round
from webrag_core.providers import rate_limits

QUESTION = "What is the longest bridge span?"
SPAN = "The longest bridge span of all measures 2,023 metres."
SIZE = 8


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


def bridges() -> LocalSite:
    return LocalSite(
        {
            "/": page("Bridges", "About the longest bridge.", {"/spans": "longest bridge span", "/more": "bridges"}),
            "/spans": page("Spans", SPAN),
            "/more": page("More", "More about bridges."),
        }
    )


def ask(
    settings: Settings, site: LocalSite, report: Callable[[str, Round | None], None] | None = None, **options: Any
) -> OrchestrationResult:
    request = AnswerRequest(**{"urls": (f"{SITE}/",), "question": QUESTION, "policy": "fixed-k:2", **options})

    async def work() -> OrchestrationResult:
        async with Corpus.open(settings, site) as corpus:
            return await OrchestratorEngine(corpus).run(request, report)

    return asyncio.run(work())


def runs(settings: Settings) -> list[tuple[Any, ...]]:
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url) as connection:
        return connection.execute("SELECT state, reason FROM answer_runs ORDER BY id").fetchall()


# --- embedding endpoints ---


def embeddings(call: Call) -> dict[str, Any]:
    """Vectors made of the texts' hashes."""
    rows = [
        {"object": "embedding", "index": index, "embedding": [1.0 + byte for byte in digest(text)]}
        for index, text in enumerate(call.body["input"])
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": rows, "model": "m", "usage": usage}


def digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:SIZE]


def embedded_by(settings: Settings, url: str) -> Settings:
    return settings.model_copy(update={"embedding_base_url": url, "embedding_model": "m", "embedding_dimensions": SIZE})


@pytest.mark.parametrize("working", [2, 3])
def test_evidence_survives_an_embedding_endpoint_that_fails_later(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, working: int
) -> None:
    """Requests: the seed's texts, the query, then the texts of the previews and the query again."""
    monkeypatch.setattr(rate_limits, "_FIRST_PAUSE_S", 0.01)
    with serving(Reply({}, 500), *[embeddings] * working) as server:
        site = bridges()
        result = ask(embedded_by(settings, server.url), site, expansion_budget=2)
    assert result.citations
    assert result.final_decision.rule == "provider-failed"
    assert any(warning.startswith("stopped early: ") for warning in result.warnings)
    assert [completed.decision.action for completed in result.rounds] == ["stop"]
    assert "uncalibrated" in result.probability_note
    assert runs(settings) == [("done", None)]


def test_a_new_start_page_is_searched_by_words_while_the_embedding_endpoint_is_down_and_no_page_is_followed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "_FIRST_PAUSE_S", 0.01)
    with serving(Reply({}, 500)) as server:
        site = bridges()
        result = ask(embedded_by(settings, server.url), site, expansion_budget=2)
    assert result.citations
    assert result.final_decision.rule == "provider-failed"
    assert site.requests == [f"{SITE}/"]
    assert any("searched by words only until the embedding model works again" in text for text in result.warnings)
    assert runs(settings) == [("done", None)]


def test_an_embedding_endpoint_that_refuses_the_key_before_there_is_evidence_is_an_error(settings: Settings) -> None:
    with serving(Reply({}, 401)) as server, pytest.raises(EmbeddingError):
        ask(embedded_by(settings, server.url), bridges())
    assert runs(settings) == [("failed", "embedding_failed")]


# --- rerankers ---


def test_the_configured_reranker_is_what_the_policy_reads(settings: Settings) -> None:
    def rank(call: Call) -> dict[str, Any]:
        count = len(call.body["documents"])
        return {"results": [{"index": index, "relevance_score": 0.17} for index in range(count)]}

    local = ask(settings, bridges(), urls=(f"{SITE}/spans",), expansion_budget=0)
    with serving(rank) as server:
        remote = settings.model_copy(update={"reranker_provider": "jina", "reranker_base_url": server.url})
        judged = ask(remote, bridges(), urls=(f"{SITE}/spans",), expansion_budget=0)
    assert local.rounds[0].signals.best_raw_score > 0.3
    assert local.probability_note.startswith("stated by the policy")
    signals = judged.rounds[0].signals
    assert signals.provider_score == signals.top_score == pytest.approx(0.17)
    assert signals.best_raw_score == local.rounds[0].signals.best_raw_score, "retrieval's own, as the tables expect"
    with serving(rank) as server:
        remote = settings.model_copy(update={"reranker_provider": "jina", "reranker_base_url": server.url})
        note = ask(remote, bridges(), policy="calibrated", expansion_budget=0).probability_note
    assert note == "uncalibrated: fitted for the local reranker, not for jina"
    with serving(Reply({}, 401)) as server:
        broken = settings.model_copy(update={"reranker_provider": "jina", "reranker_base_url": server.url})
        note = ask(broken, bridges(), policy="calibrated", expansion_budget=0).probability_note
    assert note.startswith("calibrated on ")


# --- pages ---


class SlowSite(LocalSite):
    """Answers `slow` after the test is over only."""

    slow = f"{SITE}/spans"

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        if url == self.slow:
            self.requests.append(url)
            await asyncio.sleep(3_600)
        return await LocalSite.fetch(self, url, etag=etag, last_modified=last_modified)


def test_a_page_in_flight_at_the_deadline_is_listed_as_failed(settings: Settings) -> None:
    hurried = settings.model_copy(update={"webrag_answer_timeout": 8.0})
    result = ask(hurried, SlowSite(bridges().pages))
    failed = [(document.url, document.reason) for document in result.documents if document.outcome == "failed"]
    assert failed == [(f"{SITE}/spans", "timeout")]
    assert result.final_decision.rule == "timeout"
    assert result.citations


@pytest.mark.slow
def test_a_seed_that_hangs_does_not_hold_up_the_others(settings: Settings) -> None:
    hurried = settings.model_copy(update={"webrag_answer_timeout": 60.0, "webrag_fetch_timeout": 1.0})
    site = SlowSite(bridges().pages)
    result = ask(hurried, site, urls=(f"{SITE}/spans", f"{SITE}/", f"{SITE}/more"), expansion_budget=0)
    outcomes = [(document.url, document.outcome) for document in result.documents]
    assert outcomes == [(f"{SITE}/spans", "failed"), (f"{SITE}/", "fetched"), (f"{SITE}/more", "fetched")]


def test_a_failed_page_is_reported_with_its_http_status(settings: Settings) -> None:
    site = LocalSite({"/": page("Bridges", "About the longest bridge.", {"/gone": "longest bridge span"})})
    result = ask(settings, site)
    assert any("/gone" in warning and "HTTP 404" in warning for warning in result.warnings)


# --- the database ---


def test_a_database_that_fails_during_cancellation_does_not_replace_it(settings: Settings) -> None:
    url = settings.database_url
    assert url is not None
    name = str(conninfo_to_dict(url)["dbname"])
    elsewhere = make_conninfo(url, dbname="template1")

    async def work() -> None:
        async with Corpus.open(settings, bridges()) as corpus:
            task: asyncio.Task[OrchestrationResult]

            def cancel(phase: str, completed: object) -> None:
                if phase != "expand_breadth":
                    return
                with psycopg.connect(elsewhere, autocommit=True) as admin:
                    admin.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(sql.Identifier(name)))
                    admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
                task.cancel()

            request = AnswerRequest((f"{SITE}/",), QUESTION, policy="fixed-k:1")
            task = asyncio.create_task(OrchestratorEngine(corpus).run(request, cancel))
            with pytest.raises(asyncio.CancelledError):
                await task

    try:
        asyncio.run(work())
    finally:
        with psycopg.connect(elsewhere, autocommit=True) as admin:
            admin.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(sql.Identifier(name)))
    # the row was left behind: the next run ends it
    assert runs(settings) == [("running", None)]
    ask(settings, bridges(), expansion_budget=0)
    assert runs(settings) == [("failed", "abandoned"), ("done", None)]


def test_a_run_of_another_process_is_not_taken_for_abandoned(settings: Settings) -> None:
    async def work() -> list[tuple[Any, ...]]:
        async with Corpus.open(settings, bridges()) as one, Corpus.open(settings, bridges()) as other:
            first = asyncio.Event()
            request = AnswerRequest((f"{SITE}/",), QUESTION, policy="fixed-k:1")
            states: list[tuple[Any, ...]] = []

            def report(phase: str, completed: object) -> None:
                first.set()

            running = asyncio.create_task(OrchestratorEngine(one).run(request, report))
            await first.wait()
            async with other.database.connection() as connection:
                assert await answers.end_abandoned(connection) == 0
            states += runs(settings)
            await running
            return states

    assert asyncio.run(work()) == [("running", None)]
    assert runs(settings) == [("done", None)]
