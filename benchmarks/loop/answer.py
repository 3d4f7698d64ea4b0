"""What an answer costs when nothing has to be fetched: the loop itself, on the frozen Python site, indexed beforehand.

`no_expansion`: an answer on one indexed page (expansion budget 0), end to end through OrchestratorEngine. `expansion`:
runs that take in pages round after round, all of them indexed; `round` is one expansion round, from the report of the
round before to its own, so it holds everything but fetching, converting and embedding pages. Its phases:

- taking_in: finding out that the chosen pages are there and whole
- retrieval: embedding the queries, search, merging; reranking beside it
- links: reading the new pages' links and grouping all of them by page (`frontier`), scoring them (`link_scores`)
- signals: the numbers that the policy decides on; recording: writing the round; rest: all that lies between

`in_prose`: an answer in sentences from all that is stored, by `Manager`; each question once, first reading of its
passages included.

Times are ms, by the clock and in CPU time of this process; `server_cpu_ms` is PostgreSQL's, per run. `floor` holds, of
every tenth question, the statements of each phase, the bytes of their results and what they cost alone
(`server_work`). Every question is asked once per repetition; the first repetition, which fills caches that live as long
as the process, is not counted.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import server_work
from evals.walks.goldens import DEFAULT_GOLDEN, DEFAULT_SITE, GoldenQuery, load_goldens
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.answering.manager import Manager, Question
from webrag_core.cli.progress import progress
from webrag_core.config import Settings, load_settings
from webrag_core.errors import FetchError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration import answers, evidence, run
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.frontier import Frontier
from webrag_core.orchestration.models import Round

TARGETS = {"no_expansion": 150.0, "round": 60.0}
"""p50 in ms of wall time that the loop should stay below."""

_FLOOR_EVERY = 10
_WARM_UP = 5  # questions

_PHASES: dict[str, tuple[object, str]] = {
    "taking_in": (run, "fetch_pages"),
    "retrieval": (evidence.Evidence, "gather"),
    "reranking": (evidence, "rank"),
    "frontier": (Frontier, "load_candidates"),
    "link_scores": (run, "score_links"),
    "signals": (run, "compute_signals"),
    "recording": (answers, "record_round"),
}

Times = dict[str, float]


@dataclass(slots=True)
class Clock:
    """Milliseconds by phase since it was last read, by the clock and in CPU time of this process."""

    wall: Times = field(default_factory=lambda: defaultdict(float))
    cpu: Times = field(default_factory=lambda: defaultdict(float))
    since: tuple[float, float] = (0.0, 0.0)
    current: str = "rest"

    def start(self) -> None:
        """Forget what was measured."""
        self.wall, self.cpu = defaultdict(float), defaultdict(float)
        self.since = _now()

    def read(self) -> tuple[Times, Times]:
        """Times by phase since the start, with `total` and `rest`; starts anew."""
        now = _now()
        read: list[Times] = []
        for spent, passed in ((self.wall, now[0] - self.since[0]), (self.cpu, now[1] - self.since[1])):
            spent["retrieval"] -= spent["reranking"]  # the one is called within the other
            read.append({"total": passed, **spent, "rest": passed - sum(spent.values())})
        self.start()
        return read[0], read[1]

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Adds what the block takes."""
        wall, cpu = _now()
        before, self.current = self.current, name
        try:
            yield
        finally:
            self.current = before
            ended = _now()
            self.wall[name] += ended[0] - wall
            self.cpu[name] += ended[1] - cpu


def _now() -> tuple[float, float]:
    return time.perf_counter() * 1000, time.process_time_ns() / 1e6


@contextmanager
def _timed_phases(clock: Clock) -> Iterator[None]:
    """While it is open, `clock` sees every phase of the engine."""
    kept = [(owner, name, getattr(owner, name)) for owner, name in _PHASES.values()]
    for phase, (owner, name) in _PHASES.items():
        setattr(owner, name, _timed(getattr(owner, name), phase, clock))
    try:
        yield
    finally:
        for owner, name, function in kept:
            setattr(owner, name, function)


def _timed(function: Callable[..., Any], phase: str, clock: Clock) -> Callable[..., Any]:
    @functools.wraps(function)
    def plain(*given: Any, **named: Any) -> Any:
        with clock.phase(phase):
            return function(*given, **named)

    @functools.wraps(function)
    async def awaited(*given: Any, **named: Any) -> Any:
        with clock.phase(phase):
            called: Coroutine[Any, Any, Any] = function(*given, **named)
            return await called

    return awaited if asyncio.iscoroutinefunction(function) else plain


@dataclass(slots=True)
class Measured:
    """Times of whole runs, and of their expansion rounds; `left_out` are rounds in which a page had to be asked for,
    as one that is not there is every time."""

    runs: list[tuple[Times, Times]] = field(default_factory=list)
    rounds: list[tuple[Times, Times]] = field(default_factory=list)
    links: list[int] = field(default_factory=list)
    server_cpu: list[float] = field(default_factory=list)
    left_out: int = 0

    def add(self, more: Measured) -> None:
        """Take in the times of another repetition."""
        self.runs += more.runs
        self.rounds += more.rounds
        self.links += more.links
        self.server_cpu += more.server_cpu
        self.left_out += more.left_out


