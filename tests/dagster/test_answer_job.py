"""Job `answer` on the frozen Python documentation: what it leaves in Dagster, and how it fails."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import dagster as dg
import psycopg
import pytest

from webrag_core.orchestration.models import OrchestrationResult
from webrag_core.orchestration.run import Run
from webrag_core.showing.passage import plain_lines
from webrag_dagster.markdown import FOLD, passage_markdown

ASYNCIO = "https://docs.python.org/3.11/library/asyncio.html"
QUESTION = "Are asyncio queues thread-safe, and how can get() be given a timeout?"
CORPUS = ("documents", "link_candidates", "chunks", "embeddings")


def ask(definitions: dg.Definitions, instance: dg.DagsterInstance, **config: Any) -> dg.ExecuteInProcessResult:
    """Run the job as the launchpad would."""
    job = definitions.resolve_job_def("answer")
    return job.execute_in_process(
        instance=instance, run_config={"urls": [ASYNCIO], "question": QUESTION, **config}, raise_on_error=False
    )


def materializations(instance: dg.DagsterInstance, asset: str) -> list[dg.AssetMaterialization]:
    """All of one asset, newest first."""
    records = instance.fetch_materializations(dg.AssetKey(asset), limit=100).records
    return [record.asset_materialization for record in records if record.asset_materialization]


def failure_text(done: dg.ExecuteInProcessResult) -> str:
    """What the UI shows of a failed run."""
    assert not done.success
    [event] = [event for event in done.all_events if event.is_step_failure]
    data, error = event.step_failure_data.user_failure_data, event.step_failure_data.error
    assert data is not None
    assert error is not None
    assert error.message == data.description
    assert (error.stack, error.cause) == ([], None), "what happened, and no wall of frames under it"
    return str(data.description)


@pytest.mark.slow
@pytest.mark.usefixtures("corpus_environment")
def test_a_run_leaves_rounds_sources_and_a_cited_answer(
    definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    done = ask(definitions, instance)
    assert done.success
    result = OrchestrationResult.model_validate(done.output_for_node("find_evidence"))
    assert result.total_iterations >= 1

    rounds = instance.fetch_observations(dg.AssetKey("answer_rounds"), limit=100, ascending=True).records
    seen = [record.asset_observation.metadata for record in rounds if record.asset_observation]
    assert [metadata["round"].value for metadata in seen] == [str(done.round) for done in result.rounds]
    assert not any(isinstance(value.value, int | float) for metadata in seen for value in metadata.values())
    assert seen[-1]["rule"].value == result.final_decision.rule
    assert seen[-1]["reason"].value == result.final_decision.reason
    assert seen[0]["decision"].value == result.rounds[0].decision.action

    assert instance.get_dynamic_partitions("webrag_source") == ["docs.python.org"]
    for asset in CORPUS:
        [event] = materializations(instance, asset)
        assert event.partition == "docs.python.org"
        assert len((event.tags or {})["dagster/data_version"]) == 64
    assert materializations(instance, "documents")[0].metadata["pages"].value == len(result.documents)

    [answer] = materializations(instance, "answers")
    markdown = str(answer.metadata["answer"].value)
    read = plain_lines(result.citations[0].verbatim_text)
    assert read
    assert passage_markdown(read).split("\n")[0] in markdown.replace("**", "")
    assert FOLD not in markdown
    assert result.final_decision.rule in markdown
    trace = answer.metadata["trace"]
    assert isinstance(trace, dg.TableMetadataValue)
    assert [record.data["rule"] for record in trace.records] == [done.decision.rule for done in result.rounds]
    assert "data:image/svg+xml;base64," in str(answer.metadata["scores_per_round"].value)
    walk = str(answer.metadata["walk"].value)
    assert walk.startswith("![Walk of the answer, from page to page](data:image/svg+xml;base64,")
    assert all(f"`{page.url}`" in walk for page in result.read_documents() if page.outcome != "duplicate")
    assert answer.metadata["pages_from"].value == "WARC snapshot python-3.11.warc.gz"

    run = instance.get_run_by_id(done.run_id)
    assert run is not None
    assert run.tags["webrag/source"] == "docs.python.org"
    assert run.tags["webrag/verdict"] == result.status
    assert run.tags["webrag/question"] == QUESTION[:60]
    assert "webrag/decision" not in run.tags
    assert list(answer.metadata)[:3] == ["verdict", "question", "answer"]
    assert run.tags["webrag/stop_reason"] == result.final_decision.rule
    assert float(str(answer.metadata["seconds_since_launch"].value)) >= float(str(answer.metadata["seconds"].value))
    assert len(instance.all_logs(done.run_id)) <= 60


@pytest.mark.slow
@pytest.mark.usefixtures("corpus_environment")
def test_the_same_question_again_gives_the_same_evidence_and_no_new_corpus_event(
    definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    first, second = (
        OrchestrationResult.model_validate(ask(definitions, instance, scope=["run"]).output_for_node("find_evidence"))
        for _ in range(2)
    )
    quotes = [
        [(citation.source_url, citation.quote_sha256, citation.relevance) for citation in result.citations]
        for result in (first, second)
    ]
    assert quotes[0] == quotes[1]
    assert [len(materializations(instance, asset)) for asset in (*CORPUS, "answers")] == [1, 1, 1, 1, 2]


@pytest.mark.usefixtures("corpus_environment")
@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"question": "  "}, "the question is empty [invalid_input]"),
        ({"urls": ["not a url"]}, "[invalid_url]"),
        ({"expansion_budget": -1}, "expansion_budget: cannot be negative"),
        ({"mode": "sideways"}, "mode: Input should be 'chunk'"),
        ({"policy": "coin-toss"}, "[invalid_input]"),
        ({"urls": ["https://docs.python.org/3.11/nowhere.html"]}, "[not_found]"),
    ],
)
def test_bad_input_fails_with_a_readable_message_and_is_not_retried(
    definitions: dg.Definitions, instance: dg.DagsterInstance, config: dict[str, Any], message: str
) -> None:
    done = ask(definitions, instance, **config)
    assert message in failure_text(done)
    [run] = instance.get_runs()
    assert f"[{run.tags['webrag/stop_reason']}]" in failure_text(done)
    assert materializations(instance, "answers") == []
    assert instance.get_dynamic_partitions("webrag_source") == []


def test_an_unreachable_database_is_a_readable_failure(
    definitions: dg.Definitions, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    assert "[database_unavailable]" in failure_text(ask(definitions, instance))


@pytest.mark.slow
def test_a_cancelled_run_still_reports_what_it_stored(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    corpus_environment: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def cancelled_here(*_: object) -> None:
        # what the button "Terminate" does: mark the run, then interrupt its process
        instance.report_run_canceling(instance.get_runs()[0])
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(30)

    monkeypatch.setattr(Run, "_act", cancelled_here)
    ask(definitions, instance)
    assert [len(materializations(instance, asset)) for asset in (*CORPUS, "answers")] == [1, 1, 1, 1, 0]
    with psycopg.connect(corpus_environment) as connection:
        assert connection.execute("SELECT state, reason FROM answer_runs").fetchall() == [("failed", "cancelled")]
    [run] = instance.get_runs()
    assert run.status is dg.DagsterRunStatus.CANCELED
    assert run.tags["webrag/stop_reason"] == "cancelled"
    errors = [
        error
        for log in instance.all_logs(run.run_id)
        if (event := log.dagster_event) is not None
        for error in (getattr(event.event_specific_data, "error", None),)
        if error is not None
    ]
    assert errors
    assert all(error.stack == [] and "cancelled" in error.message for error in errors), "no wall of frames"
