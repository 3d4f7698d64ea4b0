"""The loop on the frozen Python site and on small graphs that no real site has."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.errors import FetchError, InvalidInputError, Reason
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.frontier import pages_tried
from webrag_core.orchestration.models import EvaluationSignals, ExpansionDecision, OrchestrationResult
from webrag_core.orchestration.policies import DEFAULT_POLICY, POLICIES, get_policy
from webrag_core.orchestration.run_scope import RunScope
from webrag_core.orchestration.verdict import status_of

ASYNCIO = "https://docs.python.org/3.11/library/asyncio.html"
QUEUES = "https://docs.python.org/3.11/library/asyncio-queue.html"
QUESTION = "Are asyncio queues thread-safe, and how can get() be given a timeout?"


def ask(settings: Settings, request: AnswerRequest, site: LocalSite | None = None) -> OrchestrationResult:
    async def work() -> OrchestrationResult:
        async with Corpus.open(settings, site) as corpus:
            return await OrchestratorEngine(corpus).run(request)

    return asyncio.run(work())


def rows(settings: Settings, query: str) -> list[tuple[Any, ...]]:
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url) as connection:
        return connection.execute(query.encode()).fetchall()


@pytest.mark.slow
def test_walks_from_the_seed_to_the_page_that_holds_the_evidence_and_its_rounds_replay(settings: Settings) -> None:
    defaults = Settings(database_url=settings.database_url, webrag_warc=settings.webrag_warc)
    result = ask(defaults, AnswerRequest((ASYNCIO,), QUESTION))

    assert None not in {done.signals.reading for done in result.rounds}
    assert result.total_iterations >= 1
    best = result.citations[0]
    assert best.source_url == QUEUES != result.url
    assert "asyncio queues are not thread-safe" in best.verbatim_text
    assert result.final_decision.action == "stop"
    assert result.final_decision.rule
    assert [citation.number for citation in result.citations] == list(range(1, len(result.citations) + 1))

    policy = get_policy(DEFAULT_POLICY, defaults)
    history: list[EvaluationSignals] = []
    stored = rows(settings, "SELECT signals, decision FROM answer_rounds ORDER BY round")
    assert len(stored) == len(result.rounds)
    for signals, decision in stored:
        history.append(EvaluationSignals.model_validate(signals))
        assert policy.decide(history) == ExpansionDecision.model_validate(decision)


@pytest.mark.slow
def test_the_same_question_gives_the_same_evidence_cached_or_not(settings: Settings) -> None:
    def evidence(result: OrchestrationResult) -> list[tuple[str, str, float]]:
        return [(c.source_url, c.quote_sha256, round(c.relevance, 6)) for c in result.citations]

    first = ask(settings, AnswerRequest((ASYNCIO,), QUESTION, scope="run"))
    again = ask(settings, AnswerRequest((ASYNCIO,), QUESTION, scope="run"))
    assert evidence(first) == evidence(again)
    assert {document.outcome for document in first.documents} == {"fetched"}
    assert {document.outcome for document in again.documents} == {"reused"}


@pytest.mark.slow
def test_each_part_of_a_question_is_judged_by_itself(settings: Settings) -> None:
    parts = ["Are asyncio queues thread-safe", "at which hour does the moon rise"]
    result = ask(settings, AnswerRequest((ASYNCIO,), f"{parts[0]}, and {parts[1]}?"))
    assert result.query_analysis.parts == parts
    assert {done.signals.part for done in result.rounds} <= set(parts)
    last = result.rounds[-1]
    assert last.signals.part == parts[1]  # the site answers only the first
    assert result.status == "partial"
    assert parts[1] in result.verdict_line()
    assert parts[0] not in result.verdict_line()


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("run", {ASYNCIO}),
        ("source", {ASYNCIO, QUEUES}),
        (None, {ASYNCIO, QUEUES}),
        ("all", {ASYNCIO, QUEUES}),
        (("docs.python.org",), {ASYNCIO, QUEUES}),
    ],
)
def test_the_scope_says_which_stored_pages_are_evidence(
    settings: Settings, scope: RunScope | tuple[str, ...] | None, expected: set[str]
) -> None:
    async def work() -> OrchestrationResult:
        async with Corpus.open(settings) as corpus:
            await corpus.add(QUEUES)
            request = AnswerRequest((ASYNCIO,), QUESTION, expansion_budget=0, scope=scope)
            return await OrchestratorEngine(corpus).run(request)

    result = asyncio.run(work())
    assert {chunk.chunk.source_url for chunk in result.chunks} == expected
    assert {document.url: document.outcome for document in result.documents if document.url == QUEUES} == (
        {QUEUES: "stored"} if QUEUES in expected else {}
    )
    assert result.total_iterations == 0


def test_stored_pages_that_are_too_old_or_excluded_are_no_evidence(settings: Settings) -> None:
    async def work(**options: Any) -> OrchestrationResult:
        async with Corpus.open(settings) as corpus:
            await corpus.add(QUEUES)
            request = AnswerRequest((ASYNCIO,), QUESTION, expansion_budget=0, **options)
            return await OrchestratorEngine(corpus).run(request)

    for options in ({"max_age": 0.0}, {"excluded": (QUEUES,)}):
        result = asyncio.run(work(**options))
        assert {chunk.chunk.source_url for chunk in result.chunks} == {ASYNCIO}


@pytest.mark.slow
def test_an_excluded_page_is_not_followed(settings: Settings) -> None:
    result = ask(settings, AnswerRequest((ASYNCIO,), QUESTION, excluded=(QUEUES,), expansion_budget=1))
    assert result.total_iterations == 1
    assert QUEUES not in {document.url for document in result.documents}


def test_an_unknown_scope_is_refused(settings: Settings) -> None:
    with pytest.raises(InvalidInputError, match="unknown scope 'site'"):
        ask(settings, AnswerRequest((ASYNCIO,), QUESTION, scope="site"))  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match=r"no such source: nowhere\.example"):
        ask(settings, AnswerRequest((ASYNCIO,), QUESTION, scope=("nowhere.example",)))


def test_every_given_url_is_in_scope_from_the_first_round(settings: Settings) -> None:
    result = ask(settings, AnswerRequest((ASYNCIO, QUEUES), QUESTION, expansion_budget=0))
    assert {chunk.chunk.source_url for chunk in result.chunks} == {ASYNCIO, QUEUES}


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (AnswerRequest((ASYNCIO,), "  "), "empty"),
        (AnswerRequest((), "x"), "no URL"),
        (AnswerRequest((ASYNCIO,), "x", expansion_budget=-1), "negative"),
        (AnswerRequest((ASYNCIO,), "x", policy="oracle"), "unknown stop policy"),
        (AnswerRequest((ASYNCIO,), "x", policy="fixed-k:" + 5000 * "9"), "unknown stop policy"),
        (AnswerRequest((ASYNCIO,), "x\0y"), "invalid Unicode"),
        (AnswerRequest((ASYNCIO,), "x\udcffy"), "invalid Unicode"),
        (AnswerRequest((ASYNCIO,), "x", constraints=("\udcff",)), "invalid Unicode"),
        (AnswerRequest(tuple(f"{SITE}/{number}" for number in range(31)), "x"), "WEBRAG_MAX_PAGES"),
        (AnswerRequest((ASYNCIO,), "???"), "no word"),
        (AnswerRequest((ASYNCIO,), "tea " * 300_000), "1,200,000 characters"),
        (AnswerRequest((ASYNCIO,), None), "question must be a text"),  # type: ignore[arg-type]
        (AnswerRequest(ASYNCIO, "x"), "sequence of URLs"),  # type: ignore[arg-type]
        (AnswerRequest((None,), "x"), "sequence of URLs"),  # type: ignore[arg-type]
        (AnswerRequest((ASYNCIO,), "x", mode="bogus"), "unknown mode 'bogus'"),  # type: ignore[arg-type]
        (AnswerRequest((ASYNCIO,), "x", intent="bogus"), "unknown intent"),  # type: ignore[arg-type]
        (AnswerRequest((ASYNCIO,), "x", expansion_budget=1.5), "whole number"),  # type: ignore[arg-type]
        (AnswerRequest((ASYNCIO,), "x", constraints="degrees"), "sequence of texts"),  # type: ignore[arg-type]
        (AnswerRequest((ASYNCIO,), "x", max_age=-1), "max_age"),
        (AnswerRequest((ASYNCIO,), "x", max_age=float("nan")), "max_age"),
    ],
)
def test_unusable_requests_are_refused_before_anything_is_written(
    settings: Settings, request_: AnswerRequest, message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        ask(settings, request_)
    assert rows(settings, "SELECT count(*) FROM answer_runs") == [(0,)]


def test_a_seed_that_cannot_be_had_ends_the_run_with_its_reason(settings: Settings) -> None:
    missing = "https://docs.python.org/3.11/library/no-such-page.html"
    with pytest.raises(FetchError) as caught:
        ask(settings, AnswerRequest((missing,), "anything at all"))
    assert caught.value.reason is Reason.NOT_FOUND
    assert rows(settings, "SELECT state, reason FROM answer_runs") == [("failed", "not_found")]
    assert rows(settings, "SELECT outcome, reason FROM fetch_log") == [("failed", "not_found")]
    assert rows(settings, "SELECT 1 FROM documents") == []  # a failed fetch makes no source of an unknown host


def test_a_run_whose_process_is_gone_is_ended_by_the_next_one(settings: Settings) -> None:
    site = LocalSite({"/": page("Tea", "Tea is brewed at eighty degrees.")})
    ask(settings, AnswerRequest((SITE,), "how hot is tea"), site)
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url, autocommit=True) as connection:
        left = "INSERT INTO answer_runs (seed_url, query, options, policy, started_at) VALUES ('', '', '{}', '', %s)"
        connection.execute(left, (datetime.now(UTC) - timedelta(days=2),))
        connection.execute(left, (datetime.now(UTC) - timedelta(hours=1),))
    ask(settings, AnswerRequest((SITE,), "how hot is tea"), site)
    runs = rows(settings, "SELECT state, reason FROM answer_runs ORDER BY started_at")
    assert runs == [("failed", "abandoned"), ("failed", "abandoned"), ("done", None), ("done", None)]


def test_a_dead_link_costs_only_itself(settings: Settings) -> None:
    site = LocalSite(
        {
            "/": page(
                "Bridges", "About bridges.", {"/spans": "longest bridge span", "/gone": "longest bridge span record"}
            ),
            "/spans": page("Spans", "The longest bridge span of all measures 2,023 metres."),
        }
    )
    result = ask(settings, AnswerRequest((f"{SITE}/",), "What is the longest bridge span?", policy="fixed-k:1"), site)
    outcomes = {document.url: document.outcome for document in result.documents}
    assert outcomes == {f"{SITE}/": "fetched", f"{SITE}/spans": "fetched", f"{SITE}/gone": "failed"}
    assert any("2,023 metres" in citation.verbatim_text for citation in result.citations)
    assert any("/gone" in warning for warning in result.warnings)
    assert site.requests.count(f"{SITE}/gone") == 1


def test_time_is_a_hard_limit_that_keeps_what_there_is(settings: Settings) -> None:
    hurried = settings.model_copy(update={"webrag_answer_timeout": 1e-6})
    result = ask(hurried, AnswerRequest((ASYNCIO,), QUESTION, policy="fixed-k:1"))
    assert result.final_decision.rule == "timeout"
    assert result.citations
    assert any("stopped early" in warning for warning in result.warnings)


def test_pages_are_a_hard_limit(settings: Settings) -> None:
    tight = settings.model_copy(update={"webrag_max_pages": 2})
    result = ask(tight, AnswerRequest((ASYNCIO,), QUESTION, policy="fixed-k:5"))
    assert len(result.documents) == 2
    assert result.final_decision.rule == "page-limit"


def test_a_seed_that_redirects_to_another_host_is_walked_there(settings: Settings) -> None:
    there = "https://www.site.example"
    site = LocalSite(
        {
            f"{there}/": page("Bridges", "About bridges.", {"/spans": "longest bridge span"}),
            f"{there}/spans": page("Spans", "The longest bridge span of all measures 2,023 metres."),
        },
        {"/": f"{there}/"},
    )
    result = ask(settings, AnswerRequest((f"{SITE}/",), "What is the longest bridge span?"), site)
    assert [document.url for document in result.documents] == [f"{there}/", f"{there}/spans"]
    assert any("2,023 metres" in citation.verbatim_text for citation in result.citations)


def test_a_folder_above_two_seeds_is_one_candidate(settings: Settings) -> None:
    site = LocalSite({f"/bridges/{name}": page(name, "Nothing about it.") for name in ("a", "b")})
    request = AnswerRequest((f"{SITE}/bridges/a", f"{SITE}/bridges/b"), "bridges", policy="fixed-k:1")
    result = ask(settings, request, site)
    assert [candidate.url for candidate in result.rounds[0].candidates] == [f"{SITE}/bridges/"]
    assert [document.url for document in result.documents if document.outcome == "failed"] == [f"{SITE}/bridges/"]


def test_seeds_left_over_when_the_time_is_over_are_failures(settings: Settings) -> None:
    site = LocalSite({f"/{name}": page(name, "Words about bridges.") for name in ("a", "b")})
    hurried = settings.model_copy(update={"webrag_answer_timeout": 1e-6})
    result = ask(hurried, AnswerRequest((f"{SITE}/a", f"{SITE}/b"), "bridges"), site)
    assert [(document.outcome, document.reason) for document in result.documents] == [
        ("fetched", None),
        ("failed", "timeout"),
    ]
    assert site.requests == [f"{SITE}/a"]


def test_everything_that_was_asked_is_kept_with_the_run(settings: Settings) -> None:
    site = LocalSite({"/": page("Tea", "Green tea is brewed at eighty degrees.")})
    request = AnswerRequest(
        (f"{SITE}/",),
        "tea",
        intent="how_to",
        known_context="It is green.",
        constraints=("degrees",),
        expansion_budget=0,
    )
    ask(settings, request, site)
    [(options,)] = rows(settings, "SELECT options FROM answer_runs")
    assert options == {
        "urls": [f"{SITE}/"],
        "budget": 0,
        "mode": "auto",
        "scope": "source",
        "intent": "how_to",
        "known_context": "It is green.",
        "constraints": ["degrees"],
    }


def test_full_context_that_does_not_fit_is_said(settings: Settings) -> None:
    tiny = settings.model_copy(update={"retrieval_context_budget": 1})
    result = ask(tiny, AnswerRequest((ASYNCIO,), QUESTION, mode="full_context", expansion_budget=0))
    assert (result.mode, len(result.chunks)) == ("chunk", 1)
    assert any("RETRIEVAL_CONTEXT_BUDGET" in warning for warning in result.warnings)


@pytest.mark.slow
def test_neighbours_stand_beside_their_hit_at_its_depth(settings: Settings) -> None:
    question = "What happens to the other tasks of a group when one of them fails?"
    for radius in (1, 3_000_000_000):  # the pages are stored for the second
        few = {"locality_expansion_radius": radius, "min_score_for_expansion": 0.3, "reranker_top_n": 2}
        result = ask(settings.model_copy(update=few), AnswerRequest((ASYNCIO,), question, mode="chunk"))
        depths = {document.document_id: document.link_depth for document in result.documents}
        neighbours = [ranked.chunk for ranked in result.chunks if ranked.is_locality_expanded]
        assert any(chunk.depth for chunk in neighbours), radius
        assert all(chunk.depth == depths[chunk.document_id] for chunk in neighbours), radius


class NeverStop:
    """A policy that ignores every limit."""

    name = "never-stop"

    rephrases = False
    looks_ahead = False
    rules = ()

    def __init__(self, settings: Settings) -> None:
        pass

    def decide(self, history: Sequence[EvaluationSignals]) -> ExpansionDecision:
        return ExpansionDecision(
            action="expand_breadth", rule="never", reason="more!", confidence="low", probability_complete=0.0
        )


@pytest.mark.slow
def test_rounds_are_a_hard_limit_for_every_policy(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(POLICIES, "never-stop", NeverStop)
    result = ask(settings, AnswerRequest((ASYNCIO,), QUESTION, policy="never-stop", expansion_budget=1))
    assert result.total_iterations == 1
    assert result.final_decision.rule == "round-limit"


@pytest.mark.slow
def test_the_expansion_depth_is_a_ceiling_for_every_budget(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(POLICIES, "never-stop", NeverStop)
    shallow = settings.model_copy(update={"max_expansion_depth": 1})
    result = ask(shallow, AnswerRequest((ASYNCIO,), QUESTION, policy="never-stop", expansion_budget=4))
    assert (result.total_iterations, result.final_decision.rule) == (1, "round-limit")
    assert any("MAX_EXPANSION_DEPTH" in warning for warning in result.warnings)


def test_the_policy_of_the_settings_is_the_default(settings: Settings) -> None:
    chosen = settings.model_copy(update={"webrag_policy": "stop-at-once"})
    assert ask(chosen, AnswerRequest((ASYNCIO,), QUESTION)).policy == "stop-at-once"
    unknown = settings.model_copy(update={"webrag_policy": "oracle"})
    with pytest.raises(InvalidInputError, match="unknown stop policy"):
        ask(unknown, AnswerRequest((ASYNCIO,), QUESTION))


def test_a_stored_seed_is_fetched_again_above_the_age_of_the_request(settings: Settings) -> None:
    site = LocalSite({"/": page("Tea", "Green tea is brewed at eighty degrees.")})
    request = AnswerRequest((f"{SITE}/",), "How hot is tea?", expansion_budget=0)
    assert [ask(settings, request, site).documents[0].outcome for _ in range(2)] == ["fetched", "reused"]
    assert ask(settings, replace(request, max_age=3_600.0), site).documents[0].outcome == "reused"
    assert ask(settings, replace(request, max_age=0.0), site).documents[0].outcome == "fetched"
    assert len(site.requests) == 2
    without = ask(settings, replace(request, max_age=0.0), LocalSite({}))
    assert without.documents[0].outcome == "reused"
    assert [chunk.chunk.source_url for chunk in without.chunks] == [f"{SITE}/"]
    assert any(warning.startswith(f"{SITE}/: older than wanted") for warning in without.warnings)


def test_the_status_says_whether_the_question_is_answered(settings: Settings) -> None:
    answered = ask(settings, AnswerRequest((QUEUES,), "Are asyncio queues thread-safe?", expansion_budget=0))
    assert next(iter(answered.model_dump())) == "status"
    assert answered.status == "answered"
    site = LocalSite({"/": page("Alone", "A page without any link, about nothing in particular.")})
    missing = ask(settings, AnswerRequest((f"{SITE}/",), "How tall is the Eiffel tower?"), site)
    assert missing.status == "not_found"


@pytest.mark.parametrize(
    ("probability", "relevance", "citations", "status"),
    [
        (0.65, 0.25, 1, "answered"),
        (0.9, 0.24, 1, "partial"),
        (0.64, 0.25, 1, "partial"),
        (0.64, 0.24, 1, "not_found"),
        (0.9, 0.9, 0, "not_found"),
    ],
)
def test_thresholds_of_the_status(probability: float, relevance: float, citations: int, status: str) -> None:
    assert status_of(probability, relevance, citations) == status


def test_full_context_is_not_cut_to_the_rerankers_limit(settings: Settings) -> None:
    few = settings.model_copy(update={"reranker_top_n": 1, "locality_expansion_radius": 0})
    result = ask(few, AnswerRequest((ASYNCIO, QUEUES), QUESTION, mode="full_context", expansion_budget=0))
    assert result.mode == "full_context"
    assert len({one.chunk_id for one in result.citations}) == result.corpus_stats.total_parent_chunks > 1


def test_full_context_keeps_passages_that_say_the_same(settings: Settings) -> None:
    tea = page("Tea", "Green tea is steeped at eighty degrees for two minutes, black tea at the boil for four.")
    site = LocalSite({"/a": tea, "/b": tea})
    request = AnswerRequest((f"{SITE}/a", f"{SITE}/b"), "How long is green tea steeped?", expansion_budget=0)
    assert len(ask(settings, replace(request, mode="full_context"), site).citations) == 2
    assert len(ask(settings, replace(request, mode="chunk"), site).citations) == 1


def test_nothing_worth_following_is_a_stop_of_its_own(settings: Settings) -> None:
    site = LocalSite({"/": page("Alone", "A page without any link, about nothing in particular.")})
    result = ask(settings, AnswerRequest((f"{SITE}/",), "How tall is the Eiffel tower?"), site)
    assert result.final_decision.rule == "no-candidates"


@pytest.mark.slow
def test_cancelling_leaves_a_failed_run_and_whole_documents(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings) as corpus:
            engine = OrchestratorEngine(corpus)
            task: asyncio.Task[OrchestrationResult]

            def cancel(phase: str, done: object) -> None:
                if phase == "expand_breadth":
                    task.cancel()

            task = asyncio.create_task(engine.run(AnswerRequest((ASYNCIO,), QUESTION), cancel))
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(work())
    assert rows(settings, "SELECT state, reason FROM answer_runs") == [("failed", "cancelled")]
    assert rows(settings, "SELECT count(*) FROM documents WHERE status = 'ready'") >= [(1,)]


@st.composite
def graphs(draw: st.DrawFn) -> LocalSite:
    """Random link graphs with cycles, dead links, redirects and redirect loops."""
    names = [f"/p{number}" for number in range(draw(st.integers(1, 8)))]
    words = ["bridge span", "longest bridge", "river", "steel", "bridge record", "tolls"]
    targets = [*names, "/dead", "/moved", "/loop", "/p0?page=2"]
    pages = {
        name: page(
            draw(st.sampled_from(words)),
            "Some words about the longest bridge span and more.",
            {draw(st.sampled_from(targets)): draw(st.sampled_from(words)) for _ in range(draw(st.integers(0, 6)))},
        )
        for name in names
    }
    return LocalSite(pages, {"/moved": names[-1], "/loop": "/loop"})


@given(site=graphs(), budget=st.integers(0, 4), pages=st.integers(1, 5))
@hypothesis_settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)
@pytest.mark.slow
def test_no_graph_exceeds_a_budget(settings: Settings, site: LocalSite, budget: int, pages: int) -> None:
    limited = settings.model_copy(update={"webrag_max_pages": pages})
    request = AnswerRequest((f"{SITE}/p0",), "longest bridge span", expansion_budget=budget, policy="fixed-k:9")
    result = ask(limited, request, site)
    assert result.total_iterations <= budget
    assert len(site.requests) <= len(result.documents)
    assert pages_tried(result.documents) <= pages
    assert result.final_decision.action == "stop"
    assert len({document.url for document in result.documents}) == len(result.documents)
