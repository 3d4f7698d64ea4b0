"""The code location: everything under `defs/`, sources that files of the home declare, and those that were attached.
Loading it opens no socket and no database."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path

import dagster as dg

from webrag_dagster.broken_source import GROUP
from webrag_dagster.corpus.layers import WEB_PAGES
from webrag_dagster.corpus.source_assets import attached_sources
from webrag_dagster.processes.code_identity import CODE, code_identity
from webrag_dagster.resources import CorpusResource
from webrag_dagster.source_folders import home_sources


@dg.definitions
def definitions() -> dg.Definitions:
    """All definitions. Steps run in the process of their run: a run of one site has nothing to gain from more. Resource
    `corpus` is as the environment asks for it; `result_of_run` keeps an op's result for the process of its run."""
    return _loaded()


@cache
def _loaded() -> dg.Definitions:
    # once per process: a worker that waits for its run has them ready
    return dg.Definitions.merge(
        _with_declared_sources(
            dg.Definitions.merge(
                dg.load_from_defs_folder(path_within_project=Path(__file__).parent),
                dg.Definitions(assets=[*home_sources(), *attached_sources()]),
            )
        ),
        dg.Definitions(
            executor=dg.in_process_executor,
            resources={"corpus": CorpusResource(), "result_of_run": dg.mem_io_manager},
            metadata={CODE: code_identity()},
        ),
    )


def _with_declared_sources(loaded: dg.Definitions) -> dg.Definitions:
    """Draw an edge from every source to the pages on the web."""
    specs = [
        spec
        for asset in loaded.assets or ()
        for spec in (asset.specs if isinstance(asset, dg.AssetsDefinition) else [asset])
    ]
    declared = [spec.key for spec in specs if isinstance(spec, dg.AssetSpec) and spec.key.path[0] == GROUP]

    def after_its_sources(spec: dg.AssetSpec) -> dg.AssetSpec:
        return spec.merge_attributes(deps=declared) if spec.key == dg.AssetKey(WEB_PAGES) else spec

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.PreviewWarning)
        return loaded.map_asset_specs(func=after_its_sources)
