"""Runs in progress, to avoid duplicate requests."""

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

ANSWERS = {"webrag/kind": "answer"}
"""Tag of jobs that answer: their runs may fetch pages of any source, and report those themselves."""


@dataclass(frozen=True, slots=True)
class Activity:
    """Partitions with an unfinished run, whether an answer run is unfinished, and the number of unfinished runs."""

    partitions: frozenset[str]
    answering: bool
    runs: int


def activity(instance: dg.DagsterInstance) -> Activity:
    """Query the unfinished runs. An answer run has no partition: it may touch any source."""
    runs = instance.get_runs(dg.RunsFilter(statuses=_UNFINISHED), limit=_MOST)
    keys = {run.tags["dagster/partition"] for run in runs if "dagster/partition" in run.tags}
    return Activity(frozenset(keys), any(run.tags.items() >= ANSWERS.items() for run in runs), len(runs))
