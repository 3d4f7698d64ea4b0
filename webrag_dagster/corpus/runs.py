"""Runs of the instance: those in progress, to avoid duplicate requests, and partitions whose last attempt failed."""

from __future__ import annotations

from dataclasses import dataclass

import dagster as dg

from webrag_dagster.corpus.layers import DOCUMENTS, SOURCES, UPSTREAM

_UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
_AT_WORK = [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]
_MOST = 2_000

REFRESH = "refresh"
"""Name of the job that asks a site."""
ASKED_BY = "webrag/asked_by"
"""Run tag: the sensor that requested it."""

MOST_RETRIES = 3
"""Attempts of a refresh after the first one, within its run."""
ANSWERS = {"webrag/kind": "answer"}
"""Tag of jobs that answer: their runs may fetch pages of any source, and report those themselves."""


@dataclass(frozen=True, slots=True)
class Activity:
    """Partitions with an unfinished run, and whether an answer run works: it has no partition, as it may touch any."""

    partitions: frozenset[str]
    answering: bool


def activity(instance: dg.DagsterInstance) -> Activity:
    """Query the unfinished runs. An answer run that waits in the queue touches nothing yet."""
    runs = instance.get_runs(dg.RunsFilter(statuses=_UNFINISHED), limit=_MOST)
    keys = {run.tags["dagster/partition"] for run in runs if "dagster/partition" in run.tags}
    at_work = instance.get_runs(dg.RunsFilter(statuses=_AT_WORK, tags=ANSWERS), limit=1)
    return Activity(frozenset(keys), bool(at_work))


def asked_for(instance: dg.DagsterInstance, sensor: str) -> int:
    """Unfinished runs that `sensor` requested, as its requests say. Runs of others do not count, however many wait."""
    return len(instance.get_runs(dg.RunsFilter(statuses=_UNFINISHED, tags={ASKED_BY: sensor}), limit=_MOST))


def is_refreshing(instance: dg.DagsterInstance, key: str) -> bool:
    """Whether an unfinished run of this partition asks the site. One that only indexes does not stop a refresh."""
    runs = instance.get_runs(dg.RunsFilter(statuses=_UNFINISHED, tags={"dagster/partition": key}), limit=_MOST)
    return any(
        run.job_name == REFRESH if run.asset_selection is None else dg.AssetKey(DOCUMENTS) in run.asset_selection
        for run in runs
    )


def refresh_ids(run: dg.DagsterRun, attempt: int) -> list[str]:
    """Ids of the refreshes of a run, oldest first, up to this attempt of its step (0 = the first one). Those of a run
    that it repeats, as it ended without a verdict, are among them."""
    repeated = [run.tags[tag] for tag in ("dagster/root_run_id", "dagster/parent_run_id") if tag in run.tags]
    ids = [_refresh_id(run_id, number) for run_id in dict.fromkeys(repeated) for number in range(MOST_RETRIES + 1)]
    return ids + [_refresh_id(run.run_id, number) for number in range(attempt + 1)]


def _refresh_id(run_id: str, attempt: int) -> str:
    return f"dagster-{run_id}" + (f"-{attempt}" if attempt else "")


@dataclass(frozen=True, slots=True)
class FailedPartition:
    """One partition whose last attempt failed; `asset` is the first of the corpus assets that did."""

    key: str
    asset: str
    run_id: str
    reason: str
    permanent: bool


def failed_partitions(instance: dg.DagsterInstance) -> list[FailedPartition]:
    """Partitions whose last attempt failed, by key; the upstream asset counts when several failed in one run."""
    keys = set(instance.get_dynamic_partitions(str(SOURCES.name)))
    failed: dict[str, FailedPartition] = {}
    for name in UPSTREAM:
        attempts = (
            instance.event_log_storage.get_latest_asset_partition_materialization_attempts_without_materializations(
                dg.AssetKey(name)
            )
        )
        for key, (run_id, _) in attempts.items():
            if key not in keys or key in failed:
                continue
            run = instance.get_run_by_id(run_id)
            if run is None or run.status is not dg.DagsterRunStatus.FAILURE:
                continue
            permanent = run.tags.get("webrag/permanent") == "true"
            failed[key] = FailedPartition(key, name, run_id, _reason(instance, run), permanent)
    return [failed[key] for key in sorted(failed)]


def _reason(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str:
    """Message of the first failed step, else the run's tag."""
    failures = instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.STEP_FAILURE, limit=1).records
    event = failures[0].event_log_entry.dagster_event if failures else None
    if event is not None:
        data = event.step_failure_data
        if data.user_failure_data is not None and data.user_failure_data.description:
            return data.user_failure_data.description[:300]
        if data.error is not None:
            return " ".join(data.error.message.split())[:300]
    return run.tags.get("webrag/failure", "the run ended without a failed step: see its log")
