"""The graph at 100,000 pages: times of the tasks, of hubs, and of writing the edges of a changed page.

    python -m benchmarks.graph.scale [--pages N] [--tasks N]

The corpus is generated (`generated_graph`): every page links to the front page, a third of the links and most mentions
go to few targets. The times are of the library's functions with everything: the key is resolved, the quotes are read.
Targets (p95, on a quiet machine): 1 hop 15 ms, 2 hops 60 ms, hierarchy 10 ms, linked items 15 ms, update 25 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks.graph.generated_graph import DEFINED, HOST, fill
from webrag_core.config import load_settings
from webrag_core.corpus.documents import load_version
from webrag_core.errors import IntegrityError
from webrag_core.indexing.graph.edges import rebuild_edges
from webrag_core.retrieval.graph.tasks import expand_related, hierarchy, linked_items
from webrag_core.store.database import Database

TARGETS = {"1 hop": 15, "2 hops": 60, "hierarchy": 10, "linked items": 15, "update of a changed page": 25}
_SEED = 7


async def measure(home: Path, pages: int, tasks: int) -> dict[str, object]:
    """Fill a corpus and time the tasks; milliseconds."""
    settings = load_settings(webrag_home=home, database_url=None)
    chance = random.Random(_SEED)
    async with await Database.open(settings) as database:
        began = time.perf_counter()
        async with database.long_job() as connection:
            edges = await fill(connection, pages)
            cursor = await connection.execute(
                "SELECT pg_total_relation_size('graph_edges'), (SELECT max(degree_in) FROM graph_nodes),"
                " (SELECT count(*) FROM graph_nodes)"
            )
            size, hub, nodes = await cursor.fetchone() or (0, 0, 0)
        filled = time.perf_counter() - began
        report: dict[str, object] = {
            "pages": pages,
            "nodes": nodes,
            "edges": edges,
            "edges_mb": round(size / 1e6),
            "most_incoming": hub,
            "filled_s": round(filled),
        }

        def page() -> str:
            return f"{HOST}/p{chance.randint(1, pages)}.html"

        def symbol() -> str:
            return f"bench.example:module{chance.randint(1, pages)}.f{chance.randint(1, DEFINED)}"

        front, popular = f"{HOST}/p1.html", "bench.example:module1.f1"
        async with database.connection() as connection:
            timed: dict[str, Callable[[], Awaitable[object]]] = {
                "1 hop": lambda: expand_related(connection, [chance.choice((page, symbol))()], depth=1),
                "2 hops": lambda: expand_related(connection, [chance.choice((page, symbol))()], depth=2),
                "hierarchy": lambda: hierarchy(connection, [page()]),
                "linked items": lambda: linked_items(connection, [chance.choice((page, symbol))()]),
                "1 hop, front page": lambda: expand_related(connection, [front], depth=1),
                "2 hops, front page": lambda: expand_related(connection, [front], depth=2),
                "2 hops, 5 keys": lambda: expand_related(connection, [page() for _ in range(5)], depth=2),
                "linked items, front page": lambda: linked_items(connection, [front]),
                "linked items, popular symbol": lambda: linked_items(connection, [popular]),
            }
            for name, task in timed.items():
                report[name] = await _times(task, tasks if "front" not in name else max(20, tasks // 5))
        report["update of a changed page"] = await _updates(database, min(tasks, pages // 2))
    report["targets_p95_ms"] = TARGETS
    return report


async def _times(task: Callable[[], Awaitable[object]], count: int) -> dict[str, float]:
    for _ in range(20):
        await task()
    times = []
    for _ in range(count):
        began = time.perf_counter()
        await task()
        times.append((time.perf_counter() - began) * 1e3)
    return _percentiles(times)


def _percentiles(times: list[float]) -> dict[str, float]:
    times = sorted(times)
    ranks = {"p50": len(times) // 2, "p95": int(0.95 * len(times)), "max": len(times) - 1}
    return {name: round(times[min(rank, len(times) - 1)], 1) for name, rank in ranks.items()}


def page_text(number: int, edition: int) -> str:
    """A page with about 65 edges; the next edition changes a tenth of them."""
    lines = [f"# Page {number}", "", "Its text says what it says."]
    for section in range(10):
        lines += ["", f"## Section {section}", ""]
        for sentence in range(3):
            changed = edition if section == 0 else 0
            lines.append(f"Call `module{number}.g{section}_{sentence}_{changed}()` first.")
        lines += [
            "",
            f"See `other.h{section}()` and `far.k{section}()`, too.",
            "",
            f"`made{section}()`",
            ":   Makes one.",
        ]
    return "\n".join(lines) + "\n"


async def _updates(database: Database, pages: int) -> dict[str, object]:
    """Times of writing the edges of pages whose text changed: extraction, nodes, transaction."""
    times = []
    edges = 0
    for number in range(2, pages + 2):
        for edition in (1, 2):
            async with database.transaction() as connection:
                cursor = await connection.execute(
                    "INSERT INTO document_versions (document_id, number, markdown, sha256, title, http_status,"
                    " media_type, fetched_at, extractor) VALUES (%s, %s, %s,"
                    " md5(random()::text) || md5(random()::text), 'T', 200, 'text/html', now(), 'bench') RETURNING id",
                    (number, edition + 1, page_text(number, edition)),
                )
                (version_id,) = await cursor.fetchone() or (0,)
                await connection.execute(
                    "UPDATE documents SET current_version = %s WHERE id = %s", (version_id, number)
                )
                version = await load_version(connection, int(version_id))
            if version is None:
                raise IntegrityError("a version that was written is missing")
            began = time.perf_counter()
            await rebuild_edges(database, version)
            if edition == 2:
                times.append((time.perf_counter() - began) * 1e3)
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT edges FROM graph_documents WHERE document_id = 2")
        (edges,) = await cursor.fetchone() or (0,)
    return {**_percentiles(times), "edges_of_the_page": edges}


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--tasks", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        print(json.dumps(asyncio.run(measure(Path(home), options.pages, options.tasks)), indent=1))


if __name__ == "__main__":
    main()
