"""Kill −9 of the run's process, the daemon and the code server, at random moments of a run.

`make bench-kill`. Every other run answers a question, the others refresh a source. Nobody helps: whatever dies is
started again by `webrag up`, an answer run has to end by itself, and a refresh has to be done, by another run if its
own was killed. Then questions are asked once more, the corpus is verified, and the answers are counted.
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

from benchmarks.platform.workplace import Workplace, workplace
from evals.walks.goldens import DEFAULT_GOLDEN, load_goldens
from webrag_core.acquisition.urls import source_key
from webrag_core.cli.output import out, print_table
from webrag_dagster.corpus.layers import DOCUMENTS
from webrag_dagster.processes.launcher import worker

# tags that the daemon's run retries write
WILL_RETRY_TAG, AUTO_RETRY_RUN_ID_TAG = "dagster/will_retry", "dagster/auto_retry_run_id"
_SECONDS_TO_END = 240.0
_TRIES = 4


@dataclass(frozen=True, slots=True)
class Work:
    """What is launched: a job, its config, and a partition for the jobs that have them."""

    job: str
    config: Mapping[str, object]
    partition: str | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """One kill: what, in which job's run, and how that run ended (None: not at all). `launched_again`: by itself."""

    target: str
    job: str
    killed: bool
    run_id: str
    status: str | None
    launched_again: int
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
    questions = [
        Work("answer", {"urls": [golden.seed_url], "question": golden.query, "expansion_budget": 1})
        for golden in goldens
    ]
    again = {"ops": {DOCUMENTS: {"config": {"pages": "all"}}}}
    refresh = Work("refresh", again, source_key(goldens[0].seed_url))
    with workplace() as place, place.running(*place.up()) as up:
        targets: dict[str, Callable[[str], psutil.Process | None]] = {
            "worker": _worker,
            "daemon": lambda run_id: _child(up, "dagster-daemon"),
            "code server": lambda run_id: _child(up, draw.choice(["code-server", "api grpc"])),
        }
        # without a kill first: pages to refresh, and how long each kind takes
        longest = {work.job: _undisturbed(place, work) for work in (questions[-1], questions[-2], refresh)}
        durations = ", ".join(f"{job} {seconds:.1f} s" for job, seconds in longest.items())
        out.print(f"undisturbed runs take {durations}; kills come at any moment of that")
        points = []
        for name, find in targets.items():
            hits = 0
            for number in range(_TRIES * options.points):  # a run may have ended before it is hit
                work = refresh if number % 2 else questions[number // 2 % len(questions)]
                points.append(_kill(place, name, find, draw.uniform(0, longest[work.job]), work))
                hits += points[-1].killed
                if hits >= options.points:
                    break
                time.sleep(1)
        asked_again = Counter(_end_of(_launch(place, work))[0] for work in questions[: min(10, options.points)])
        good = _judge(points, asked_again)
    raise SystemExit(0 if good else 1)


def _undisturbed(place: Workplace, work: Work) -> float:
    started = time.monotonic()
    status, _ = _end_of(_launch(place, work))
    if status != "SUCCESS":
        raise RuntimeError(f"{work.job} ended with {status} although nothing was killed")
    return time.monotonic() - started


def _kill(
    place: Workplace, target: str, find: Callable[[str], psutil.Process | None], after: float, work: Work
) -> Point:
    _wait_until(place.ui.is_up, 120)
    started = time.monotonic()
    run_id = _launch(place, work)
    time.sleep(after)
    process = find(run_id)
    killed = process is not None
    if process is not None:
        try:
            process.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            killed = False
    status, launched_again = _end_of(run_id)
    return Point(target, work.job, killed, run_id, status, launched_again, time.monotonic() - started)


def _end_of(run_id: str) -> tuple[str | None, int]:
    """How a run, or the last that was launched in its place, ends (None: it does not), and how many there were."""
    deadline = time.monotonic() + _SECONDS_TO_END
    followed = 0
    with dg.DagsterInstance.get() as instance:
        while time.monotonic() < deadline:
            run = instance.get_run_by_id(run_id)
            if run is not None and AUTO_RETRY_RUN_ID_TAG in run.tags:
                run_id = run.tags[AUTO_RETRY_RUN_ID_TAG]
                followed += 1
            elif run is not None and run.is_finished and not _may_follow(run):
                return run.status.value, followed
            time.sleep(0.3)
    return None, followed


def _may_follow(run: dg.DagsterRun) -> bool:
    """Whether another run takes its place. A failed run says so a moment after it says that it failed."""
    return run.status is dg.DagsterRunStatus.FAILURE and run.tags.get(WILL_RETRY_TAG) != "false"


def _launch(place: Workplace, work: Work) -> str:
    """As somebody who presses the button again while the code server is away, which the UI says with an error."""
    deadline = time.monotonic() + _SECONDS_TO_END
    while True:
        try:
            return place.ui.launch(work.job, work.config, work.partition)
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
    answer_points = [point for point in points if point.job == "answer"]
    lost = [point for point in answer_points if point.status == "SUCCESS" and answers[point.run_id] != 1]
    undone = [point for point in points if point.job == "refresh" and point.status != "SUCCESS"]
    doubled = [run_id for run_id, count in answers.items() if count > 1]
    rows = []
    for target, job in dict.fromkeys((point.target, point.job) for point in points):
        mine = [point for point in points if (point.target, point.job) == (target, job)]
        ends = Counter(point.status or "never" for point in mine)
        hit, launched = sum(point.killed for point in mine), sum(point.launched_again for point in mine)
        slowest = max(point.seconds for point in mine)
        rows.append((target, job, len(mine), hit, dict(ends), launched, f"{slowest:.0f} s"))
    print_table(("killed", "job", "points", "hit", "runs ended", "launched again", "slowest end"), rows)
    never = [point for point in points if point.status is None]
    out.print(f"answers lost {len(lost)}, doubled {len(doubled)}; refreshes not done {len(undone)};")
    out.print(f"runs that never ended {len(never) + unfinished}")
    out.print(f"asked again, undisturbed: {dict(again)}; violated invariants: {violations}")
    return not (lost or doubled or undone or never or unfinished or violations or set(again) != {"SUCCESS"})


async def _violations() -> int:
    from webrag_core.config import load_settings
    from webrag_core.corpus.verification import VerificationCounts, verify_corpus
    from webrag_core.store.database import Database

    async with await Database.open(load_settings()) as database:
        return len([violation async for violation in verify_corpus(database, VerificationCounts())])


def _worker(run_id: str) -> psutil.Process | None:
    """The run's process; None when it has none yet, or none any more."""
    with dg.DagsterInstance.get() as instance:
        run = instance.get_run_by_id(run_id)
    return worker(run) if run is not None and not run.is_finished else None


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
