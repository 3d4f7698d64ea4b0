"""Partitions of one source on Celery workers, with a real broker: `make bench-workers`. Needs `redis-server`.

The parts of a frozen site on 1, 2 and 4 workers; with one of four workers killed; with the broker killed, what it held
kept or lost; the parts of one host that asks for a crawl delay, at a local server that logs every request; a worker of
other code. Corpora are compared with that of one undisturbed worker.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import dagster as dg

from benchmarks.corpus.corpus_digest import corpus_digest
from benchmarks.platform.celery_place import Broker, Workers, broker, polite_site, workers, write_instance
from benchmarks.platform.workplace import workplace
from evals.walks.goldens import DEFAULT_SITE
from webrag_core.acquisition.sitemaps.models import MapEntry
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.cli.output import out, print_table
from webrag_core.config import load_settings
from webrag_core.corpus import refresh_store
from webrag_core.corpus.sources import attach_source, find_source, shard_keys
from webrag_core.store.database import Database
from webrag_dagster.processes.celery_launcher import WORKER

_LIMIT_S = 240.0
_BROKER_AWAY_S = 10.0
_ENDED = {dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED}

Disturb = Callable[[dg.DagsterInstance, Workers, Broker], str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way to build the corpus. `seconds`: from the first launch until every part is done (None: not all are)."""

    name: str
    pages: int
    seconds: float | None
    runs: Counter[str]
    digest: str
    disturbed: str = ""
    messages: list[str] = field(default_factory=list)


def main() -> int:
    """Print tables; exit status 1 when a page was lost or doubled, a part not done, or a host asked too early."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=320)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--only", nargs="*", default=["1", "2", "4", "worker", "kept", "lost", "polite", "versions"])
    options = parser.parse_args()
    urls = WarcAcquirer(DEFAULT_SITE).page_urls()[: options.pages]
    ways: dict[str, Callable[[], Outcome]] = {
        "1": lambda: _build("1 worker", urls, options.parts, 1),
        "2": lambda: _build("2 workers", urls, options.parts, 2),
        "4": lambda: _build("4 workers", urls, options.parts, 4),
        "worker": lambda: _build("4 workers, one killed", urls, options.parts, 4, _kill_a_worker),
        "kept": lambda: _build("2 workers, broker killed", urls, options.parts, 2, _kill_the_broker, in_broker=8),
        "lost": lambda: _build(
            "2 workers, broker killed, its files lost", urls, options.parts, 2, _lose_the_broker, in_broker=8
        ),
    }
    outcomes = [build() for name, build in ways.items() if name in options.only]
    good = _judge(outcomes, len(urls)) if outcomes else True
    if "polite" in options.only:
        good = _politeness(pages=24, parts=4, delay_s=1) and good
    if "versions" in options.only:
        good = _versions(urls[:4]) and good
    return 0 if good else 1


def _build(
    name: str, urls: Sequence[str], parts: int, count: int, disturb: Disturb | None = None, in_broker: int | None = None
) -> Outcome:
    """Build the corpus anew. `in_broker`: runs that may be beyond Dagster's queue; unset, as many as workers."""
    with workplace() as place, broker(place) as queue:
        # a lost run is noticed after this time; nothing waits so long otherwise
        write_instance(place, in_broker or count, start_timeout_s=150)
        keys = asyncio.run(_attach(urls, parts))
        with workers(place, count) as group, place.running(*place.up()), dg.DagsterInstance.get() as instance:
            group.wait()
            _prepare(instance, keys)
            begun = time.monotonic()
            for key in keys:
                place.ui.launch("refresh", {}, key)
            disturbed = disturb(instance, group, queue) if disturb is not None else ""
            seconds = time.monotonic() - begun if _all_done(instance, keys) else None
            if seconds is None:
                out.print((place.folder / "log.txt").read_text(errors="replace")[-3000:] + group.log())
            return _outcome(name, instance, seconds, disturbed)


