"""What a tick of each sensor and of the automation costs when nothing happened, by number of partitions.

`make bench-ticks`. Sources, refreshes and pages are rows written into a fresh database; Dagster's instance is in memory
and holds a materialization of each layer of each source. Ticks run in this process, as the daemon's code server runs
them; CPU seconds are those of this process, so that the database server's own are not among them.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import os
import pstats
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

import dagster as dg

from benchmarks.platform.platform import partitions_read_once
from benchmarks.platform.workplace import workplace
from webrag_core.cli.output import out, print_table
from webrag_dagster.corpus.layers import SOURCES, UPSTREAM
from webrag_dagster.resources import CorpusResource

_FILL = """
INSERT INTO sources (key, seed_url, page_limit, refresh_hours, watched_at, map_read_at)
 SELECT 'site-' || n || '.example', 'https://site-' || n || '.example/', 10, 24, now(), now()
 FROM generate_series(1, %(count)s) n;
INSERT INTO documents (source_id, canonical_url, status, reason, next_check, last_checked)
 SELECT s.id, s.seed_url || p, 'failed', 'http_status', now() + interval '1 day', now()
 FROM sources s, generate_series(1, 10) p;
INSERT INTO refresh_runs (source_id, run_id, started_at, ended_at, discovered, fetched, unchanged, failed, skipped,
 not_due)
 SELECT s.id, 'run ' || d, now() - make_interval(days => d), now() - make_interval(days => d), 10, 10, 0, 0, 0, 0
 FROM sources s, generate_series(0, 29) d;
ANALYZE;
"""


def main() -> None:
    """Print a table: the first tick, and the median of those after it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, default=5_000, help="attached sources, each with ten pages")
    parser.add_argument("--ticks", type=int, default=3, help="ticks after the first one")
    parser.add_argument("--profile", help="name of a sensor whose last tick is profiled")
    options = parser.parse_args()
    with workplace():
        os.environ.pop("WEBRAG_WARC", None)
        os.environ["ALERT_LOG"] = "true"  # sensors of alerts look at nothing while nobody is told
        asyncio.run(_fill(options.partitions))
        with dg.DagsterInstance.ephemeral() as instance:
            _report(instance, options.partitions)
            rows = _Ticks(instance, options.profile).rows(options.ticks)
    print_table(("tick of", "first s", "first CPU s", "then s", "then CPU s", "says"), rows)
    out.print(f"{options.partitions} partitions; load {os.getloadavg()[0]:.1f}")


async def _fill(count: int) -> None:
    from webrag_core.config import load_settings
    from webrag_core.store.database import Database

    async with await Database.open(load_settings()) as database, database.connection() as connection:
        for statement in _FILL.split(";"):
            if statement.strip():
                await connection.execute(statement.replace("%(count)s", str(count)).encode())


def _report(instance: dg.DagsterInstance, count: int) -> None:
    """A materialization of each layer of each source, of the present code."""
    from webrag_dagster.corpus.layers import code_version

    keys = [f"site-{number}.example" for number in range(1, count + 1)]
    instance.add_dynamic_partitions(str(SOURCES.name), keys)
    for layer in UPSTREAM:
        tags = {"dagster/data_version": "1", "dagster/code_version": code_version(layer)}
        for key in keys:
            instance.report_runless_asset_event(dg.AssetMaterialization(layer, partition=key, tags=tags))


class _Ticks:
    """Ticks of all sensors, one after the other, with their cursors."""

    def __init__(self, instance: dg.DagsterInstance, profiled: str | None) -> None:
        from webrag_dagster.definitions import definitions

        self._instance = instance
        self._profiled = profiled
        self._definitions = definitions()
        self._repository = self._definitions.get_repository_def()
        self._cursors: dict[str, str | None] = {}
        self._conditions: dg.AssetDaemonCursor | None = None

    def rows(self, count: int) -> list[tuple[str, ...]]:
        """A row for each sensor, and one for the automation conditions."""
        rows = []
        for sensor in sorted(self._repository.sensor_defs, key=lambda sensor: sensor.name):
            if isinstance(sensor, dg.AutomationConditionSensorDefinition):
                rows.append(self._row(sensor.name, self._automation, count))
            else:
                rows.append(self._row(sensor.name, partial(self._tick, sensor), count))
        return rows

    def _row(self, name: str, tick: Callable[[], str], count: int) -> tuple[str, ...]:
        times = []
        for number in range(count + 1):
            with ExitStack() as stack:
                if number == count and name == self._profiled:
                    profile = stack.enter_context(cProfile.Profile())
                started, cpu = time.perf_counter(), time.process_time()
                says = tick()
                times.append((time.perf_counter() - started, time.process_time() - cpu))
            if number == count and name == self._profiled:
                pstats.Stats(profile).sort_stats("cumulative").print_stats(45)
        then = [sorted(column)[count // 2] for column in zip(*times[1:], strict=True)]
        return (name, *(f"{value:.2f}" for value in (*times[0], *then)), says[:80])

    def _tick(self, sensor: dg.SensorDefinition) -> str:
        context = dg.build_sensor_context(
            instance=self._instance,
            repository_def=self._repository,
            resources={"corpus": CorpusResource()},
            cursor=self._cursors.get(sensor.name),
            sensor_name=sensor.name,
        )
        result = sensor.evaluate_tick(context)
        self._cursors[sensor.name] = result.cursor
        return f"{len(result.run_requests or [])} runs, {len(result.asset_events)} events; {result.skip_message or ''}"

    def _automation(self) -> str:
        with partitions_read_once(self._instance):
            result = dg.evaluate_automation_conditions(self._definitions, self._instance, cursor=self._conditions)
        self._conditions = result.cursor
        return f"{result.total_requested} requested"


if __name__ == "__main__":
    main()
