"""Runs whose worker died together with its code server: nobody is left who would say that they failed.

Dagster's default launcher keeps run workers as children of the code server, which reports those that die. When the
server itself dies, its workers go with it (`webrag_dagster.processes.services`), and its successor settles their runs
here.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import dagster as dg
from dagster._core.launcher.default_run_launcher import DefaultRunLauncher
from dagster._core.storage.tags import GRPC_INFO_TAG

_LAUNCHED = GRPC_INFO_TAG
"""Tag of the runs that a code server executes; others (`webrag demo`) have a process of their own."""

_UNFINISHED = [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]


def settle_orphans(instance: dg.DagsterInstance, before: datetime) -> list[str]:
    """End the runs that were launched by a code server and not heard of since `before` (aware), when it was gone.

    Started ones fail, those that were being terminated are canceled. Returns their ids. Runs of other launchers have
    workers elsewhere, which their launcher watches: they are left alone.
    """
    if not isinstance(instance.run_launcher, DefaultRunLauncher):
        return []
    settled = []
    for record in instance.get_run_records(dg.RunsFilter(statuses=_UNFINISHED, updated_before=before)):
        run = record.dagster_run
        if _LAUNCHED not in run.tags:
            continue
        if run.status is dg.DagsterRunStatus.CANCELING:
            instance.report_run_canceled(run, message="Its worker ended together with the code server.")
        else:
            instance.report_run_failed(
                run, message="The run's worker ended together with the code server. What it had stored is kept."
            )
        settled.append(run.run_id)
    return settled


def main() -> None:
    """Settle the orphans of the instance that DAGSTER_HOME names. Argument: seconds since 1970."""
    with dg.DagsterInstance.get() as instance:
        settle_orphans(instance, datetime.fromtimestamp(float(sys.argv[1]), UTC))


if __name__ == "__main__":
    main()
