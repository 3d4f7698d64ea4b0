"""The embedded server after its last user: a process waits in its place, until a moment that later users put off.

The file `kept` of the run folder holds the process's id, and as its time the moment; its lock ends with the process.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

_FILE = "kept"
_LONGEST = 20  # bytes of it
_POLL_SECONDS = 0.01
_POLLS = 500


def keep(run_folder: Path, share: int, seconds: float) -> None:
    """Put off the end of the server by `seconds` from now: of the process that waits, or of one that is started and
    inherits `share`, the descriptor that shares `users`. Raises OSError."""
    file = run_folder / _FILE
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        moment = time.time() + seconds
        os.utime(descriptor, (moment, moment))
        if not _lock(descriptor):
            return  # one waits already
        # the lock and the share are those of the open files, which the process inherits
        command = [sys.executable, "-m", "webrag_core.store.server_keeper", str(run_folder.parent)]
        # blocked until the process can handle it: without its keeper the server would run on
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        try:
            process = subprocess.Popen(
                [*command, str(share), str(descriptor), repr(seconds)],
                pass_fds=(share, descriptor),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
                env={**os.environ, "PYTHONSAFEPATH": "1"},
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.pwrite(descriptor, f"{process.pid:<{_LONGEST}}".encode(), 0)
        os.utime(descriptor, (moment, moment))
    finally:
        os.close(descriptor)


def wait_until_moment(kept: int, seconds: float) -> None:
    """Wait until the moment of the file `kept`, at most `seconds` after it was last put off."""
    while (left := os.fstat(kept).st_mtime - time.time()) > 0 and os.fstat(kept).st_nlink:
        time.sleep(min(left, seconds, 1.0))


def end_keeper(run_folder: Path) -> None:
    """End the process that waits, if any, for somebody who uses the server and wants to be alone. Raises OSError."""
    try:
        descriptor = os.open(run_folder / _FILE, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    try:
        for _ in range(_POLLS):
            if _lock(descriptor):
                return
            pid = os.pread(descriptor, _LONGEST, 0).decode("ascii", "replace").strip()
            if pid.isdigit():
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGUSR1)  # which ends it as it is
            time.sleep(_POLL_SECONDS)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
