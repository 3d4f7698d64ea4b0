"""A process that has imported everything a run needs and waits for one run to execute.

What a launch costs is mostly imports. The launcher keeps one such process ready; it reads the run as one line from
its standard input, executes it as `dagster api execute_run` does, and ends. When its input ends without a line (the
launcher is gone), it ends too.
"""

from __future__ import annotations

import importlib
import sys

_NEEDED = (
    "dagster._core.execution.api",
    "dagster_postgres",
    "webrag_core.indexing.pipeline",
    "webrag_core.orchestration.engine",
    "webrag_dagster.metadata",
    "webrag_dagster.corpus.refreshing",
    "webrag_dagster.corpus.touched",
)


def main() -> None:
    """Argument: the working directory from which the code location was loaded."""
    from dagster._cli.api import api_cli
    from dagster._core.definitions.reconstruct import ReconstructableRepository

    for name in _NEEDED:
        importlib.import_module(name)
    # definitions are loaded once per process: the run finds them, and the job that people wait for, ready
    location = ReconstructableRepository.for_module("webrag_dagster.definitions", "definitions", sys.argv[1])
    location.get_definition().get_job("answer")
    line = sys.stdin.readline().strip()
    if line:
        api_cli.main(args=["execute_run", line], prog_name="dagster api")


if __name__ == "__main__":
    main()
