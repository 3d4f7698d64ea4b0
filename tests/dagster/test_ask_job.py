"""Job `ask` on the frozen Python documentation: an answer in prose, its page, and how it fails."""

from __future__ import annotations

from typing import Any

import dagster as dg
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from webrag_core.answering.models import Answer
from webrag_core.config import load_settings
from webrag_dagster.markdown import prose
from webrag_dagster.processes.ui_pages import WithPages

QUEUES = "https://docs.python.org/3.11/library/asyncio-queue.html"
QUESTION = "Is asyncio.Queue thread safe?"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def ask(definitions: dg.Definitions, instance: dg.DagsterInstance, **config: Any) -> dg.ExecuteInProcessResult:
    """Run the job as the launchpad would."""
    job = definitions.resolve_job_def("ask")
    return job.execute_in_process(
        instance=instance, run_config={"question": QUESTION, "urls": [QUEUES], **config}, raise_on_error=False
    )


@pytest.mark.usefixtures("corpus_environment")
@pytest.mark.slow
def test_a_run_leaves_sentences_quotes_and_a_page(definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
    done = ask(definitions, instance)
    assert done.success
    answer = Answer.model_validate(done.output_for_node("compose_answer"))
    [record] = instance.fetch_materializations(dg.AssetKey("prose_answers"), limit=5).records
    assert record.asset_materialization is not None
    metadata = record.asset_materialization.metadata
    assert list(metadata)[:3] == ["verdict", "question", "answer"]
    run = instance.get_run_by_id(done.run_id)
    assert run is not None
    assert run.tags["webrag/question"] == QUESTION
    assert metadata["status"].value == answer.status
    table = metadata["sentences"]
    assert isinstance(table, dg.TableMetadataValue)
    assert [row.data["sentence"] for row in table.records] == [sentence.text for sentence in answer.sentences]
    ui = TestClient(WithPages(Starlette(), load_settings()))
    assert QUESTION in ui.get(str(metadata["read_it"].value)).text
    assert metadata["command"].value == f"webrag answers show {answer.answer_id}"
    markdown = str(metadata["answer"].value)
    assert all(prose(sentence.text) in markdown for sentence in answer.sentences if "\n" not in sentence.text)


@pytest.mark.usefixtures("corpus_environment")
def test_a_failure_is_one_sentence(definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
    done = ask(definitions, instance, question="  ")
    assert not done.success
    run = instance.get_run_by_id(done.run_id)
    assert run is not None
    assert run.tags["webrag/stop_reason"] == "invalid_input"


@pytest.mark.usefixtures("corpus_environment")
@pytest.mark.parametrize(
    ("job", "given"),
    [
        ("ask", None),
        ("ask", TRACE),
        ("answer", TRACE),
        ("ask", f"00-{TRACE}-00f067aa0ba902b7-01"),
        ("ask", TRACE.upper()),
    ],
)
def test_a_run_is_tagged_with_its_trace(
    definitions: dg.Definitions, instance: dg.DagsterInstance, job: str, given: str | None
) -> None:
    config = {"ask": {"question": " "}, "answer": {"question": " "}}[job]  # what is refused has a trace, too
    tags = {} if given is None else {"webrag/trace_id": given}
    done = definitions.resolve_job_def(job).execute_in_process(
        instance=instance, run_config=config, raise_on_error=False, tags=tags
    )
    run = instance.get_run_by_id(done.run_id)
    assert run is not None
    tagged = run.tags["webrag/trace_id"]
    assert len(tagged) == 32
    assert (tagged == TRACE) == (given is not None and given == given.lower())
