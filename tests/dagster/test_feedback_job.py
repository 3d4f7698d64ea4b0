"""Job `feedback`: from the launchpad into the table, and how it fails."""

from __future__ import annotations

from typing import Any

import dagster as dg
import pytest

from tests.dagster.test_ask_job import ask


def say(definitions: dg.Definitions, instance: dg.DagsterInstance, **config: Any) -> dg.ExecuteInProcessResult:
    """Run the job as the launchpad would."""
    job = definitions.resolve_job_def("feedback")
    return job.execute_in_process(instance=instance, run_config=config, raise_on_error=False)


@pytest.mark.usefixtures("corpus_environment")
@pytest.mark.slow
def test_a_person_says_what_is_wrong(definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
    asked = ask(definitions, instance)
    answer = asked.output_for_node("compose_answer")
    citation = answer["citations"][0]
    done = say(
        definitions,
        instance,
        answer=answer["answer_id"],
        kind="better_source",
        actor="Ada",
        better_url=citation["url"],
        quote=citation["quote"],
    )
    assert done.success
    stored = done.output_for_node("record_feedback")
    assert (stored["actor"], stored["actor_kind"], stored["weight"], stored["state"]) == ("Ada", "person", 1.0, "new")
    assert stored["suggested"]["quote"] == citation["quote"]
    run = instance.get_run_by_id(done.run_id)
    assert run is not None
    assert run.tags["webrag/feedback"] == str(stored["id"])

    failed = say(definitions, instance, answer=99, kind="helpful", actor="Ada")
    assert not failed.success
    run = instance.get_run_by_id(failed.run_id)
    assert run is not None
    assert run.tags["webrag/stop_reason"] == "invalid_input"
