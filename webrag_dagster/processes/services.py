"""Long-lived processes, kept running: whatever ends without being asked to is started again.

Each service leads a process group of its own, so that what it started (run workers, for one) ends with it and never
outlives it unseen.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType

from webrag_core.cli.output import err

_TICK = 0.5
_GRACE = 20.0
_LONGEST_PAUSE = 10.0
_STEADY = 15.0
_GIVE_UP_AFTER = 4
_SILENT_AFTER = 6


def nothing() -> None:
    """What most services need done around their start."""


def nobody(pids: Sequence[int]) -> None:
    """Who has to know which processes there are, where everything ends together anyway, as in a container."""


@dataclass(frozen=True, slots=True)
class Service:
    """One process. `started` is called after each start, `gone` after each unexpected end (its group is dead by then).

    `answers` says whether it works; when it has worked once and then fails several times in a row, it is killed and
    started again.
    """

    name: str
    command: tuple[str, ...]
    started: Callable[[], None] = nothing
    gone: Callable[[], object] = nothing
    answers: Callable[[], bool] | None = None
    wait_for_answer: float = 0.0
    """Seconds that services after it wait for its first answer."""


@dataclass(slots=True)
class _Running:
    service: Service
    process: subprocess.Popen[bytes]
    failures: int = 0
    quick_ends: int = 0
    has_answered: bool = False
    silent: int = 0
    started_at: float = field(default_factory=time.monotonic)


class Supervisor:
    """Runs services until a signal asks it to end, or until one of them cannot be started at all."""

    def __init__(
        self,
        services: Sequence[Service],
        environment: Mapping[str, str],
        changed: Callable[[Sequence[int]], None] = nobody,
    ) -> None:
        """`changed` is told the process ids of the services' groups whenever one was started."""
        self._services = services
        self._environment = environment
        self._changed = changed
        self._running: list[_Running] = []
        self._asked = 0

    def run(self) -> int:
        """Start everything, in order, and watch. Returns 0 when a signal ended it, 1 when a service kept failing."""
        # set before the start: a child of a shell's background job would otherwise inherit that Ctrl-C is ignored
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # under nohup the end of the terminal is nothing
            signal.signal(signal.SIGHUP, self._ask)
        try:
            for service in self._services:
                if self._asked:
                    break
                one = _Running(service, self._start(service))
                self._running.append(one)
                self._tell()
                self._await(one)
            while not self._asked:
                time.sleep(_TICK)
                for one in self._running:
                    if not self._look_after(one):
                        err.print(f"{one.service.name} cannot be kept running", markup=False, highlight=False)
                        return 1
            return 0
        finally:
            self._stop()

    def _ask(self, signum: int, frame: FrameType | None) -> None:
        if signum == signal.SIGHUP and self._asked:
            return  # of a closed terminal both the shell and the kernel tell: nobody has lost patience
        self._asked += 1
        if self._asked > 1:
            for one in self._running:
                signal_group(one.process.pid, signal.SIGKILL)

    def _start(self, service: Service) -> subprocess.Popen[bytes]:
        # a session of its own: Ctrl-C reaches it once, from here, and not from the terminal as well
        process = subprocess.Popen(service.command, start_new_session=True, env=self._environment)
        service.started()
        return process

    def _tell(self) -> None:
        self._changed([one.process.pid for one in self._running])

    def _await(self, one: _Running) -> None:
        deadline = time.monotonic() + one.service.wait_for_answer
        while time.monotonic() < deadline and not self._asked and one.process.poll() is None:
            if one.service.answers is not None and one.service.answers():
                one.has_answered = True
                return
            time.sleep(_TICK / 2)

    def _look_after(self, one: _Running) -> bool:
        """False when the service has ended by itself at once, too often in a row."""
        if one.process.poll() is None:
            if one.service.answers is None or self._answers(one):
                return True
            err.print(f"{one.service.name} no longer answers", markup=False, highlight=False)
        signal_group(one.process.pid, signal.SIGKILL)
        code = one.process.wait()
        if self._asked:
            return True
        quick = time.monotonic() - one.started_at < _STEADY
        one.quick_ends = one.quick_ends + 1 if quick else 0
        # what a signal ended may work the next time; what ends by itself, at once, again and again, will not
        one.failures = one.failures + 1 if quick and code > 0 else 0
        if one.failures >= _GIVE_UP_AFTER:
            return False
        err.print(f"{one.service.name} ended with {code}; starting it again", markup=False, highlight=False)
        one.service.gone()
        if one.quick_ends > 1:
            time.sleep(min(_LONGEST_PAUSE, 2.0 ** (one.quick_ends - 2)))
        one.process = self._start(one.service)
        self._tell()
        one.has_answered, one.silent, one.started_at = False, 0, time.monotonic()
        return True

    def _answers(self, one: _Running) -> bool:
        if one.service.answers is not None and one.service.answers():
            one.has_answered, one.silent = True, 0
        elif one.has_answered:
            one.silent += 1
        return one.silent < _SILENT_AFTER

    def _stop(self) -> None:
        for one in self._running:
            signal_group(one.process.pid, signal.SIGTERM)
        deadline = time.monotonic() + _GRACE
        while time.monotonic() < deadline and any(_group_lives(one.process) for one in self._running):
            time.sleep(_TICK / 5)
        for one in self._running:
            signal_group(one.process.pid, signal.SIGKILL)
            one.process.wait()


def signal_group(pgid: int, number: int) -> None:
    """Signal every process of a group, if there still is one."""
    try:
        os.killpg(pgid, number)
    except (ProcessLookupError, PermissionError):
        return  # everything in it is gone already; macOS says the latter of processes that nobody has waited for


def _group_lives(process: subprocess.Popen[bytes]) -> bool:
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
