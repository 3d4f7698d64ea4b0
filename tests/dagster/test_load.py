"""The scale bench at a small size: every sensor and condition over some sources, and source files by the dozen."""

from __future__ import annotations

import asyncio
from pathlib import Path

import dagster as dg
import pytest

from webrag_dagster.bench import platform as bench_platform
from webrag_dagster.corpus.layers import UPSTREAM

KEYS = [f"site-{number}.example" for number in range(5)]


@pytest.mark.usefixtures("corpus_environment")
def test_every_sensor_ticks_over_all_sources(instance: dg.DagsterInstance) -> None:
    asyncio.run(bench_platform._attach(KEYS))
    bench_platform._materialize(instance, KEYS)
    for layer in UPSTREAM:
        assert instance.get_materialized_partitions(dg.AssetKey(layer)) == set(KEYS)
    ticks = {name: told for name, _, told in bench_platform._ticks(instance)}
    assert {"site_watch", "corpus_changes", "declared_sources"} <= set(ticks)
    assert len([name for name in ticks if "automation" in name]) == 2


def test_definitions_load_with_many_source_files(definitions: dg.Definitions, tmp_path: Path) -> None:
    tree = bench_platform._copy(tmp_path)
    bench_platform._declare(tree, 12)
    assert bench_platform._load(tree)[3] == len(definitions.get_repository_def().assets_defs_by_key) + 12
