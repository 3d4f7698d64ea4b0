"""What the platform costs: answers launched in the UI, and the same code with two hundred sources.

`make bench-platform`. Everything runs on a fresh instance of dagster.yaml (SQLite) and a fresh embedded database.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import dagster as dg

from benchmarks.platform.workplace import ROOT, Workplace, workplace
from evals.sites.packing import write_warc
from webrag_core.cli.output import out, print_table
from webrag_dagster.corpus.layers import UPSTREAM
from webrag_dagster.resources import CorpusResource

_LOAD = """
import json, time
start = time.perf_counter(), time.process_time()
import dagster
ready = time.perf_counter(), time.process_time()
from webrag_dagster.definitions import definitions
repository = definitions().get_repository_def()
done = time.perf_counter(), time.process_time()
print(json.dumps([ready[0] - start[0], done[0] - ready[0], done[1] - ready[1], len(repository.assets_defs_by_key)]))
"""


def main() -> None:
    """Print the figures beside their targets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=5, help="answers launched one after the other")
    parser.add_argument("--sources", type=int, default=200, help="sources with four layers each")
    options = parser.parse_args()
    with workplace() as place:
        answers(place, options.answers)
    with workplace() as place:
        scale(place, options.sources)


def answers(place: Workplace, count: int) -> None:
    """Launch the demo question `count` times on a source that is indexed already."""
    from webrag_dagster.demo import DEMO_QUERY, DEMO_URL

    config = {"urls": [DEMO_URL], "question": DEMO_QUERY}
    rows = []
    with place.running(*place.up()):
        place.ui.run_to_end("answer", config)  # takes the pages in
        for number in range(1, count + 1):
            ended = place.ui.run_to_end("answer", config)
            loop, events = _of_run(ended.run_id)
            rows.append((number, ended.status, ended.seconds, loop, ended.seconds - loop, events))
            time.sleep(5)  # as a person who reads an answer; the next warm worker is ready by then
    cells = [(n, status, *(f"{s:.2f}" for s in seconds), events) for n, status, *seconds, events in rows]
    print_table(("answer", "ended", "launch to end s", "loop s", "platform s", "event rows"), cells)
    platform = statistics.median(row[4] for row in rows)
    out.print(f"platform time: median {platform:.2f} s, most {max(row[4] for row in rows):.2f} s (target 3 s);")
    out.print(f"event rows: most {max(row[5] for row in rows)} per answer (target 60); load {os.getloadavg()[0]:.1f}")


def scale(place: Workplace, count: int) -> None:
    """Loading, sensor ticks and partition pages with `count` sources of four layers."""
    for what, lines, files in (("no more sources", 0, 0), ("a table of more", count, 0), ("a file for each", 0, count)):
        tree = _copy(place.folder / f"tree-{lines}-{files}")
        _declare(tree, files)
        _tabulate(tree, lines)
        importing, wall, cpu, assets = min((_load(tree) for _ in range(3)), key=lambda item: item[2])
        out.print(
            f"definitions with {what}: {wall:.2f} s, {cpu:.2f} CPU-seconds for {assets:.0f} assets (target 3 s), after"
            f" {importing:.2f} s for importing Dagster itself"
        )
    snapshot = place.folder / "sites.warc.gz"
    os.environ["WEBRAG_WARC"] = str(snapshot)
    urls = [f"https://site-{number:03d}.example/docs/" for number in range(count)]
    _snapshot(snapshot, urls, "first")
    asyncio.run(_index(urls))
    with dg.DagsterInstance.get() as instance:
        clock = _Clock(instance)
        clock.tick("all new to Dagster")
        clock.tick("a tick later")
        _snapshot(snapshot, urls, "second")
        clock.tick("every site changed")
    with place.running(
        sys.executable, "-m", "dagster_webserver", "-p", str(place.port), "-m", "webrag_dagster.definitions"
    ):
        for asset in UPSTREAM:
            times = []
            for _ in range(3):
                started = time.perf_counter()
                result = place.ui.partitions(asset)["partitionStats"]
                times.append(time.perf_counter() - started)
            out.print(
                f"partitions of {asset}: {result['numMaterialized']} of {result['numPartitions']},"
                f" first {times[0]:.2f} s, then {min(times[1:]):.2f} s (target 1 s)"
            )


def _of_run(run_id: str) -> tuple[float, int]:
    """Seconds that the loop itself took, and rows in Dagster's event log."""
    with dg.DagsterInstance.get() as instance:
        logs = instance.all_logs(run_id)
        records = instance.fetch_materializations(dg.AssetKey("answers"), limit=20).records
    results = [record.asset_materialization for record in records if record.run_id == run_id]
    if not results or results[0] is None:
        raise RuntimeError("; ".join(entry.message for entry in logs[-3:]))
    return float(str(results[0].metadata["seconds"].value)), len(logs)


def _copy(tree: Path) -> Path:
    """A copy of the code location; the frozen sites are links, since an evaluation is defined where its site is."""
    for package in ("webrag_core", "webrag_dagster", "evals"):
        shutil.copytree(ROOT / package, tree / package, ignore=shutil.ignore_patterns("__pycache__", "*.warc.gz"))
    for site in (ROOT / "evals" / "sites").glob("*.warc.gz"):
        (tree / "evals" / "sites" / site.name).symlink_to(site)
    shutil.copy(ROOT / "pyproject.toml", tree)
    return tree


