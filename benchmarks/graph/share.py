"""What the graph costs of indexing: CPU seconds with it and without it, everything counted.

    python -m benchmarks.graph.share [--pages N] [--rounds N]

Indexes the first pages of the frozen Python site into empty databases, in turns with and without edges; the difference
is the graph's share: extraction, node ids, the transaction's longer part, its part of the database server. Target: 8 %.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.corpus.index import measure
from evals.walks.goldens import DEFAULT_SITE
from webrag_core.indexing import indexer
from webrag_core.indexing.graph.model import Extraction


@contextmanager
def _without_edges() -> Iterator[None]:
    """Index as before there was a graph: nothing is read for it, resolved or written."""

    async def nothing(*_: Any) -> Any:
        return {}

    async def written(*_: Any) -> bool:
        return True

    with (
        patch.object(indexer, "edges_of", lambda *_: Extraction([], None)),
        patch.object(indexer, "page_inputs", nothing),
        patch.object(indexer, "resolve_nodes", nothing),
        patch.object(indexer, "replace_edges", written),
    ):
        yield


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    seconds: dict[str, list[float]] = {"with": [], "without": []}
    parts: dict[str, list[float]] = {"with": [], "without": []}
    for _ in range(options.rounds):
        for name in ("without", "with"):
            with tempfile.TemporaryDirectory() as home:
                if name == "with":
                    report = asyncio.run(measure(Path(home), [DEFAULT_SITE], options.pages))
                else:
                    with _without_edges():
                        report = asyncio.run(measure(Path(home), [DEFAULT_SITE], options.pages))
            # the workers of earlier rounds are counted again in later ones: they convert the same pages either way
            process, database = float(str(report["cpu_s_this_process"])), float(str(report["cpu_s_postgresql"]))
            parts[name].append(round(process + database, 1))
            seconds[name].append(float(str(report["cpu_s_workers"])))
    workers = (seconds["with"][-1]) / (2 * options.rounds)  # the sum over all rounds, by the end of the last
    with_edges, without = min(parts["with"]) + workers, min(parts["without"]) + workers
    print(
        json.dumps(
            {
                "pages": options.pages,
                "cpu_s_process_and_database": parts,
                "cpu_s_workers_a_round": round(workers, 1),
                "share": round((with_edges - without) / with_edges, 3),
                "target": 0.08,
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