async def _attach(urls: Sequence[str], parts: int) -> list[str]:
    """Attach a source whose site map is exactly `urls`; the keys of its parts."""
    async with await Database.open(load_settings()) as database, database.transaction() as connection:
        key = await attach_source(connection, urls[0], 10_000, prefix="/")
        now = datetime.now(UTC)
        await refresh_store.store_map(connection, await find_source(connection, key), [MapEntry(u) for u in urls], now)
        # no entries at the last reading: it is not read again, nor are links followed
        await connection.execute(
            "UPDATE sources SET shards = %s, follow = 'map', map_entries = 0, map_read_at = now() WHERE key = %s",
            (parts, key),
        )
    return shard_keys(key, parts)


def _prepare(instance: dg.DagsterInstance, keys: Sequence[str]) -> None:
    """Announce the parts. Two runs that are the first to use a pool at once fail in Dagster: the pools are there."""
    instance.add_dynamic_partitions("webrag_source", keys)
    for pool in ("web", "embedding"):
        instance.event_log_storage.initialize_concurrency_limit_to_default(pool)


def _all_done(instance: dg.DagsterInstance, keys: Sequence[str]) -> bool:
    """Wait until every part has a run that succeeded. False when that does not come."""
    deadline = time.monotonic() + _LIMIT_S
    while time.monotonic() < deadline:
        done = {run.tags["dagster/partition"] for run in _runs(instance) if run.status is dg.DagsterRunStatus.SUCCESS}
        if done >= set(keys):
            return True
        time.sleep(0.25)
    return False


def _runs(instance: dg.DagsterInstance) -> list[dg.DagsterRun]:
    return list(instance.get_runs(dg.RunsFilter(job_name="refresh")))


def _outcome(name: str, instance: dg.DagsterInstance, seconds: float | None, disturbed: str) -> Outcome:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not all(run.status in _ENDED for run in instance.get_runs()):
        time.sleep(0.5)  # what the platform does by itself
    runs = _runs(instance)
    messages = []
    for run in runs:
        if run.status is dg.DagsterRunStatus.FAILURE:
            failures = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.RUN_FAILURE)
            for entry in failures:
                if entry.dagster_event is not None:
                    error = entry.dagster_event.job_failure_data.error
                    messages.append(f"{entry.dagster_event.message} {error.message if error is not None else ''}")
    pages, digest = asyncio.run(_corpus())
    counts = Counter(run.status.value for run in instance.get_runs())
    return Outcome(name, pages, seconds, counts, digest, disturbed, messages)


async def _corpus() -> tuple[int, str]:
    """Pages that are searchable, and the digest of the corpus."""
    async with await Database.open(load_settings()) as database, database.connection() as connection:
        cursor = await connection.execute("SELECT count(*) FROM documents WHERE current_version IS NOT NULL")
        row = await cursor.fetchone()
        assert row is not None
        return int(row[0]), await corpus_digest(connection)


def _kill_a_worker(instance: dg.DagsterInstance, group: Workers, queue: Broker) -> str:
    """Kill a worker two seconds after its second run started."""
    first = _busy(instance, lambda: any(run.status is dg.DagsterRunStatus.SUCCESS for run in _runs(instance)))
    time.sleep(2)
    group.kill(first)
    return f"{first} killed in its run"


def _kill_the_broker(instance: dg.DagsterInstance, group: Workers, queue: Broker) -> str:
    """Kill the broker while most runs wait in it, and start it again after ten seconds."""
    return _without_broker(instance, queue, keep=True)


def _lose_the_broker(instance: dg.DagsterInstance, group: Workers, queue: Broker) -> str:
    """The same, without the files in which it kept them."""
    return _without_broker(instance, queue, keep=False)


def _without_broker(instance: dg.DagsterInstance, queue: Broker, *, keep: bool) -> str:
    starting = dg.RunsFilter(job_name="refresh", statuses=[dg.DagsterRunStatus.STARTING])
    _busy(instance, lambda: instance.get_runs_count(starting) >= 5)
    queue.kill()
    held = instance.get_runs_count(starting)
    time.sleep(_BROKER_AWAY_S)
    if not keep:
        queue.forget()
    queue.start()
    return f"{held} runs were in the broker"


def _busy(instance: dg.DagsterInstance, when: Callable[[], bool]) -> str:
    """The name of a worker that executes a run, once `when` holds."""
    started = dg.RunsFilter(job_name="refresh", statuses=[dg.DagsterRunStatus.STARTED])
    deadline = time.monotonic() + _LIMIT_S
    while time.monotonic() < deadline:
        names = [run.tags.get(WORKER, "").partition(" ")[2] for run in instance.get_runs(started)]
        if any(names) and when():
            return next(filter(None, names)).partition("@")[0]
        time.sleep(0.1)
    raise TimeoutError("no worker took a run")


