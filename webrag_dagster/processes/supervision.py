"""A supervisor whose services end with it, even when it is killed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from webrag_dagster.processes.guard import Guard
from webrag_dagster.processes.instance_lock import InstanceLock
from webrag_dagster.processes.record import Mark
from webrag_dagster.processes.services import Service, Supervisor


def supervise(lock: InstanceLock, folder: Path, services: Sequence[Service], environment: Mapping[str, str]) -> int:
    """Run the services until asked to end; returns the exit code. `folder` is temporary and theirs.

    At any time the lock's file and a guard know which processes there are.
    """
    guard = Guard(environment)

    def remember(pids: Sequence[int]) -> None:
        groups = tuple(mark for pid in pids for mark in _marks(pid))
        lock.write(guard.look_after(lock.record.model_copy(update={"folder": folder, "groups": groups})))

    try:
        remember(())
        code = Supervisor(services, environment, remember).run()
        lock.write(lock.record.model_copy(update={"folder": None, "guard": None, "groups": ()}))
        return code
    finally:
        guard.dismiss()


def _marks(pid: int) -> list[Mark]:
    try:
        return [Mark.of(pid)]
    except psutil.NoSuchProcess:
        return []  # a service that ended at once: the supervisor is about to notice, and ends its group
