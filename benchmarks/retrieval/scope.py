"""What a scope costs among 10,000, 100,000 and 400,000 documents: checking the names in its filters, resolving it, and
every size that a search asks for.

Rows of documents, versions and sizes are made up in the real tables of an embedded server; no page has a text. Half of
the documents belong to one source, a tenth to another, the rest to a hundred; a third is German, a twentieth a PDF, and
all are of ten years. Each scope is resolved and measured in a snapshot of its own, as a search does it. Times are ms:
by the clock, and the CPU time of client and server, which a busy machine does not blur, without that of parallel
workers. `by_ids` does to the whole corpus what every search did before sizes were kept: its documents are listed, sent
and added up.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from psycopg import AsyncConnection

from benchmarks.retrieval import vector_store
from benchmarks.retrieval.vectors import cpu_ms, quantiles
from webrag_core.config import Settings, load_settings
from webrag_core.retrieval.filters import check_filters
from webrag_core.retrieval.request import DateRange, ScopeFilter, SearchRequest
from webrag_core.retrieval.scope import Scope, ScopeSize, list_documents, resolve_scope, scope_size, within_dates
from webrag_core.store.database import Database

_ROUNDS = 30
_WARM_UP = 6  # rounds, after which the driver has prepared what it prepares

_ROWS = (
    "INSERT INTO sources (key) SELECT 'site' || n || '.example' FROM generate_series(1, 102) n",
    # triggers would measure every document by itself
    "SET session_replication_role = replica",
    "INSERT INTO documents (source_id, canonical_url, status, current_version) SELECT"
    " CASE WHEN mod(n, 2) = 0 THEN 1 WHEN mod(n, 10) = 1 THEN 2 ELSE 3 + mod(n / 2, 100) END,"
    " 'https://site.example/' || n || '.html', 'ready', n FROM generate_series(1, %(documents)s) n",
    "INSERT INTO document_versions (document_id, number, markdown, sha256, language, http_status, media_type,"
    " fetched_at, published, extractor) SELECT n, 1, '', md5(n::text) || md5(n::text),"
    " CASE WHEN mod(n, 3) = 0 THEN 'de' ELSE 'en' END, 200,"
    " CASE WHEN mod(n, 20) = 1 THEN 'application/pdf' ELSE 'text/html' END, now(),"
    " '2016-01-01'::timestamptz + make_interval(days => mod(n * 7, 3650)), 'bench'"
    " FROM generate_series(1, %(documents)s) n",
    "UPDATE documents SET kind = kind_of(current_version), months = months_of(current_version)",
    "SET session_replication_role = origin",
    "INSERT INTO document_sizes SELECT n, 4, 15, 3000 FROM generate_series(1, %(documents)s) n",
    "INSERT INTO lexical_documents SELECT n, 4, 1500 FROM generate_series(1, %(documents)s) n",
    "VACUUM ANALYZE",
)
_FILTERS = {
    "everything": ScopeFilter(),
    "half, one source": ScopeFilter(sources=["site1.example"]),
    "a tenth, one source": ScopeFilter(sources=["site2.example"]),
    ".4 %, one source": ScopeFilter(sources=["site7.example"]),
    "a third, by language": ScopeFilter(languages=["de"]),
    "a sixth, one source by language": ScopeFilter(sources=["site1.example"], languages=["de"]),
    "a twentieth, by type": ScopeFilter(types=["pdf"]),
    "half, by date": ScopeFilter(published=DateRange(end=datetime(2020, 12, 30, tzinfo=UTC))),
    ".3 %, by date": ScopeFilter(published=DateRange(end=datetime(2016, 1, 11, tzinfo=UTC))),
}
_YEAR = SearchRequest(query="year", requested_years=[2019])


async def measure(database: Database, documents: int) -> dict[str, object]:
    """Fill the tables, then resolve and measure every kind of scope."""
    async with database.connection() as connection:
        for statement in _ROWS:
            await connection.execute(statement.encode(), {"documents": documents})
    figures: dict[str, object] = {"documents": documents, "load": round(os.getloadavg()[0], 1)}
    for name, filters in _FILTERS.items():

        async def ask(connection: AsyncConnection, filters: ScopeFilter = filters) -> ScopeSize:
            await check_filters(connection, filters)
            return await scope_size(connection, await resolve_scope(connection, filters))

        figures[name] = await _timed(database, ask)
    figures["a tenth, by year"] = await _timed(database, _by_year)
    figures["by_ids"] = await _timed(database, _by_ids)
    return figures


async def _by_year(connection: AsyncConnection) -> ScopeSize:
    scope, _ = await within_dates(connection, Scope(None, {}), _YEAR.date_ranges)
    return await scope_size(connection, scope)


async def _by_ids(connection: AsyncConnection) -> ScopeSize:
    everything = await list_documents(connection, Scope(None, {}))
    return await scope_size(connection, Scope(tuple(everything), {}))


async def _timed(database: Database, ask: Callable[[AsyncConnection], Awaitable[ScopeSize]]) -> dict[str, object]:
    clock: list[float] = []
    cpu: list[float] = []
    size = None
    for _ in range(_WARM_UP + _ROUNDS):
        async with database.snapshot() as connection:
            await connection.execute("SELECT 1")
            spent, started = cpu_ms(connection), time.perf_counter()
            size = await ask(connection)
            clock.append((time.perf_counter() - started) * 1000)
            cpu.append(cpu_ms(connection) - spent)
    assert size is not None
    return {"inside": size.documents, "ms": quantiles(clock[_WARM_UP:]), "cpu_ms": quantiles(cpu[_WARM_UP:])}


async def _run(settings: Settings, counts: Sequence[int]) -> None:
    for documents in counts:
        async with vector_store.fresh_database(settings, "bench_scope") as database:
            print(json.dumps(await measure(database, documents)), flush=True)


def main() -> None:
    """Print one JSON object for each number of documents."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000, 100_000, 400_000])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(webrag_home=Path(folder), database_url=None)
        asyncio.run(_run(settings, arguments.documents))


if __name__ == "__main__":
    main()
