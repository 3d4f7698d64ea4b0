"""Job `prune`: delete old history, Dagster's and the corpus' own, once a day."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import dagster as dg
from pydantic import Field

from webrag_dagster import automation
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

_FINISHED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
_BATCH = 100
_LOCATION = ".dagster/repository"


class PruneRunsConfig(dg.Config):
    """How long Dagster keeps runs."""

    days: int = Field(default=90, description="Days after which a finished run is deleted, with its events and logs.")


@dg.op(
    description="Delete old runs of this location. One that holds the newest event of an asset or partition is kept."
)
def prune_runs(context: dg.OpExecutionContext, config: PruneRunsConfig) -> None:
    """Data versions, and scores that a gate compares with, are in events: their runs are kept."""
    if config.days < 1:
        raise dg.Failure("days must be at least 1", allow_retries=False)
    before = datetime.now(UTC) - timedelta(days=config.days)
    newest = _newest(context.instance)
    deleted = retained = 0
    for run_id in list(_finished(context, before)):
        if run_id in newest or _has_scores(context.instance, run_id):
            retained += 1
            continue
        context.instance.delete_run(run_id)
        context.instance.compute_log_manager.delete_logs(prefix=[run_id])
        deleted += 1
    context.log.info(f"{deleted} runs deleted, {retained} old runs kept")
    context.add_output_metadata({"runs_deleted": deleted, "old_runs_kept": retained})


@dg.op(description="Delete what the corpus need not keep (`webrag prune`; settings *_RETENTION_DAYS).")
def prune_corpus(context: dg.OpExecutionContext, corpus: CorpusResource) -> None:
    """As the command `webrag prune`."""
    from webrag_core.application.upkeep import Prune

    counts = run(corpus.change(Prune())).deleted
    context.log.info(", ".join(f"{name} {count}" for name, count in counts.items()))
    context.add_output_metadata(dict(counts))


@dg.job(executor_def=dg.in_process_executor, description="Delete old history: Dagster's runs, and rows of the corpus.")
def prune() -> None:
    """Two independent ops."""
    prune_runs()
    prune_corpus()


nightly_prune = dg.ScheduleDefinition(
    name="nightly_prune",
    job=prune,
    cron_schedule="50 4 * * *",
    default_status=automation.SCHEDULES,
    description="Prunes every night; ages are in the launchpad of job `prune` and in the settings.",
)


def _finished(context: dg.OpExecutionContext, before: datetime) -> Iterator[str]:
    """Old runs of this code location. Those of others on the instance are not ours to delete."""
    cursor: str | None = None
    location = context.run.tags.get(_LOCATION)
    old = dg.RunsFilter(statuses=_FINISHED, updated_before=before, tags={_LOCATION: location} if location else None)
    while runs := context.instance.get_runs(old, cursor=cursor, limit=_BATCH):
        yield from (run.run_id for run in runs if run.tags.get(_LOCATION) == location)
        cursor = runs[-1].run_id


def _newest(instance: dg.DagsterInstance) -> set[str]:
    """Runs that hold the newest materialization or observation of an asset or partition."""
    records: list[dg.EventLogRecord] = []
    for key in instance.all_asset_keys():
        for kind, fetch in (
            (dg.DagsterEventType.ASSET_MATERIALIZATION, instance.fetch_materializations),
            (dg.DagsterEventType.ASSET_OBSERVATION, instance.fetch_observations),
        ):
            records += fetch(key, limit=1).records
            ids = list(instance.get_latest_storage_id_by_partition(key, kind).values())
            for start in range(0, len(ids), _BATCH):
                batch = dg.AssetRecordsFilter(asset_key=key, storage_ids=ids[start : start + _BATCH])
                records += fetch(batch, limit=_BATCH).records
    return {record.run_id for record in records}


def _has_scores(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Whether the run is an evaluation: gates compare with older ones, too."""
    from webrag_dagster.evaluation.gate import SCORES

    records = instance.get_records_for_run(run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION).records
    return any(
        event is not None and SCORES in event.metadata for event in (record.asset_materialization for record in records)
    )
