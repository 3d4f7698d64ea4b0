"""The demo question, as runs of the jobs `answer` and `ask` on the instance that `webrag up` shows."""

from __future__ import annotations

from pathlib import Path

import click
import dagster as dg

from webrag_core.answering.models import Answer
from webrag_core.errors import WebragError
from webrag_core.orchestration.models import OrchestrationResult
from webrag_dagster.definitions import definitions
from webrag_dagster.resources import CorpusResource


def run_demo(site: Path) -> tuple[OrchestrationResult, Answer, str]:
    """The evidence, the answer in prose, and the id of the run that gathered the evidence. Raises WebragError."""
    frozen = CorpusResource(warc=str(site.resolve()))
    with dg.DagsterInstance.get() as instance:
        # `run`: the walk is worth seeing the second time, too
        walk = _execute("answer", {"scope": ["run"]}, instance, frozen)
        prose = _execute("ask", {}, instance, frozen)
        result = OrchestrationResult.model_validate(walk.output_for_node("find_evidence"))
        return result, Answer.model_validate(prose.output_for_node("compose_answer")), walk.run_id


def _execute(
    job: str, config: dict[str, object], instance: dg.DagsterInstance, corpus: CorpusResource
) -> dg.ExecuteInProcessResult:
    try:
        return (
            definitions()
            .resolve_job_def(job)
            .execute_in_process(run_config=config, instance=instance, resources={"corpus": corpus})
        )
    except dg.Failure as failure:
        if isinstance(failure.__cause__, WebragError):
            raise failure.__cause__ from None
        raise
    except dg.DagsterExecutionInterruptedError:
        raise click.exceptions.Abort from None
