"""The demo question, answered by the core alone, or by runs of jobs `answer` and `ask` on the instance of `webrag up`.

Dagster is imported only for the runs.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import dagster as dg

    from webrag_core.answering.models import Answer
    from webrag_core.orchestration.models import OrchestrationResult
    from webrag_dagster.resources import CorpusResource

DEMO_URL = "https://docs.python.org/3.11/library/numeric.html"
DEMO_QUERY = "How do I compute the greatest common divisor of several integers?"


def answer_demo(site: Path) -> tuple[OrchestrationResult, Answer]:
    """The evidence and the answer in prose, from the frozen `site`, without Dagster. Raises WebragError."""
    return asyncio.run(_answers(site))


async def _answers(site: Path) -> tuple[OrchestrationResult, Answer]:
    from webrag_core.application.operations import Ask, GatherEvidence
    from webrag_core.application.services import Services
    from webrag_core.cli.progress import show_progress
    from webrag_core.config import load_settings
    from webrag_core.indexing.pipeline import Corpus

    # `run`: the walk is worth seeing the second time, too
    walk = GatherEvidence.of(urls=[DEMO_URL], question=DEMO_QUERY, scope="run")
    ask = Ask.of(question=DEMO_QUERY, urls=[DEMO_URL])
    async with Corpus.open(load_settings(webrag_warc=site)) as corpus:
        services = Services.over(corpus)
        with show_progress() as show:
            return await walk.run(services, show), await ask.run(services, show)


def run_demo(site: Path) -> tuple[OrchestrationResult, Answer, str]:
    """The evidence, the answer in prose, and the id of the run that gathered the evidence. Raises WebragError."""
    import dagster as dg

    from webrag_core.answering.models import Answer
    from webrag_core.orchestration.models import OrchestrationResult
    from webrag_dagster.resources import CorpusResource

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
    import click
    import dagster as dg

    from webrag_core.errors import WebragError
    from webrag_dagster.definitions import definitions

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
