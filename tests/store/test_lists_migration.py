"""A corpus from before lists were read by columns: the columns say what had to be worked out until then."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from webrag_core.config import Settings
from webrag_core.corpus.outbox import unfinished_sources
from webrag_core.history.answers import list_answers
from webrag_core.retrieval.filters import check_filters
from webrag_core.retrieval.request import ScopeFilter
from webrag_core.retrieval.scope import resolve_scope, scope_size
from webrag_core.store.database import Database
from webrag_core.store.migrate import migrations

_BEFORE = "0035"

pytestmark = pytest.mark.unmigrated


@pytest.fixture
def older(database_url: str) -> str:
    """A database as it was before."""
    with psycopg.connect(database_url) as connection:
        connection.execute("CREATE TABLE schema_migrations (name text PRIMARY KEY, applied_at timestamptz)")
        for migration in migrations():
            if migration.name < _BEFORE:
                connection.execute(migration.sql.encode())
                connection.execute("INSERT INTO schema_migrations (name) VALUES (%s)", (migration.name,))
    return database_url


def test_runs_that_gathered_evidence_for_an_older_answer_are_not_listed(older: str, settings: Settings) -> None:
    with psycopg.connect(older) as connection:
        connection.execute(
            "INSERT INTO answer_runs (kind, seed_url, policy, query, options, state, prose, origin) VALUES"
            " ('evidence', 'https://a.example/', 'cost_aware', 'asked for itself', '{}', 'done', NULL, NULL),"
            " ('evidence', 'https://a.example/', 'cost_aware', 'for another', '{}', 'done', NULL, NULL),"
            " ('prose', NULL, NULL, 'answered', '{}', 'done', '{\"evidence_ids\": [2]}', NULL),"
            " ('prose', NULL, NULL, 'answered from what is stored', '{}', 'done', '{\"evidence_ids\": []}', 'cli')"
        )

    async def work() -> list[list[int]]:
        async with await Database.open(settings) as database:
            return [
                [one.answer_id for one in await list_answers(database, every_run=every_run)]
                for every_run in (False, True)
            ]

    assert asyncio.run(work()) == [[4, 3, 1], [4, 3, 2, 1]]


def test_pages_that_stopped_half_way_are_known_after_it(older: str, settings: Settings) -> None:
    with psycopg.connect(older) as connection:
        connection.execute(
            "INSERT INTO sources (key) VALUES ('a.example');"
            "INSERT INTO documents (source_id, canonical_url) SELECT 1, 'https://a.example/' || n"
            " FROM generate_series(1, 3) n;"
            "INSERT INTO document_versions (document_id, number, markdown, sha256, http_status, media_type, fetched_at,"
            " extractor) SELECT d, v, '', repeat(v::text, 64), 200, 'text/html',"
            # of the third page the first text was read again
            " now() - interval '1 hour' + interval '1 min' * (CASE d WHEN 3 THEN -v ELSE v END), 'html-1'"
            " FROM generate_series(1, 3) d, generate_series(1, 2) v ORDER BY d, v;"
            "UPDATE documents SET status = 'ready', current_version = 2 * id - CASE id WHEN 2 THEN 1 ELSE 0 END"
        )

    async def work() -> list[int]:
        async with await Database.open(settings) as database, database.connection() as connection:
            (unfinished,) = await unfinished_sources(connection)
            assert unfinished.key == "a.example"
            cursor = await connection.execute("SELECT id FROM documents WHERE waiting ORDER BY id")
            return [row[0] for row in await cursor.fetchall()]

    assert asyncio.run(work()) == [2, 3]


def test_what_pages_of_a_language_and_type_hold_is_known_after_it(older: str, settings: Settings) -> None:
    with psycopg.connect(older) as connection:
        connection.execute(
            "INSERT INTO sources (key) VALUES ('a.example'), ('b.example');"
            "INSERT INTO documents (source_id, canonical_url) SELECT 1 + mod(n, 2), 'https://a.example/' || n"
            " FROM generate_series(1, 6) n;"
            "INSERT INTO document_versions (document_id, number, markdown, sha256, language, detected_language,"
            " http_status, media_type, fetched_at, extractor) SELECT d, 1, '', repeat('1', 64), 'en_GB',"
            " CASE WHEN d < 3 THEN 'de' END, 200, CASE WHEN d = 6 THEN 'application/pdf' ELSE 'text/html' END, now(),"
            " 'html-1' FROM generate_series(1, 6) d;"
            "UPDATE documents SET status = 'ready', current_version = id WHERE id <> 5;"
            "INSERT INTO document_sizes SELECT n, 1, 2, 10 * n FROM generate_series(1, 6) n WHERE n <> 5;"
            "INSERT INTO lexical_documents SELECT n, 1, n FROM generate_series(1, 6) n"
        )

    async def work() -> list[int]:
        async with await Database.open(settings) as database, database.connection() as connection:
            filters = (
                ScopeFilter(languages=["de"]),
                ScopeFilter(languages=["en-gb"]),
                ScopeFilter(languages=["en"], types=["html"], sources=["a.example"]),
                ScopeFilter(types=["pdf"]),
                ScopeFilter(),
            )
            assert await check_filters(connection, ScopeFilter(languages=["en"])) == [
                "pages that declare 'en' but are in another language, left out: 2"
            ]
            sizes = [await scope_size(connection, await resolve_scope(connection, each)) for each in filters]
            assert [size.indexes.length for size in sizes] == [3, 13, 4, 6, 21]
            return [size.tokens for size in sizes]

    assert asyncio.run(work()) == [30, 130, 40, 60, 160]
