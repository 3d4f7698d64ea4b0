"""The hints of a request, through the whole loop: each changes what it should and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest

from tests.chat_server import analysis, sent_data
from tests.local_site import SITE, LocalSite, page
from tests.provider_server import Call, Reply, serving
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.models import EvaluationSignals, ExpansionDecision, OrchestrationResult
from webrag_core.orchestration.policies import POLICIES
from webrag_core.orchestration.request import KNOWN_SKIPPED

QUERY = "How is green tea brewed?"
BREWING = (
    "Green tea is brewed with water of eighty degrees for two minutes, because boiling water makes the leaves bitter"
    " and takes away the fine scent of the first harvest."
)
KEEPING = (
    "Brewed green tea should be drunk on the day it was made. Dry leaves keep for one year in a tin that lets in"
    " neither light nor air, and no longer than that."
)
PAGES = {"/brewing": page("Brewing", BREWING), "/keeping": page("Keeping", KEEPING)}
URLS = tuple(f"{SITE}{path}" for path in PAGES)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


def ask(settings: Settings, *, pages: dict[str, str] | None = None, **hints: Any) -> OrchestrationResult:
    given = {"urls": URLS, "question": QUERY, "expansion_budget": 0, **hints}

    async def work() -> OrchestrationResult:
        async with Corpus.open(settings, LocalSite(pages or PAGES)) as corpus:
            return await OrchestratorEngine(corpus).run(AnswerRequest(**given))

    return asyncio.run(work())


def evidence(result: OrchestrationResult) -> list[tuple[str, float, float]]:
    """What was found, with the scores of retrieval and of the reranker."""
    return [(c.chunk.source_url, c.chunk.raw_score, c.reranked_score) for c in result.chunks]


def without_times(result: OrchestrationResult) -> dict[str, Any]:
    """Everything that two runs of one request have in common."""
    rounds = [done.model_dump(exclude={"elapsed_ms"}) for done in result.rounds]
    chunks = [ranked.model_dump() for ranked in result.chunks]
    kept = result.model_dump(
        exclude={"answer_id", "trace_id", "timing", "rounds", "chunks", "documents", "total_urls_ingested"}
    )
    return {**kept, "rounds": rounds, "chunks": chunks}


def test_passages_that_repeat_what_is_known_are_no_evidence(settings: Settings) -> None:
    plain = ask(settings)
    hinted = ask(settings, known_context=f"I read: {BREWING}")
    assert [url for url, *_ in evidence(plain)] == list(URLS)
    assert evidence(hinted) == [found for found in evidence(plain) if found[0] == URLS[1]]  # scored as without the hint
    assert [citation.source_url for citation in hinted.citations] == [URLS[1]]
    assert hinted.query_analysis == plain.query_analysis
    assert (plain.warnings, hinted.warnings) == ([], [KNOWN_SKIPPED])


def test_what_is_known_does_not_count_as_found(settings: Settings) -> None:
    plain, hinted = ask(settings).rounds[0], ask(settings, known_context=BREWING).rounds[0]
    assert (plain.signals.n_chunks, hinted.signals.n_chunks) == (2, 1)
    assert hinted.signals.top_score < plain.signals.top_score
    assert hinted.signals.best_raw_score < plain.signals.best_raw_score
    assert [chunk.url for chunk in hinted.top_chunks] == [URLS[1]]


def test_markdown_and_capitals_do_not_hide_a_repetition(settings: Settings) -> None:
    linked = PAGES["/brewing"].replace("eighty degrees", '<a href="/degrees">eighty <em>degrees</em></a>')
    hinted = ask(settings, pages={**PAGES, "/brewing": linked}, known_context=BREWING.upper())
    assert [url for url, *_ in evidence(hinted)] == [URLS[1]]


@pytest.mark.parametrize("context", ["Black tea is from Assam.", "Green tea is brewed with water of eighty degrees."])
def test_what_says_more_than_is_known_stays(settings: Settings, context: str) -> None:
    assert without_times(ask(settings, known_context=context)) == without_times(ask(settings))


def test_nothing_is_left_when_all_of_it_is_known(settings: Settings) -> None:
    result = ask(settings, known_context=f"{BREWING} {KEEPING}")
    assert (result.chunks, result.citations) == ([], [])
    assert result.rounds[0].signals.n_chunks == 0
    assert KNOWN_SKIPPED in result.warnings


def test_what_is_known_does_not_come_back_as_a_neighbour(settings: Settings) -> None:
    fill = " ".join(f"Harvest number {n} was poor in the hills." for n in range(40))
    sections = "".join(f"<h2>{name}</h2><p>{text}</p>" for name, text in (("Brewing", BREWING), ("Keeping", KEEPING)))
    body = f"<html><body><main><h1>Tea</h1>{sections}<h2>Harvests</h2><p>{fill}</p></main></body></html>"
    small = settings.model_copy(update={"parent_max_tokens": 64, "min_score_for_expansion": 0.0, "reranker_top_n": 1})
    request: dict[str, Any] = {
        "pages": {"/": body},
        "urls": (f"{SITE}/",),
        "question": "How long do dry leaves keep?",
        "mode": "chunk",
    }
    plain = ask(small, **request)
    assert any("eighty degrees" in c.chunk.text for c in plain.chunks if c.is_locality_expanded)
    hinted = ask(small, **request, known_context=f"Brewing {BREWING}")
    assert hinted.chunks
    assert not any("eighty degrees" in c.chunk.text for c in hinted.chunks)


def test_an_intent_is_the_query_type_and_nothing_else_where_words_are_matched(settings: Settings) -> None:
    plain, hinted = without_times(ask(settings)), without_times(ask(settings, intent="comparison"))
    assert plain["query_analysis"].pop("query_type") == "how_to"
    assert hinted["query_analysis"].pop("query_type") == "comparison"
    assert hinted == plain


def test_constraints_reach_the_reranker_and_not_the_search(settings: Settings) -> None:
    plain, hinted = ask(settings), ask(settings, constraints=("says how long leaves keep",))
    assert hinted.query_analysis == plain.query_analysis
    searched = [(chunk.chunk.source_url, chunk.chunk.raw_score) for chunk in plain.chunks]
    assert sorted((chunk.chunk.source_url, chunk.chunk.raw_score) for chunk in hinted.chunks) == sorted(searched)
    assert sorted(evidence(hinted)) != sorted(evidence(plain))


def test_a_reranker_that_follows_instructions_is_told_intent_and_constraints(settings: Settings) -> None:
    def rank(call: Call) -> dict[str, Any]:
        count = len(call.body["documents"])
        return {"results": [{"index": index, "relevance_score": 0.5} for index in range(count)]}

    with serving(rank) as server:
        remote = settings.model_copy(update={"reranker_provider": "jina", "reranker_base_url": server.url})
        ask(remote)
        ask(remote, intent="how_to", constraints=("with times", "with pictures"), known_context="Tea is green.")
    queries = [call.body["query"] for call in server.calls]
    assert queries == [QUERY, f"looking for instructions; with times; with pictures\n{QUERY}"]


@pytest.mark.parametrize("context", ["", " \n", "tea\0", "\udcff", "tea " * 12_501])
def test_a_known_context_that_is_none_is_refused_before_anything_is_written(settings: Settings, context: str) -> None:
    with pytest.raises(InvalidInputError, match="known context"):
        ask(settings, known_context=context)
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url) as connection:
        assert connection.execute("SELECT count(*) FROM answer_runs").fetchone() == (0,)


# --- the analysis within the loop ---


def with_model(settings: Settings, url: str) -> Settings:
    return settings.model_copy(update={"decomposition_mode": "llm", "orchestration_llm_base_url": url})


def test_the_sub_queries_of_a_model_are_searched(settings: Settings) -> None:
    with serving(analysis("shelf life of dry leaves", query_type="factual")) as server:
        result = ask(with_model(settings, server.url), known_context="Tea is a plant.")
    assert sent_data(server.calls[0]) == {"query": QUERY, "known_context": "Tea is a plant."}
    assert result.query_analysis.sub_queries == [QUERY, "shelf life of dry leaves"]
    assert result.query_analysis.query_type == "factual"
    assert {chunk.source_sub_query for chunk in result.chunks} == {QUERY, "shelf life of dry leaves"}
    assert result.warnings == []


def test_a_model_that_fails_is_a_warning_in_the_result_and_with_the_run(settings: Settings) -> None:
    with serving(Reply({}, 401)) as server:
        result = ask(with_model(settings, server.url))
    assert result.chunks
    [warning] = result.warnings
    assert "analysed by rules instead" in warning
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url) as connection:
        assert connection.execute("SELECT warnings FROM answer_runs").fetchone() == ([warning],)


class OtherWords:
    """A policy that always wants other words."""

    name = "other-words"
    rephrases = True
    looks_ahead = False
    rules = ()

    def __init__(self, settings: Settings) -> None:
        pass

    def decide(self, history: Sequence[EvaluationSignals]) -> ExpansionDecision:
        return ExpansionDecision(
            action="expand_intent", rule="again", reason="more!", confidence="low", probability_complete=0.0
        )


def test_the_rewrites_of_a_model_are_searched_when_a_policy_wants_other_words(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(POLICIES, "other-words", OtherWords)
    answer = analysis(QUERY, rewrites=["tin without light and air", "bitter leaves"])
    with serving(answer) as server:
        result = ask(with_model(settings, server.url), policy="other-words", expansion_budget=1)
    assert len(server.calls) == 1
    assert result.rounds[-1].action_taken == "expand_intent"
    assert {chunk.source_sub_query for chunk in result.chunks} & {"tin without light and air", "bitter leaves"}
    assert result.query_analysis.sub_queries == [QUERY]


@pytest.mark.parametrize(("mode", "rounds"), [("none", 0), ("rule_based", 1)])
def test_a_query_that_is_to_be_left_alone_is_never_rewritten(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, mode: str, rounds: int
) -> None:
    monkeypatch.setitem(POLICIES, "other-words", OtherWords)
    left = settings.model_copy(update={"decomposition_mode": mode})
    result = ask(left, policy="other-words", expansion_budget=1)
    assert result.total_iterations == rounds
    if mode == "none":
        assert result.final_decision.rule == "no-rewrite"
