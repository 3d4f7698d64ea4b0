"""Hostile answers and pages, one after another, each beside well-behaved neighbours: what becomes of them.

Each case of `hostile_server` is fetched, converted, stored and indexed through a real corpus in a fresh home, while
pages of a good neighbour are taken in one after another. Prints one JSON line per case, then a summary. Exit code 1
when a case does not end within the time with a reason or a success that the case allows, when the memory of the process
rises too far or a conversion worker takes too much, or when a neighbour fails or has to wait too long. A case that
stops the whole process, or blows it up, has it killed; the other cases go on in a new one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from benchmarks.corpus.hostile_server import CASES, NEIGHBOUR
from benchmarks.corpus.hostile_wire import SUCCESS
from webrag_core.config import load_settings
from webrag_core.errors import FetchError, WebragError
from webrag_core.indexing.pipeline import Corpus

MOST_SECONDS = 30.0
MOST_MEGABYTES = 150.0
MOST_WORKER_MEGABYTES = 384.0
MOST_NEIGHBOUR_SECONDS = 10.0
_GIVING_UP_S = 90.0
_FROZEN_S = 120.0
_BLOWN_UP_BYTES = 3_000_000_000
_SAMPLE_S = 0.02
_PAUSE_S = 0.2
_WORKER = "webrag_core.conversion.worker_main"


@dataclass(frozen=True, slots=True)
class Ended:
    """How one case ended. `rise_mb` and `stall_s` (longest stop of the event loop) are of this process, `worker_mb` is
    the most that a conversion worker took."""

    case: str
    outcome: str
    seconds: float
    rise_mb: float
    worker_mb: float
    stall_s: float
    neighbour_s: float
    neighbours_failed: int
    worker_killed: bool
    ok: bool
    message: str = ""


class _Watch(threading.Thread):
    """Samples memory of this process and the longest time that its event loop did not turn."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(daemon=True)
        self._loop, self._process, self._over = loop, psutil.Process(), threading.Event()
        self._before, self._turned = self._process.memory_info().rss, time.monotonic()
        self.rise = self.worker = 0
        self.stall = 0.0

    def run(self) -> None:
        """Sample until told to stop."""
        while not self._over.wait(_SAMPLE_S):
            self.rise = max(self.rise, self._process.memory_info().rss - self._before)
            for child in self._process.children():
                with suppress(psutil.Error):
                    if _WORKER in child.cmdline():
                        self.worker = max(self.worker, child.memory_info().rss)
            self.stall = max(self.stall, time.monotonic() - self._turned)
            self._loop.call_soon_threadsafe(self._turn)

    def stop(self) -> None:
        """End sampling."""
        self._over.set()
        self.join()

    def _turn(self) -> None:
        self._turned = time.monotonic()


@contextmanager
def serving() -> Iterator[dict[str, int]]:
    """The hostile server in a process of its own; gives the port of each case."""
    command = [sys.executable, "-m", "benchmarks.corpus.hostile_server"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())
        finally:
            server.kill()


async def _neighbours(corpus: Corpus, home: str, name: str, over: asyncio.Event) -> tuple[float, int]:
    """Take in pages of the neighbour, one at least, until `over`: (seconds of the slowest, failures)."""
    slowest, failed, number = 0.0, 0, 0
    while not number or not over.is_set():
        begun = time.monotonic()
        try:
            await corpus.add(f"{home}/{name}/{number}")
        except WebragError:
            failed += 1
        slowest = max(slowest, time.monotonic() - begun)
        number += 1
        await asyncio.sleep(_PAUSE_S)
    return slowest, failed


