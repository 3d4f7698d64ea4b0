"""What runs right now, so that nothing is asked for twice."""

from __future__ import annotations

from dataclasses import dataclass

import dagster as dg

_UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
_MOST = 2_000


@dataclass(frozen=True, slots=True)
class Activity:
    """Partitions that some unfinished run works on, whether any run answers a question, and unfinished runs in all."""

    partitions: frozenset[str]
    answering: bool
    runs: int


def activity(instance: dg.DagsterInstance) -> Activity:
    """One query. An answer run names no partition: it may touch any source, and reports that itself when it ends."""
    runs = instance.get_runs(dg.RunsFilter(statuses=_UNFINISHED), limit=_MOST)
    keys = {run.tags["dagster/partition"] for run in runs if "dagster/partition" in run.tags}
    return Activity(frozenset(keys), any(run.job_name == "answer" for run in runs), len(runs))
