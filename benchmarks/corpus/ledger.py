"""What a long history costs: `ledger_balances` of one source, and the admission of MCP calls among many links.

Run by `make bench-ledger`. Rows are made by generate_series on an embedded server of its own; 10 million ledger rows
need about 4 GB of disk and some minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from psycopg import AsyncConnection

from webrag_core.config import Settings
from webrag_core.corpus import verification
from webrag_core.corpus.stored_pages import known_hosts, known_urls
from webrag_core.store.database import Database

PAGES_PER_SOURCE = 1_000
SOURCES = 50
LINKS_PER_PAGE = 100
LINKING_PAGES = 10_000

_FILL = (
    "INSERT INTO sources (key) SELECT format('site%%s.example', n) FROM generate_series(1, %(sources)s) n",
    "INSERT INTO documents (source_id, canonical_url, status, reason)"
    " SELECT s.id, format('https://%%s/page-%%s', s.key, n), 'failed', 'timeout'"
    " FROM sources s, generate_series(1, %(pages)s) n",
    # one line per page and refresh, the oldest refresh first
    "INSERT INTO fetch_log (url, final_url, run_id, acquirer, outcome, http_status, started_at, ended_at)"
    " SELECT d.canonical_url, d.canonical_url, format('refresh-%%s-%%s', d.source_id, n), 'http', 'unchanged', 304,"
    " now() - make_interval(days => %(refreshes)s - n), now() - make_interval(days => %(refreshes)s - n)"
    " FROM generate_series(1, %(refreshes)s) n, documents d",
    "INSERT INTO refresh_runs (source_id, run_id, shard, started_at, discovered, fetched, unchanged, failed, skipped,"
    " not_due) SELECT s.id, format('refresh-%%s-%%s', s.id, n), -1, now() - make_interval(days => %(refreshes)s - n),"
    " %(pages)s, 0, %(pages)s, 0, 0, 0 FROM sources s, generate_series(1, %(refreshes)s) n",
    "UPDATE documents d SET last_outcome = f.outcome, last_reason = f.reason, last_run = f.run_id, last_fetch = f.id,"
    " last_fetch_at = f.ended_at FROM fetch_log f WHERE f.url = d.canonical_url"
    " AND f.run_id = format('refresh-%%s-%%s', d.source_id, %(refreshes)s)",
    "INSERT INTO document_versions (document_id, number, markdown, sha256, http_status, media_type, fetched_at,"
    " extractor) SELECT id, 1, '', repeat('0', 64), 200, 'text/html', now(), 'bench' FROM documents"
    " ORDER BY id LIMIT %(linking)s",
    "INSERT INTO link_candidates (version_id, ordinal, target_url, anchor_text, context, heading_path, in_navigation,"
    " nofollow) SELECT v.id, n, format('https://target%%s.example/section/page-%%s.html', (v.id * 7 + n) %% 500,"
    " (v.id * 31 + n) %% 200000), 'anchor', 'context', '{}', false, false"
    " FROM document_versions v, generate_series(1, %(links)s) n",
)


async def _fill(connection: AsyncConnection, refreshes: int) -> None:
    """Fill the tables without their secondary indexes and triggers, then build the indexes."""
    parameters = {
        "sources": SOURCES,
        "pages": PAGES_PER_SOURCE,
        "refreshes": refreshes,
        "linking": LINKING_PAGES,
        "links": LINKS_PER_PAGE,
    }
    await connection.execute("SET session_replication_role = replica")
    await connection.execute("SET maintenance_work_mem = '512MB'")
    cursor = await connection.execute(
        "SELECT c.relname, pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " WHERE i.indrelid IN ('fetch_log'::regclass, 'link_candidates'::regclass) AND NOT i.indisunique"
        " ORDER BY c.relname"
    )
    indexes = await cursor.fetchall()
    for name, _ in indexes:
        await connection.execute(f"DROP INDEX {name}".encode())
    for statement in _FILL:
        if statement.startswith("UPDATE documents"):
            for _, definition in indexes:
                await connection.execute(definition.encode())
            await connection.execute("ANALYZE fetch_log")
        await connection.execute(statement.encode(), parameters)
    await connection.execute("ANALYZE")


async def _timed(work: Callable[[], Awaitable[object]], runs: int = 5) -> str:
    seconds = []
    for _ in range(runs):
        begun = time.perf_counter()
        await work()
        seconds.append(time.perf_counter() - begun)
    return f"first {seconds[0] * 1000:.1f} ms, median of {runs} {statistics.median(seconds) * 1000:.1f} ms"


async def _measure(home: Path, rows: int) -> None:
    refreshes = max(1, rows // (SOURCES * PAGES_PER_SOURCE))
    async with await Database.open(Settings(webrag_home=home)) as database, database.connection() as connection:
        begun = time.perf_counter()
        await _fill(connection, refreshes)
        cursor = await connection.execute(
            "SELECT (SELECT count(*) FROM fetch_log), (SELECT count(*) FROM link_candidates),"
            " pg_total_relation_size('fetch_log'), pg_relation_size('link_candidates_target')"
        )
        lines, links, ledger_bytes, index_bytes = await cursor.fetchone() or (0, 0, 0, 0)
        print(
            f"{lines:,} ledger rows ({ledger_bytes / 1e6:,.0f} MB), {links:,} links (index on their targets"
            f" {index_bytes / 1e6:,.0f} MB), filled in {time.perf_counter() - begun:.0f} s"
        )
        cursor = await connection.execute(
            "SELECT array_agg(d.id) FROM documents d JOIN sources s ON s.id = d.source_id WHERE s.key = %s",
            ("site7.example",),
        )
        documents = (await cursor.fetchone() or ([],))[0]
        assert await verification.verify_ledger(connection, "site7.example", documents) == []
        print(
            f"ledger_balances of {len(documents):,} pages:",
            await _timed(lambda: verification.verify_ledger(connection, "site7.example", documents)),
        )
        for rule, plan in await verification.explain_ledger(connection, "site7.example", documents):
            print(f"  {rule}: {'; '.join(line.strip() for line in plan if 'Scan' in line)}")
        hosts = ["site7.example", "unknown.example"]
        print("known_hosts of two hosts:", await _timed(lambda: known_hosts(connection, hosts)))
        urls = [f"https://unknown.example/{n}" for n in range(20)]
        print("known_urls of 20 URLs:", await _timed(lambda: known_urls(connection, urls)))


def main() -> None:
    """Measure once and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="ledger rows")
    parser.add_argument("--home", type=Path, help="folder of the server; default: a temporary one")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measure(arguments.home or Path(folder), arguments.rows))


if __name__ == "__main__":
    main()