def _judge(outcomes: Sequence[Outcome], expected: int) -> bool:
    reference = outcomes[0]
    rows = []
    for outcome in outcomes:
        rate = f"{outcome.pages / outcome.seconds:.1f}" if outcome.seconds else "–"
        seconds = f"{outcome.seconds:.0f} s" if outcome.seconds else "never"
        same = "same" if outcome.digest == reference.digest else "OTHER"
        rows.append((outcome.name, seconds, rate, outcome.pages, dict(outcome.runs), same, outcome.disturbed))
    print_table(("", "all parts done", "pages/s", "pages", "runs", "corpus", "disturbed"), rows)
    for outcome in outcomes:
        for message, count in Counter(outcome.messages).items():
            out.print(f"{outcome.name}: {count} × {message}")
    return all(
        outcome.seconds and outcome.pages == expected and outcome.digest == reference.digest for outcome in outcomes
    )


def _politeness(pages: int, parts: int, delay_s: int) -> bool:
    """Four parts of one host on four workers, one of them killed: the least distance of two requests."""
    with polite_site(pages, delay_s) as site, workplace() as place, broker(place):
        del os.environ["WEBRAG_WARC"]
        os.environ["WEBRAG_ALLOW_HOSTS"] = f"127.0.0.1:{site.port}"
        write_instance(place, parts)
        keys = asyncio.run(_attach(site.urls(), parts))
        with workers(place, 4) as group, place.running(*place.up()), dg.DagsterInstance.get() as instance:
            group.wait()
            _prepare(instance, keys)
            for key in keys:
                place.ui.launch("refresh", {}, key)
            victim = _busy(instance, lambda: len(site.requests) > pages // 3)
            group.kill(victim)
            done = _all_done(instance, keys)
            held, _ = asyncio.run(_corpus())
            distances = site.distances()
            requests = Counter(path for _, path in site.requests if path != "/robots.txt")
    least = min(distances)
    out.print(
        f"one host, {parts} parts, 4 workers, one killed, crawl delay {delay_s} s: {len(distances) + 1} requests, least"
        f" distance {least:.3f} s; {sum(gap < delay_s for gap in distances)} below the delay;"
        f" pages held {held} of {pages}; requested more than once {sum(count > 1 for count in requests.values())}"
    )
    return done and held == pages and least >= delay_s - 0.05


def _versions(urls: Sequence[str]) -> bool:
    """A worker of other settings beside one of the code location's: who takes runs; then the other one alone."""
    with workplace() as place, broker(place):
        write_instance(place, 2, start_timeout_s=20)
        keys = asyncio.run(_attach(urls, 2))
        group = Workers(place.folder)
        try:
            group.start("other", environment={"CHILD_TARGET_TOKENS": "200"})
            group.wait()
            with place.running(*place.up()), dg.DagsterInstance.get() as instance:
                _prepare(instance, keys)
                place.ui.launch("refresh", {}, keys[0])
                alone = _first_failure(instance)
                group.start("same")
                group.wait()
                place.ui.launch("refresh", {}, keys[1])
                done = _all_done(instance, keys)
                takers = Counter(run.tags.get(WORKER, "").partition(" ")[2] for run in _runs(instance))
        finally:
            for name in list(group.processes):
                group.kill(name)
    out.print(f"only a worker of other settings: {alone}")
    out.print(f"beside one of the same: runs taken by {dict(takers)}; all parts done: {done}")
    return done and "other@here" not in takers


def _first_failure(instance: dg.DagsterInstance) -> str:
    deadline = time.monotonic() + _LIMIT_S
    while time.monotonic() < deadline:
        for run in _runs(instance):
            if run.status is dg.DagsterRunStatus.FAILURE:
                [entry, *_] = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.RUN_FAILURE)
                return str(entry.dagster_event.message) if entry.dagster_event is not None else ""
        time.sleep(0.5)
    raise TimeoutError("the run did not fail")


if __name__ == "__main__":
    raise SystemExit(main())
