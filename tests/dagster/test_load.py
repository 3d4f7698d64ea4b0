"""The scale bench at a small size: every sensor and condition over some sources, and source files by the dozen."""

from __future__ import annotations

import asyncio
from pathlib import Path

import dagster as dg
import pytest

from benchmarks.platform import platform as bench_platform
from webrag_dagster.corpus.layers import UPSTREAM

URLS = [f"https://site-{number}.example/docs/" for number in range(5)]


@pytest.mark.usefixtures("corpus_environment")
def test_every_sensor_ticks_over_all_sources(
    stored_instance: dg.DagsterInstance,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    snapshot = tmp_path / "sites.warc.gz"
    monkeypatch.setenv("WEBRAG_WARC", str(snapshot))
    bench_platform._snapshot(snapshot, URLS, "first")
    asyncio.run(bench_platform._index(URLS))
    clock = bench_platform._Clock(stored_instance)
    clock.tick("new")
    for layer in UPSTREAM:
        found = stored_instance.get_materialized_partitions(dg.AssetKey(layer))
        assert found == {f"site-{number}.example/docs" for number in range(5)}
    bench_platform._snapshot(snapshot, URLS, "second")
    clock.tick("changed")
    told = capsys.readouterr().out
    for name in ("site_watch", "corpus_changes", "declared_sources", "the automation conditions"):
        assert (f"new: tick of {name} " in told, f"changed: tick of {name} " in told) == (True, True)
    assert f"({len(URLS) * len(UPSTREAM)} requested" in told, "every layer of every site that changed"


def test_definitions_load_with_many_source_files(definitions: dg.Definitions, tmp_path: Path) -> None:
    tree = bench_platform._copy(tmp_path)
    bench_platform._declare(tree, 12)
    assert bench_platform._load(tree)[3] == len(definitions.get_repository_def().assets_defs_by_key) + 12
