"""What a supervisor leaves behind that was killed: its services, each a process group, and its temporary folder."""

from __future__ import annotations

import os
import shutil
import signal
import time

import psutil

from webrag_dagster.processes.record import Mark, Record
from webrag_dagster.processes.services import signal_group

TEMPORARY = "webrag-"
"""How the names of temporary folders begin; nothing else is ever removed."""

_GRACE = 20.0
_SECONDS_TO_DIE = 5.0
_TICK = 0.1


def end_leftovers(record: Record) -> None:
    """End every process in the record's groups, killing what does not listen, and remove the folder.

    Runs end with the daemon, which is given the time to ask them. Processes that only have the id of a recorded one
    are left alone. Safe to call when all is gone already.
    """
    for number, seconds in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, _SECONDS_TO_DIE)):
        for mark in record.groups:
            if _members(mark):
                signal_group(mark.pid, number)
        deadline = time.monotonic() + seconds
        while any(_members(mark) for mark in record.groups) and time.monotonic() < deadline:
            time.sleep(_TICK)
    if record.folder is not None and record.folder.name.startswith(TEMPORARY):
        shutil.rmtree(record.folder, ignore_errors=True)  # its owner may have removed it before it died


def await_guard(record: Record) -> None:
    """Give the guard of a supervisor that is gone the time to do its work, so that nothing is asked to end twice."""
    deadline = time.monotonic() + _GRACE + 2 * _SECONDS_TO_DIE
    while record.guard is not None and _is_there(record.guard) and time.monotonic() < deadline:
        time.sleep(_TICK)


def _members(mark: Mark) -> list[psutil.Process]:
    """The living processes of a group, also when its leader is gone; none when the id is another process's by now."""
    try:
        if not mark.is_of(psutil.Process(mark.pid)):
            return []
    except psutil.NoSuchProcess:
        pass  # the number of a group that has members is not given away
    return [process for process in psutil.process_iter() if _belongs(process, mark)]


def _belongs(process: psutil.Process, mark: Mark) -> bool:
    try:
        in_group = os.getpgid(process.pid) == os.getsid(process.pid) == mark.pid
        return in_group and mark.began_before(process) and process.status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, PermissionError, psutil.Error):
        return False  # gone, or somebody else's


def _is_there(mark: Mark) -> bool:
    try:
        process = psutil.Process(mark.pid)
        return mark.is_of(process) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
