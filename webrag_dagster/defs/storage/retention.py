"""Job `prune_events`: keeps Dagster's event log from growing for ever."""

from datetime import UTC, datetime

import dagster as dg
from pydantic import Field


class PruneConfig(dg.Config):
    """How long events are kept."""

    log_days: int = Field(default=30, description="Days after which a finished run's log lines go.")
    asset_days: int = Field(
        default=365, description="Days after which asset events go, but for the newest per asset and partition."
    )


@dg.op(description="Delete old rows of Dagster's own event log.")
def delete_old_events(context: dg.OpExecutionContext, config: PruneConfig) -> None:
    """One pass."""
    from webrag_core.errors import WebragError
    from webrag_dagster.retention import prune
    from webrag_dagster.running import failure

    try:
        done = prune(context.instance, now=datetime.now(UTC), log_days=config.log_days, asset_days=config.asset_days)
    except WebragError as error:
        raise failure(error) from error
    context.log.info(
        f"{done.log_rows} log rows of {done.runs} runs, {done.asset_rows} asset events and {done.check_rows} checks"
        " deleted"
    )
    context.add_output_metadata(
        {
            "runs": done.runs,
            "log_rows": done.log_rows,
            "asset_rows": done.asset_rows,
            "check_rows": done.check_rows,
        }
    )


@dg.job(
    executor_def=dg.in_process_executor,
    description="Deletes old rows of Dagster's event log; what tells that something is up to date is kept.",
)
def prune_events() -> None:
    """One op."""
    delete_old_events()


nightly_prune = dg.ScheduleDefinition(
    name="nightly_prune",
    job=prune_events,
    cron_schedule="50 4 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Dagster itself never deletes an event.",
)
