"""Resources of the code location."""

from __future__ import annotations

import dagster as dg

from webrag_dagster.resources import CorpusResource


@dg.definitions
def resources() -> dg.Definitions:
    """`corpus`, as the environment asks for it; `result_of_run` keeps an op's result for the process of its run."""
    return dg.Definitions(resources={"corpus": CorpusResource(), "result_of_run": dg.mem_io_manager})
