"""From a changed page to its new vectors, with Dagster's real daemon: `python -m benchmarks.platform.watch`.

A copy of a frozen site is replaced by a second snapshot in which one page differs. Then the clock runs until that page
is searchable with its vectors, at the default intervals of all sensors, and every run is listed: there must be one.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import re
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import dagster as dg
import psycopg

from benchmarks.platform.workplace import Workplace, workplace
from evals.walks.goldens import DEFAULT_SITE
from webrag_core.acquisition.urls import source_key
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import load_settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.store.embedded import embedded_url

_SITES = ("python-3.11.warc.gz", "rust-1.63.warc.gz")
_LIMIT_S = 180.0
_AT_THEIR_HOUR = ("inventory_schedule", "nightly_evals", "nightly_prune")
"""Schedules that have nothing to do with what changed."""
_MARK = "Changed by the bench, round"


@dataclass(frozen=True, slots=True)
class Change:
    """One changed page: when it was observed, when a run was asked for and began, when its new text and its vectors
    were there. `runs` counts all runs that began since, by partition or job."""

    page: str
    noticed_after_s: float
    asked_after_s: float
    started_after_s: float
    current_after_s: float
    from_notice_to_current_s: float
    runs: dict[str, int]


def main() -> int:
    """Print one JSON object; exit code 1 when a change took longer than a minute or anything else ran."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="changed pages, one after the other")
    parser.add_argument("--pages", type=int, default=40, help="pages of each site that the corpus holds")
    options = parser.parse_args()
    with workplace() as place:
        report = _measure(place, options.rounds, options.pages)
    print(json.dumps(report, indent=1))
    return 0 if report["met"] else 1


def _measure(place: Workplace, rounds: int, pages: int) -> dict[str, object]:
    snapshot = place.folder / "sites.warc"
    content = b"".join(gzip.decompress((DEFAULT_SITE.parent / name).read_bytes()) for name in _SITES)
    snapshot.write_bytes(content)
    os.environ["WEBRAG_WARC"] = str(snapshot)
    database = embedded_url(load_settings().webrag_home)
    held = asyncio.run(_index(snapshot, pages))
    changes = []
    with place.running(*place.up()), dg.DagsterInstance.get() as instance:
        try:
            _wait_until_quiet(instance)
            for number in range(rounds):
                url = held[number * 37 % len(held)]
                content = _with(content, url, f"{_MARK} {number}.")
                changes.append(_change(instance, database, snapshot, content, url, f"{_MARK} {number}."))
        except TimeoutError:
            print((place.folder / "log.txt").read_text(errors="replace")[-4000:], file=sys.stderr)
            raise
    seconds = [change.current_after_s for change in changes]
    return {
        "pages_held": len(held),
        "rounds": [asdict(change) for change in changes],
        "current_after_s": {"median": median(seconds), "worst": max(seconds), "target": 60},
        "met": max(seconds) <= 60 and all(change.runs == {source_key(change.page): 1} for change in changes),
    }


async def _index(snapshot: Path, pages: int) -> list[str]:
    """Hold the first pages of each site; returns them."""
    async with Corpus.open(load_settings(), WarcAcquirer(snapshot)) as corpus:
        every = WarcAcquirer(snapshot).page_urls()
        held = [url for key in sorted({source_key(url) for url in every}) for url in _of(every, key)[:pages]]
        for url in held:
            await corpus.add(url)
    return held


def _of(urls: list[str], key: str) -> list[str]:
    return [url for url in urls if source_key(url) == key]


def _wait_until_quiet(instance: dg.DagsterInstance) -> None:
    """The daemon is up, the corpus is told, and every sensor has had its first tick."""
    until = time.monotonic() + _LIMIT_S
    while time.monotonic() < until:
        if instance.get_dynamic_partitions("webrag_source") and _finished(instance) and _ticks(instance) >= 3:
            return
        time.sleep(1)
    raise TimeoutError("the platform did not come up")


def _ticks(instance: dg.DagsterInstance) -> int:
    """Fewest ticks of a sensor that takes part."""
    states = {state.instigator_name: state for state in instance.all_instigator_state()}
    names = ("site_watch", "corpus_changes", "corpus_automation")
    return min(
        len(instance.get_ticks(states[name].instigator_origin_id, states[name].selector_id, limit=5))
        if name in states
        else 0
        for name in names
    )


