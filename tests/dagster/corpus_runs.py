"""Runs of the corpus jobs as a sensor, a schedule or a person would start them, and what they leave behind."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from tests.dagster.small_warc import write_site
from tests.local_site import page
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import load_settings
from webrag_core.indexing.pipeline import Corpus
from webrag_dagster.resources import CorpusResource

KEY = "tea.example"
HOME = f"https://{KEY}/"
GREEN, BLACK = HOME + "green", HOME + "black"
LAYERS = ("documents", "link_candidates", "chunks", "embeddings")

SITE = {
    HOME: page("Tea", "All about tea and water.", {"/green": "green tea", "/black": "black tea"}),
    GREEN: page("Green tea", "Green tea is brewed at eighty degrees."),
    BLACK: page("Black tea", "Black tea is brewed at ninety-five degrees."),
}
OTHER = "https://coffee.example/"
LATER = {**SITE, GREEN: page("Green tea", "Green tea is brewed at seventy degrees, not more.")}


def run_job(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    warc: Path,
    *,
    key: str = KEY,
    job: str = "refresh",
    tags: Mapping[str, str] | None = None,
    config: Mapping[str, Any] | None = None,
    assets: Sequence[str] | None = None,
) -> dg.ExecuteInProcessResult:
    """One run for one partition, of all assets of the job or of those named; a failure is in the result."""
    instance.add_dynamic_partitions("webrag_source", [key])
    run = definitions.resolve_job_def(job)
    if assets is not None:
        run = run.get_subset(asset_selection={dg.AssetKey(name) for name in assets})
    return run.execute_in_process(
        instance=instance,
        partition_key=key,
        resources={"corpus": CorpusResource(warc=str(warc))},
        tags=dict(tags or {}),
        run_config=dict(config or {}),
        raise_on_error=False,
    )


def add(warc: Path, *urls: str) -> None:
    """Index pages outside Dagster."""

    async def work() -> None:
        async with Corpus.open(load_settings(), WarcAcquirer(warc)) as corpus:
            for url in urls:
                await corpus.add(url)

    asyncio.run(work())


def tea_site(folder: Path) -> Path:
    """The tea site on its first day, with all of its pages indexed."""
    warc = write_site(folder / "site.warc.gz", SITE)
    add(warc, *SITE)
    return warc


def materialized(instance: dg.DagsterInstance, asset: str, key: str = KEY) -> list[dg.AssetMaterialization]:
    """All of one partition, newest first."""
    found = instance.fetch_materializations(
        dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), asset_partitions=[key]), limit=100
    ).records
    return [record.asset_materialization for record in found if record.asset_materialization]


def version(event: dg.AssetMaterialization) -> str:
    """Its data version."""
    return (event.tags or {})["dagster/data_version"]
