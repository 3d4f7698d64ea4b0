"""The code location: everything under `defs/`. Loading it opens no file of the corpus, no socket, no database."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import dagster as dg

from webrag_dagster.processes.code_identity import CODE, code_identity


@dg.definitions
def definitions() -> dg.Definitions:
    """All definitions. Steps run in the process of their run: a run of one site has nothing to gain from more."""
    return _loaded()


@cache
def _loaded() -> dg.Definitions:
    # once per process: a worker that waits for its run has them ready
    return dg.Definitions.merge(
        dg.load_from_defs_folder(path_within_project=Path(__file__).parent),
        dg.Definitions(executor=dg.in_process_executor, metadata={CODE: code_identity()}),
    )
