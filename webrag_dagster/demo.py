"""The demo question, as a run of job `answer` on the instance that `webrag up` shows."""

from __future__ import annotations

from pathlib import Path

import click
import dagster as dg

from webrag_core.errors import WebragError
from webrag_core.orchestration.models import OrchestrationResult
from webrag_dagster.definitions import definitions
from webrag_dagster.resources import CorpusResource


def run_demo(site: Path) -> tuple[OrchestrationResult, str]:
    """The answer, and the id of the run that found it. Raises WebragError."""
    frozen = CorpusResource(warc=str(site.resolve()))
    job = definitions().resolve_job_def("answer")
    with dg.DagsterInstance.get() as instance:
        try:
            # `run`: the walk is worth seeing the second time, too
            done = job.execute_in_process(
                run_config={"scope": ["run"]}, instance=instance, resources={"corpus": frozen}
            )
        except dg.Failure as failure:
            if isinstance(failure.__cause__, WebragError):
                raise failure.__cause__ from None
            raise
        except dg.DagsterExecutionInterruptedError:
            raise click.exceptions.Abort from None
        return OrchestrationResult.model_validate(done.output_for_node("find_evidence")), done.run_id
