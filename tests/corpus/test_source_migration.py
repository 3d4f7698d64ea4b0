"""A corpus with one source per host, as versions before sections had it, becomes one with a source per section."""

from __future__ import annotations

import asyncio
import hashlib

import psycopg
import pytest

from webrag_core.config import Settings
from webrag_core.corpus.refresh_store import signal_records
from webrag_core.corpus.sources import find_source, list_sources
from webrag_core.store.database import Database
from webrag_core.store.migrate import migrations

_BEFORE = "0010"

pytestmark = pytest.mark.unmigrated


def source(connection: psycopg.Connection, key: str, prefix: str = "/", pages: int | None = None) -> None:
    """A source as it was: its key is its host, attached where it has a page limit."""
    connection.execute(
        "INSERT INTO sources (key, seed_url, path_prefix, page_limit, map_entries) VALUES (%s, %s, %s, %s, 7)",
        (key, f"https://{key}{prefix}" if pages is not None else None, prefix, pages),
    )


def page(connection: psycopg.Connection, url: str, *, stored: bool = True) -> None:
    """A document of its host, with a version or failed."""
    connection.execute(
        "INSERT INTO documents (source_id, canonical_url, status, reason)"
        " SELECT id, %s, 'failed', 'not_found' FROM sources WHERE key = split_part(%s, '/', 3)",
        (url, url),
    )
    connection.execute(
        "INSERT INTO fetch_log (url, acquirer, outcome, reason, started_at) VALUES (%s, 'http', %s, %s, now())",
        (url, "fetched" if stored else "failed", None if stored else "not_found"),
    )
    if stored:
        connection.execute(
            "WITH made AS (INSERT INTO document_versions (document_id, number, markdown, sha256, http_status,"
            " media_type, fetched_at, extractor) SELECT id, 1, canonical_url, %s, 200, 'text/html', now(), 'test'"
            " FROM documents WHERE canonical_url = %s RETURNING id, document_id)"
            " UPDATE documents d SET current_version = m.id, status = 'running', reason = NULL FROM made m"
            " WHERE d.id = m.document_id",
            (hashlib.sha256(url.encode()).hexdigest(), url),
        )


def test_sections_keep_their_pages_and_the_rest_of_the_host_is_a_source_too(
    settings: Settings, database_url: str
) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("CREATE TABLE schema_migrations (name text PRIMARY KEY, applied_at timestamptz)")
        for migration in migrations():
            if migration.name < _BEFORE:
                connection.execute(migration.sql.encode())
                connection.execute("INSERT INTO schema_migrations (name) VALUES (%s)", (migration.name,))
        source(connection, "tea.example", "/guide/", 20)
        page(connection, "https://tea.example/guide/")
        page(connection, "https://tea.example/guide")
        page(connection, "https://tea.example/guide/lost", stored=False)
        page(connection, "https://tea.example/green")
        page(connection, "https://tea.example/missing", stored=False)
        source(connection, "only.example", "/docs", 20)
        page(connection, "https://only.example/docs/one")
        page(connection, "https://only.example/mistyped", stored=False)
        source(connection, "whole.example:8080", "/", 20)
        page(connection, "https://whole.example:8080/one")
        source(connection, "detached.example", "/old/")
        page(connection, "https://detached.example/one")
        source(connection, "found.example")
        page(connection, "https://found.example/one")
        source(connection, "mistyped.example")
        page(connection, "https://mistyped.example/", stored=False)
        source(connection, "empty.example", "/", 5)
        connection.execute(
            "INSERT INTO fetch_log (url, acquirer, outcome, reason, started_at) VALUES"
            " ('https://tea.example/guide/far', 'http', 'skipped', 'page_limit', now()),"
            " ('https://tea.example/guide/far', 'http', 'skipped', 'crawler_trap', now()),"
            " ('https://nowhere.example/', 'http', 'skipped', 'page_limit', now())"
        )
        connection.execute(
            "INSERT INTO change_signals (source_id, signal, silent_same) SELECT id, 'sitemap', 9 FROM sources"
            " WHERE key = 'tea.example'"
        )
        before = connection.execute("SELECT count(*) FROM document_versions").fetchone()

    async def work() -> None:
        async with await Database.open(settings) as database, database.transaction() as connection:
            held = {}
            for listed in await list_sources(connection):
                cursor = await connection.execute(
                    "SELECT canonical_url FROM documents WHERE source_id = %s ORDER BY 1", (listed.id,)
                )
                held[listed.key] = [row[0].partition("://")[2] for row in await cursor.fetchall()]
            assert held == {
                "detached.example": ["detached.example/one"],
                "empty.example": [],
                "found.example": ["found.example/one"],
                "only.example/docs": ["only.example/docs/one"],
                "tea.example": ["tea.example/green", "tea.example/missing"],
                "tea.example/guide": ["tea.example/guide", "tea.example/guide/", "tea.example/guide/lost"],
                "whole.example:8080": ["whole.example:8080/one"],
            }
            guide = await find_source(connection, "tea.example/guide")
            assert (guide.seed_url, guide.path_prefix) == ("https://tea.example/guide/", "/guide/")
            assert (guide.page_limit, guide.map_entries) == (20, 7)
            assert (await signal_records(connection, guide))["sitemap"].silent_same == 9
            cursor = await connection.execute("SELECT source_id, url, reason FROM skipped_urls")
            assert await cursor.fetchall() == [(guide.id, "https://tea.example/guide/far", "crawler_trap")]
            cursor = await connection.execute("SELECT count(*) FROM document_versions")
            assert await cursor.fetchone() == before

    asyncio.run(work())
