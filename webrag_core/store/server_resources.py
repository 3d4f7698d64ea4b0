"""What the embedded server may use of the machine: memory for pages, memory and processes for building indexes, and
the time that it stays without a user."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

from webrag_core.config.database import DatabaseSettings

_MB = 2**20
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))  # of a container
_LEAST_PAGES_MB, _MOST_PAGES_MB = 128, 8192
_LEAST_BUILD_MB = 64  # also what each automatic vacuum gets
_MOST_WORKERS = 7  # of the eight processes that PostgreSQL keeps for such work


@dataclass(frozen=True, slots=True)
class ServerResources:
    """Megabytes for pages in memory, for building one index, and what the planner takes for cached in all; processes
    that build an index beside the first; seconds that it runs on after its last user."""

    shared_buffers: int
    maintenance_memory: int
    cache: int
    maintenance_workers: int
    kept_seconds: float = 0.0

    @classmethod
    def of_machine(cls) -> Self:
        """An eighth of the memory for pages: the system's own cache holds more of them, and the crawler and the models
        need the rest. A quarter for an index, half for the planner; a process for each core."""
        memory = memory_mb()
        return cls(
            min(max(memory // 8, _LEAST_PAGES_MB), _MOST_PAGES_MB),
            max(memory // 4, _LEAST_BUILD_MB),
            max(memory // 2, _LEAST_PAGES_MB),
            min(max(_cores() - 1, 1), _MOST_WORKERS),
        )

    @classmethod
    def chosen(cls, settings: DatabaseSettings) -> Self:
        """Those of the machine, but for what the settings say."""
        machine = cls.of_machine()
        buffers, memory = settings.database_shared_buffers, settings.database_maintenance_memory
        workers = settings.database_maintenance_workers
        return cls(
            machine.shared_buffers if buffers is None else buffers,
            machine.maintenance_memory if memory is None else memory,
            machine.cache,
            machine.maintenance_workers if workers is None else workers,
            settings.webrag_keep_database_seconds,
        )

    @property
    def options(self) -> tuple[str, ...]:
        """As arguments of the server."""
        values = {
            "shared_buffers": f"{self.shared_buffers}MB",
            "maintenance_work_mem": f"{self.maintenance_memory}MB",
            "autovacuum_work_mem": f"{min(self.maintenance_memory, _LEAST_BUILD_MB)}MB",
            "effective_cache_size": f"{self.cache}MB",
            "max_parallel_maintenance_workers": str(self.maintenance_workers),
        }
        return tuple(part for name, value in values.items() for part in ("-c", f"{name}={value}"))


def memory_mb() -> int:
    """Memory of the machine, or of the container where that has less."""
    memory = int(psutil.virtual_memory().total)
    for limit in _LIMITS:
        with suppress(OSError, ValueError):  # absent, or the word "max"
            memory = min(memory, int(limit.read_text()))
    return memory // _MB


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