async def ask(corpus: Corpus, goldens: Sequence[GoldenQuery], *, policy: str, budget: int) -> Measured:
    """Every golden's question once, from its seed page, one after the other."""
    measured = Measured()
    loop = OrchestratorEngine(corpus)
    for golden in goldens:
        request = AnswerRequest(urls=(golden.seed_url,), question=golden.query, policy=policy, expansion_budget=budget)
        servers = await server_work.servers_of(corpus.database)
        whole, inner = Clock(), Clock()

        rounds: list[tuple[Times, Times]] = []

        def ended(phase: str, done: Round | None, clock: Clock = inner, rounds: list[Any] = rounds) -> None:
            if done is not None:
                rounds.append(clock.read())

        spent = server_work.server_ms(servers)
        with _timed_phases(inner):
            whole.start()
            inner.start()
            result = await loop.run(request, ended)
        measured.runs.append(whole.read())
        measured.server_cpu.append(server_work.server_ms(servers) - spent)
        fetched = {document.round for document in result.documents if document.outcome != "reused"}
        for done, times in zip(result.rounds, rounds, strict=True):
            if done.round and done.round not in fetched:
                measured.rounds.append(times)
                measured.links.append(done.signals.candidates_left)
        measured.left_out += len(fetched)
    return measured


async def answer_in_prose(corpus: Corpus, questions: Sequence[str]) -> Measured:
    """Every question but the first ones once to all that is stored; those come before, and are not measured."""
    measured = Measured()
    manager = Manager(corpus)
    for question in questions[:_WARM_UP]:
        await manager.answer(Question(question))
    clock = Clock()
    for question in questions[_WARM_UP:]:
        servers = await server_work.servers_of(corpus.database)
        spent = server_work.server_ms(servers)
        clock.start()
        await manager.answer(Question(question))
        measured.runs.append(clock.read())
        measured.server_cpu.append(server_work.server_ms(servers) - spent)
    return measured


async def floors(corpus: Corpus, goldens: Sequence[GoldenQuery], *, policy: str, budget: int) -> dict[str, object]:
    """The mean floor of each phase of a run."""
    sums: dict[str, server_work.Floor] = defaultdict(server_work.Floor)
    loop = OrchestratorEngine(corpus)
    for golden in goldens:
        request = AnswerRequest(urls=(golden.seed_url,), question=golden.query, policy=policy, expansion_budget=budget)
        clock = Clock()
        with _timed_phases(clock), server_work.recorded(partial(getattr, clock, "current")) as statements:
            await loop.run(request)
        for phase, floor in (await server_work.floors(corpus.database, statements)).items():
            sums[phase].add(floor)
            sums["total"].add(floor)
    return {phase: floor.mean(len(goldens)) for phase, floor in sums.items()}


def figures(measured: Measured) -> dict[str, object]:
    """p50 and p95 over runs and over expansion rounds."""
    table: dict[str, object] = {
        "runs": len(measured.runs),
        "run_ms": _quantiles([wall["total"] for wall, _ in measured.runs]),
        "run_cpu_ms": _quantiles([cpu["total"] for _, cpu in measured.runs]),
        "server_cpu_ms": _quantiles(measured.server_cpu),
    }
    if measured.rounds:
        names = ["total", *_PHASES, "rest"]
        table["rounds"] = len(measured.rounds)
        table["rounds_left_out"] = measured.left_out
        table["links"] = _quantiles(measured.links)
        for kind, side in (("round_ms", 0), ("round_cpu_ms", 1)):
            table[kind] = {
                name: _quantiles([times[side].get(name, 0.0) for times in measured.rounds]) for name in names
            }
    return table


def _quantiles(values: Sequence[float]) -> dict[str, float]:
    return {f"p{at}": round(float(np.percentile(values, at)), 2) for at in (50, 95)}


async def measure(settings: Settings, warc: Path, goldens: Sequence[GoldenQuery], repeat: int) -> dict[str, object]:
    """Index the site, then ask `repeat` times what is counted and once before."""
    acquirer = WarcAcquirer(warc)
    async with Corpus.open(settings, acquirer) as corpus:
        urls = acquirer.page_urls()
        with progress(len(urls), "index") as advance:
            for url in urls:
                with suppress(FetchError):  # a page without text cannot be taken in later either
                    await corpus.add(url)
                advance(url)
        await corpus.indexer.finish_bulk()
        report: dict[str, object] = {"pages": len(urls), "targets_p50_ms": TARGETS}
        for name, policy, budget in (("no_expansion", "calibrated", 0), ("expansion", "fixed-k:5", 5)):
            await ask(corpus, goldens, policy=policy, budget=budget)
            measured = Measured()
            for _ in range(repeat):
                more = await ask(corpus, goldens, policy=policy, budget=budget)
                measured.add(more)
            floor = await floors(corpus, goldens[::_FLOOR_EVERY], policy=policy, budget=budget)
            report[name] = {"load": round(os.getloadavg()[0], 2), **figures(measured), "floor": floor}
        prose = await answer_in_prose(corpus, list(dict.fromkeys(golden.query for golden in goldens)))
        report["in_prose"] = {"load": round(os.getloadavg()[0], 2), **figures(prose)}
    return report


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--golden", type=Path, default=DEFAULT_GOLDEN)
    parser.add_argument("--warc", type=Path, default=DEFAULT_SITE)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--home", type=Path, default=None, help="keep the indexed site here, and use it when it is there"
    )
    arguments = parser.parse_args()
    goldens = load_goldens(arguments.golden)
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(webrag_home=arguments.home or Path(folder), database_url=None)
        report = asyncio.run(measure(settings, arguments.warc, goldens, arguments.repeat))
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