def _finished(instance: dg.DagsterInstance) -> bool:
    return all(run.is_finished for run in instance.get_runs())


def _change(instance: dg.DagsterInstance, database: str, snapshot: Path, content: bytes, url: str, mark: str) -> Change:
    """Replace the snapshot, and wait until the page that differs is searchable and all runs have ended."""
    before = {run.run_id for run in instance.get_runs()}
    observed = _observations(instance)
    following = snapshot.with_suffix(".next")
    following.write_bytes(content)
    begun, clock = time.monotonic(), time.time()
    os.replace(following, snapshot)
    noticed = current = None
    while time.monotonic() - begun < _LIMIT_S and (current is None or not _finished(instance)):
        time.sleep(0.25)
        now = time.monotonic() - begun
        if noticed is None and _observations(instance) > observed:
            noticed = now
        if current is None and _is_current(database, url, mark):
            current = now
    if noticed is None or current is None:
        raise TimeoutError(f"{url} is not current after {_LIMIT_S} s")
    time.sleep(15)  # whoever would do work twice has asked for it by then
    new = [record for record in instance.get_run_records() if record.dagster_run.run_id not in before]
    new = [record for record in new if record.dagster_run.tags.get("dagster/schedule_name") not in _AT_THEIR_HOUR]
    runs = Counter(record.dagster_run.tags.get("dagster/partition", record.dagster_run.job_name) for record in new)
    delay = min((record.create_timestamp.timestamp() - clock for record in new), default=0.0)
    started = min((record.start_time - clock for record in new if record.start_time is not None), default=0.0)
    return Change(
        page=url,
        noticed_after_s=round(noticed, 1),
        asked_after_s=round(delay, 1),
        started_after_s=round(started, 1),
        current_after_s=round(current, 1),
        from_notice_to_current_s=round(current - noticed, 1),
        runs=dict(runs),
    )


def _observations(instance: dg.DagsterInstance) -> int:
    return len(instance.fetch_observations(dg.AssetKey("web_pages"), limit=1000).records)


def _is_current(database: str, url: str, mark: str) -> bool:
    """The page's current version has the mark, and every child chunk of it a vector."""
    with psycopg.connect(database) as connection:
        row = connection.execute(
            "SELECT strpos(v.markdown, %s) > 0 AND v.child_count = (SELECT count(*) FROM chunks c"
            " JOIN contract.v_embedding e ON e.chunk_id = c.id WHERE c.version_id = v.id AND c.level = 'child')"
            " FROM documents d JOIN document_versions v ON v.id = d.current_version WHERE d.canonical_url = %s",
            (mark, url),
        ).fetchone()
    return bool(row and row[0])


def _with(original: bytes, url: str, mark: str) -> bytes:
    """The archive with one page changed: a paragraph more, another ETag, and lengths that say so."""
    uri = original.index(b"WARC-Target-URI: " + url.encode() + b"\r\n")
    begin = original.rindex(b"WARC/1.0\r\n", 0, uri)
    head_end = original.index(b"\r\n\r\n", uri) + 4
    length = re.search(rb"Content-Length: (\d+)\r\n", original[uri:head_end])
    assert length is not None
    end = head_end + int(length[1])
    http, body = original[head_end:end].split(b"\r\n\r\n", 1)
    changed = body.replace(b"<p>", b"<p>" + mark.encode() + b"</p><p>", 1)
    http = re.sub(rb"(?i)\r\netag: [^\r]*", b'\r\nETag: "' + str(hash(mark)).encode() + b'"', http)
    http = re.sub(rb"(?i)\r\ncontent-length: \d+", f"\r\nContent-Length: {len(changed)}".encode(), http)
    record = http + b"\r\n\r\n" + changed
    head = original[begin:head_end].replace(length[0], f"Content-Length: {len(record)}\r\n".encode())
    head = re.sub(rb"WARC-(?:Payload|Block)-Digest: [^\r]*\r\n", b"", head)
    return original[:begin] + head + record + original[end:]


if __name__ == "__main__":
    raise SystemExit(main())