async def run_case(corpus: Corpus, name: str, ports: dict[str, int]) -> Ended:
    """One case with its neighbours."""
    over = asyncio.Event()
    beside = asyncio.create_task(_neighbours(corpus, f"http://127.0.0.1:{ports[NEIGHBOUR]}", name, over))
    watch = _Watch(asyncio.get_running_loop())
    watch.start()
    begun = time.monotonic()
    outcome, message = SUCCESS, ""
    try:
        async with asyncio.timeout(_GIVING_UP_S):
            await corpus.add(f"http://127.0.0.1:{ports[name]}/")
    except FetchError as error:
        outcome, message = error.reason.value, error.message
    except WebragError as error:
        outcome, message = f"untyped: {error.code}", error.message
    except TimeoutError:
        outcome = "untyped: never ends"
    seconds = time.monotonic() - begun
    over.set()
    slowest, failed = await beside
    watch.stop()
    rise, worker = watch.rise / 1e6, watch.worker / 1e6
    allowed = CASES[name].ends
    ok = (
        not outcome.startswith("untyped")
        and (outcome in allowed or not allowed)
        and seconds <= MOST_SECONDS
        and rise <= MOST_MEGABYTES
        and worker <= MOST_WORKER_MEGABYTES
        and not failed
        and slowest <= MOST_NEIGHBOUR_SECONDS
    )
    killed = outcome == "parse_failure" and ("seconds to convert" in message or "breaks the parser" in message)
    return Ended(
        case=name,
        outcome=outcome,
        seconds=round(seconds, 2),
        rise_mb=round(rise, 1),
        worker_mb=round(worker, 1),
        stall_s=round(watch.stall, 2),
        neighbour_s=round(slowest, 2),
        neighbours_failed=failed,
        worker_killed=killed,
        ok=ok,
        message=message[:120],
    )


async def run_cases(names: Sequence[str], home: Path, ports: dict[str, int]) -> None:
    """The cases in turn, in one corpus; prints a line for each."""
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports.values())
    settings = load_settings(webrag_home=home, database_url=None, webrag_warc=None, webrag_allow_hosts=hosts)
    async with Corpus.open(settings) as corpus:
        await corpus.add(f"http://127.0.0.1:{ports[NEIGHBOUR]}/")  # models and workers are loaded once
        for name in names:
            print(json.dumps(asdict(await run_case(corpus, name, ports))), flush=True)


def supervised(names: Sequence[str]) -> Iterator[Ended]:
    """The cases in a child process, or in several where one has to be killed."""
    left = list(names)
    while left:
        command = [sys.executable, "-m", "benchmarks.corpus.hostile", "--child", *left]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            guard = _Guard(psutil.Process(child.pid))
            guard.start()
            for line in child.stdout:
                guard.lively = time.monotonic()
                if line.startswith("{"):
                    yield Ended(**json.loads(line))
                    left.pop(0)
            guard.over.set()
        if left:
            outcome = f"untyped: the process {guard.problem or 'ended'}"
            yield Ended(
                left.pop(0), outcome, _FROZEN_S, round(guard.peak / 1e6, 1), 0.0, _FROZEN_S, _FROZEN_S, 1, False, False
            )


class _Guard(threading.Thread):
    """Kills a child process, and what it started, that stands still or blows up."""

    def __init__(self, child: psutil.Process) -> None:
        super().__init__(daemon=True)
        self._child, self.over = child, threading.Event()
        self.lively, self.peak, self.problem = time.monotonic(), 0, ""

    def run(self) -> None:
        """Look until told to stop."""
        while not self.over.wait(_PAUSE_S):
            with suppress(psutil.NoSuchProcess):
                self.peak = max(self.peak, self._child.memory_info().rss)
                if self.peak > _BLOWN_UP_BYTES or time.monotonic() - self.lively > _FROZEN_S:
                    self.problem = "blew up" if self.peak > _BLOWN_UP_BYTES else "froze"
                    for process in (*self._child.children(recursive=True), self._child):
                        process.kill()


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="some of the cases; all when none is named")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    unknown = set(arguments.cases) - CASES.keys()
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    if arguments.child:
        with tempfile.TemporaryDirectory() as home, serving() as ports:
            asyncio.run(run_cases(arguments.cases, Path(home), ports))
        return
    ended = []
    for end in supervised(arguments.cases or list(CASES)):
        print(json.dumps(asdict(end)), flush=True)
        ended.append(end)
    failed = [end.case for end in ended if not end.ok]
    summary = {
        "cases": len(ended),
        "failed": failed,
        "slowest_s": max(end.seconds for end in ended),
        "largest_rise_mb": max(end.rise_mb for end in ended),
        "largest_worker_mb": max(end.worker_mb for end in ended),
        "longest_stall_s": max(end.stall_s for end in ended),
        "slowest_neighbour_s": max(end.neighbour_s for end in ended),
    }
    print(json.dumps(summary))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