def _declare(tree: Path, count: int) -> None:
    """Source files as the shipped one, for `count` more sites."""
    sources = tree / "webrag_dagster" / "defs" / "sources"
    template = next(iter(sorted(sources.glob("*/defs.yaml")))).read_text()
    for number in range(count):
        folder = sources / f"site_{number:03d}"
        folder.mkdir()
        declared = re.sub(r"(?m)^  scope:.*\n", "", template)
        declared = re.sub(r"(?m)^  seed:.*$", f"  seed: https://site-{number:03d}.example/docs/", declared)
        (folder / "defs.yaml").write_text(declared)


def _tabulate(tree: Path, count: int) -> None:
    """One table of `count` more sites; none for 0."""
    if not count:
        return
    folder = tree / "webrag_dagster" / "defs" / "sources" / "many"
    folder.mkdir()
    (folder / "defs.yaml").write_text("type: webrag_dagster.components.SourceTable\n")
    sources = [{"seed": f"https://site-{number:03d}.example/docs/", "refresh": "daily"} for number in range(count)]
    (folder / "sources.jsonl").write_text("\n".join(map(json.dumps, sources)))


def _load(tree: Path) -> tuple[float, ...]:
    """Loading it in a fresh interpreter: seconds for Dagster, for the definitions, their CPU-seconds, assets."""
    compiled = {"PYTHONPYCACHEPREFIX": str(tree.parent / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}  # as installed
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _LOAD],
        cwd=tree,
        env={**os.environ, **compiled, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(json.loads(done.stdout))


def _snapshot(target: Path, urls: list[str], edition: str) -> None:
    """A frozen copy of sites of one page and a site map each, which differ from edition to edition."""
    files = []
    for number, url in enumerate(urls):
        page = target.parent / f"page-{number}.html"
        page.write_text(
            f"<html><head><title>Site {number}</title></head><body><main><h1>Site {number}</h1>"
            f"<p>This is the {edition} edition of what site {number} says.</p></main></body></html>"
        )
        site_map = page.with_suffix(".xml")
        day = 1 if edition == "first" else 2
        site_map.write_text(
            '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
            f"<url><loc>{url}</loc><lastmod>2026-01-0{day}</lastmod></url></urlset>"
        )
        files += [(url, page), (url.replace("docs/", "sitemap.xml"), site_map)]
    written = target.with_suffix(".next")
    write_warc(written, files)
    written.replace(target)


async def _index(urls: list[str]) -> None:
    from webrag_core.config import load_settings
    from webrag_core.corpus.sources import attach_source
    from webrag_core.indexing.pipeline import Corpus

    async with Corpus.open(load_settings()) as corpus:
        for url in urls:
            await corpus.add(url)
        async with corpus.database.transaction() as connection:
            for url in urls:
                await attach_source(connection, url, 100)


class _Clock:
    """Ticks every sensor as the daemon does: events are stored, cursors are kept."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        from webrag_dagster.definitions import definitions

        self._instance = instance
        self._definitions = definitions()
        self._cursors: dict[str, str | None] = {}
        self._conditions: dg.AssetDaemonCursor | None = None

    def tick(self, when: str) -> None:
        """One tick of every sensor, then one of the automation conditions, whose runs are not launched."""
        repository = self._definitions.get_repository_def()
        for sensor in repository.sensor_defs:
            if isinstance(sensor, dg.AutomationConditionSensorDefinition):
                continue
            context = dg.build_sensor_context(
                instance=self._instance,
                repository_def=repository,
                resources={"corpus": CorpusResource()},
                cursor=self._cursors.get(sensor.name),
            )
            started = time.perf_counter()
            data = sensor.evaluate_tick(context)
            seconds = time.perf_counter() - started
            events = data.asset_events
            for event in events:
                self._instance.report_runless_asset_event(event)
            stored = time.perf_counter() - started - seconds
            self._cursors[sensor.name] = data.cursor
            summary = (
                f"{len(data.run_requests or [])} runs, {len(events)} events, stored by the daemon in {stored:.2f} s"
            )
            _tell(when, sensor.name, seconds, summary if events else data.skip_message or summary)
        started, cpu = time.perf_counter(), time.process_time()
        with partitions_read_once(self._instance):
            result = dg.evaluate_automation_conditions(self._definitions, self._instance, cursor=self._conditions)
        self._conditions = result.cursor
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        _tell(when, "the automation conditions", seconds, f"{result.total_requested} requested, {cpu:.2f} CPU-seconds")


@contextmanager
def partitions_read_once(instance: dg.DagsterInstance) -> Iterator[None]:
    """Let an evaluation read the keys of a dynamic partition once, as the daemon does: the function for tests reads
    them again for each condition, which takes ten times as long as everything else."""
    instance.get_dynamic_partitions = cache(instance.get_dynamic_partitions)  # type: ignore[method-assign]
    try:
        yield
    finally:
        del instance.get_dynamic_partitions


def _tell(when: str, name: str, seconds: float, outcome: str) -> None:
    summary = f"{when}: tick of {name} {seconds:.2f} s ({outcome}; target 10 s)"
    out.print(summary, markup=False, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
