"""Job `forget`: remove a page, a source or an answer on request, and take what was removed off the disk."""

from typing import TYPE_CHECKING, Any

import dagster as dg
from pydantic import Field

from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.corpus.forget import Removal
    from webrag_core.feedback.scrub import ScrubReport


class ForgetConfig(dg.Config):
    """Config for the launchpad."""

    target: str = Field(
        default="",
        description="URL of a page, key of a source, or number of an answer. Dagster keeps it with the run. Empty with"
        " scrub: nothing is removed.",
    )
    scrub: bool = Field(
        default=False,
        description="Take what this and earlier runs removed off the disk: every table is written anew, and whoever"
        " reads it waits meanwhile.",
    )


@dg.config_mapping
def to_be_removed(config: ForgetConfig) -> dict[str, Any]:
    """Lift the op's config to the top of the launchpad."""
    return {"ops": {"remove": {"config": config.model_dump()}}}


@dg.op(description="Remove one page, source or answer from the corpus, and scrub where that is wanted.")
def remove(context: dg.OpExecutionContext, config: ForgetConfig, corpus: CorpusResource) -> None:
    """Remove it, and show the counts; the target is in no log line."""
    from webrag_core.application.upkeep import Forget, Scrub

    by = f"Dagster run {context.run_id}"

    async def work() -> "tuple[Removal | None, ScrubReport | None]":
        if not config.scrub:
            return await corpus.change(Forget.of(target=config.target, by=by)), None
        report = await corpus.change(Scrub.of(target=config.target or None, by=by, beside_others=True))
        return report.removal, report

    removal, report = run(work())
    if removal is not None:
        context.log.info(f"removed one {removal.kind}")
        context.add_output_metadata({"kind": removal.kind, "sha256": removal.subject_sha256, **removal.counts})
    if report is not None:
        context.log.info(f"wrote {report.tables} tables anew; not reached: {'; '.join(report.not_reached)}")
        context.add_output_metadata({"tables": report.tables, "not_reached": report.not_reached})


@dg.job(
    name="forget",
    config=to_be_removed,
    executor_def=dg.in_process_executor,
    tags={"dagster/max_retries": "0"},
    description=(
        "Removes a page, a source or an answer with everything derived from it. A removed page is not stored again"
        " until `webrag ingest URL` asks for it. `scrub` takes it off the disk of the database while everything else"
        " works. What Dagster itself has recorded of it (this run's configuration, tables and answers of earlier runs)"
        " stays in Dagster's storage until `webrag forget --scrub` is run, with `webrag up` stopped."
    ),
)
def forget_job() -> None:
    """One op."""
    remove()
