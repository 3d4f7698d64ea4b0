"""What a `webrag up` says about itself to those that come after it: which processes are its own."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import psutil
from pydantic import BaseModel, ConfigDict

HOST = "127.0.0.1"
"""Where the UI listens."""

_CLOCK = 2.0


class Mark(BaseModel):
    """A process that cannot be confused with a later one of the same id. `started` is in seconds since 1970."""

    model_config = ConfigDict(frozen=True)

    pid: int
    started: float

    @classmethod
    def of(cls, pid: int) -> Self:
        """The mark of a process that is there. Raises psutil.NoSuchProcess when it is not."""
        return cls(pid=pid, started=psutil.Process(pid).create_time())

    def is_of(self, process: psutil.Process) -> bool:
        """Whether it is this process. Raises psutil.NoSuchProcess when it has just gone."""
        started: float = process.create_time()
        return process.pid == self.pid and abs(started - self.started) < _CLOCK

    def began_before(self, process: psutil.Process) -> bool:
        """Whether `process` may be a child of this one. Raises psutil.NoSuchProcess when it has just gone."""
        started: float = process.create_time()
        return started > self.started - _CLOCK


class Record(BaseModel):
    """One supervisor: its process id, the UI's port, and what must not outlive it.

    `groups` are the leaders of its services' sessions, `guard` the process that ends them in its place, `folder` its
    temporary one.
    """

    model_config = ConfigDict(frozen=True)

    pid: int
    port: int
    folder: Path | None = None
    guard: Mark | None = None
    groups: tuple[Mark, ...] = ()

    @property
    def address(self) -> str:
        """The UI's."""
        return f"http://{HOST}:{self.port}"
