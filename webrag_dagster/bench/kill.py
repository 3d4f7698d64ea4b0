"""Kill −9 of the run's process, the daemon and the code server, at random moments of an answer run.

`make bench-kill`. Nobody helps: whatever dies is started again by `webrag up`, and every run has to end by itself. Then
every question is asked once more, the corpus is verified, and the answers are counted.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import dagster as dg
import psutil

from evals.goldens import DEFAULT_GOLDEN, load_goldens
from webrag_core.cli_output import out, print_table
from webrag_dagster.bench.workplace import Workplace, workplace
from webrag_dagster.processes.launcher import WORKER

_SECONDS_TO_END = 240.0
_TRIES = 4


@dataclass(frozen=True, slots=True)
class Point:
    """One kill: what, how long after the launch, and how the run ended (None: not at all)."""

    target: str
    after: float
    killed: bool
    run_id: str
    status: str | None
    seconds: float


def main() -> None:
    """Kill, then look. Exit status 1 when something was lost, doubled, or did not end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=20, help="kills of each kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    goldens = load_goldens(DEFAULT_GOLDEN)
    # one round of expansion: several pages, and short enough for many kills
    configs = [{"url": one.seed_url, "query": one.query, "expansion_budget": 1} for one in goldens]
    with workplace() as place, place.running(*place.up()) as up:
        targets: dict[str, Callable[[str], psutil.Process | None]] = {
            "worker": _worker,
            "daemon": lambda run_id: _child(up, "webrag_dagster.processes.daemon"),
            "code server": lambda run_id: _child(up, draw.choice(["code-server", "api grpc"])),
        }
        place.ui.run_to_end("answer", configs[-1])
        longest = place.ui.run_to_end("answer", configs[-2]).seconds
        out.print(f"an undisturbed run takes {longest:.1f} s; kills come at any moment of that")
        points = []
        for name, find in targets.items():
            hits = 0
            for number in range(_TRIES * options.points):  # a run may have ended before it is hit
                points.append(_kill(place, name, find, draw.uniform(0, longest), configs[number % len(configs)]))
                hits += points[-1].killed
                if hits >= options.points:
                    break
                time.sleep(1)
        again: Counter[str | None] = Counter(
            _end_of(_launch(place, config)) for config in configs[: min(10, options.points)]
        )
        good = _judge(points, again)
    raise SystemExit(0 if good else 1)


def _kill(
    place: Workplace,
    target: str,
    find: Callable[[str], psutil.Process | None],
    after: float,
    config: Mapping[str, object],
) -> Point:
    _wait_until(place.ui.is_up, 120)
    started = time.monotonic()
    run_id = _launch(place, config)
    time.sleep(after)
    process = find(run_id)
    killed = process is not None
    if process is not None:
        try:
            process.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            killed = False
    return Point(target, after, killed, run_id, _end_of(run_id), time.monotonic() - started)


def _end_of(run_id: str) -> str | None:
    """How a run ends; None when it does not."""
    deadline = time.monotonic() + _SECONDS_TO_END
    with dg.DagsterInstance.get() as instance:
        while time.monotonic() < deadline:
            run = instance.get_run_by_id(run_id)
            if run is not None and run.is_finished:
                return run.status.value
            time.sleep(0.3)
    return None


def _launch(place: Workplace, config: Mapping[str, object]) -> str:
    """As somebody who presses the button again while the code server is away, which the UI says with an error."""
    deadline = time.monotonic() + _SECONDS_TO_END
    while True:
        try:
            return place.ui.launch("answer", config)
        except (OSError, RuntimeError):
            if time.monotonic() > deadline:
                raise
            time.sleep(1)


def _judge(points: list[Point], again: Counter[str | None]) -> bool:
    violations = asyncio.run(_violations())
    with dg.DagsterInstance.get() as instance:
        records = instance.fetch_materializations(dg.AssetKey("answers"), limit=1000).records
        answers = Counter(record.run_id for record in records)
        unfinished = instance.get_runs_count(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED]))
    lost = [point for point in points if point.status == "SUCCESS" and answers[point.run_id] != 1]
    doubled = [run_id for run_id, count in answers.items() if count > 1]
    rows = []
    for target in dict.fromkeys(point.target for point in points):
        mine = [point for point in points if point.target == target]
        ends = Counter(point.status or "never" for point in mine)
        slowest = max(point.seconds for point in mine)
        rows.append((target, len(mine), sum(point.killed for point in mine), dict(ends), f"{slowest:.0f} s"))
    print_table(("killed", "points", "hit", "runs ended", "slowest end"), rows)
    never = [point for point in points if point.status is None]
    out.print(f"answers lost {len(lost)}, doubled {len(doubled)}; runs that never ended {len(never) + unfinished}")
    out.print(f"asked again, undisturbed: {dict(again)}; violated invariants: {violations}")
    return not (lost or doubled or never or unfinished or violations or set(again) != {"SUCCESS"})


async def _violations() -> int:
    from webrag_core.config import load_settings
    from webrag_core.indexing.verification import Verified, verify_corpus
    from webrag_core.store.database import Database

    async with await Database.open(load_settings()) as database:
        return len([violation async for violation in verify_corpus(database, Verified())])


def _worker(run_id: str) -> psutil.Process | None:
    """The run's process; None when it has none yet, or none any more."""
    with dg.DagsterInstance.get() as instance:
        run = instance.get_run_by_id(run_id)
    if run is None or WORKER not in run.tags or run.is_finished:
        return None
    try:
        return psutil.Process(int(run.tags[WORKER].split()[1]))
    except psutil.NoSuchProcess:
        return None


def _child(up: subprocess.Popen[bytes], words: str) -> psutil.Process | None:
    for process in psutil.Process(up.pid).children(recursive=True):
        try:
            if words in " ".join(process.cmdline()):
                return process
        except psutil.Error:
            continue
    return None


def _wait_until(ready: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not ready() and time.monotonic() < deadline:
        time.sleep(0.3)


if __name__ == "__main__":
    main()
