"""The table of stated validity: what each version says of its own time."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from psycopg import AsyncConnection, sql
from psycopg.types.range import DateRange

from webrag_core.corpus.stated_dates import READER, Statement, ValidityBasis, read_statements
from webrag_core.corpus.stated_metadata import metadata_statements
from webrag_core.corpus.validity_phrases import ValidityKind
from webrag_core.store.database import Database
from webrag_core.text_work import beside_loop

OF_TEXTS: tuple[ValidityBasis, ...] = ("text",)
OF_PAGES: tuple[ValidityBasis, ...] = ("text", "metadata")
_BATCH = 200  # texts that are read at a time
# IS DISTINCT FROM, in words for which the index is read
_UNREAD = sql.SQL("pruned_at IS NULL AND (dates_read IS NULL OR dates_read < %(reader)s OR dates_read > %(reader)s)")


@dataclass(frozen=True, slots=True)
class StatedVersion:
    """A statement and the version that it is about."""

    version_id: int
    statement: Statement


async def write_statements(
    connection: AsyncConnection, version_id: int, statements: Sequence[Statement], bases: Collection[ValidityBasis]
) -> None:
    """Make these the statements of a version that have one of these bases. Call inside a transaction."""
    await connection.execute(
        "DELETE FROM version_validity WHERE version_id = %s AND basis = ANY(%s)", (version_id, list(bases))
    )
    await insert_statements(connection, version_id, [statement for statement in statements if statement.basis in bases])


async def insert_statements(connection: AsyncConnection, version_id: int, statements: Sequence[Statement]) -> None:
    """Add statements of a version."""
    if not statements:
        return
    async with connection.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO version_validity (version_id, valid, kind, basis, char_start, char_end)"
            " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            [
                (
                    version_id,
                    DateRange(statement.start, statement.end),
                    statement.kind,
                    statement.basis,
                    statement.char_start,
                    statement.char_end,
                )
                for statement in statements
            ],
        )


async def stated(markdown: str, nodes: Sequence[Mapping[str, Any]] = ()) -> list[Statement]:
    """Read the statements of a text, and of the structured data of its page (top-level `nodes`, as parsed)."""
    return [*await beside_loop(read_statements, markdown), *metadata_statements(nodes)]


async def write_stated(
    connection: AsyncConnection, version_id: int, markdown: str, nodes: Sequence[Mapping[str, Any]] = ()
) -> None:
    """Keep the `stated` ones of a version. Call inside a transaction."""
    statements = await stated(markdown, nodes)
    await connection.execute(
        "WITH former AS (DELETE FROM version_validity WHERE version_id = %(version)s AND basis = ANY(%(bases)s))"
        " UPDATE document_versions SET dates_read = %(reader)s WHERE id = %(version)s",
        {"version": version_id, "bases": list(OF_PAGES), "reader": READER},
    )
    await insert_statements(connection, version_id, statements)


async def read_missing(database: Database) -> int:
    """Read the texts that no reader, or another one, looked through; returns their number. Ends at once if none, and
    waits for whoever reads them already."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            sql.SQL("SELECT EXISTS (SELECT FROM document_versions WHERE {})").format(_UNREAD), {"reader": READER}
        )
        if await cursor.fetchone() == (False,):
            return 0
    done = 0
    while True:
        async with database.transaction() as connection:
            cursor = await connection.execute(
                sql.SQL(
                    "SELECT id, markdown FROM document_versions WHERE {} ORDER BY id LIMIT %(limit)s FOR UPDATE"
                ).format(_UNREAD),
                {"reader": READER, "limit": _BATCH},
            )
            rows = await cursor.fetchall()
            read = await asyncio.to_thread(lambda texts: [*map(read_statements, texts)], [row[1] for row in rows])
            for (version_id, _), statements in zip(rows, read, strict=True):
                await write_statements(connection, version_id, statements, OF_TEXTS)
            await connection.execute(
                "UPDATE document_versions SET dates_read = %s WHERE id = ANY(%s)", (READER, [row[0] for row in rows])
            )
        done += len(rows)
        if len(rows) < _BATCH:
            return done


async def load_statements(
    connection: AsyncConnection, documents: Sequence[int], kinds: Sequence[ValidityKind]
) -> dict[int, list[StatedVersion]]:
    """Statements of these kinds by document, those that begin first first."""
    cursor = await connection.execute(
        "SELECT v.document_id, y.version_id, y.kind, lower(y.valid), upper(y.valid), y.basis, y.char_start, y.char_end"
        " FROM version_validity y JOIN document_versions v ON v.id = y.version_id"
        " WHERE v.document_id = ANY(%s) AND y.kind = ANY(%s)"
        " ORDER BY v.document_id, lower(y.valid) NULLS FIRST, upper(y.valid) NULLS LAST, v.number, y.kind, y.basis",
        (list(documents), list(kinds)),
    )
    stated: dict[int, list[StatedVersion]] = {}
    for document, version, *fields in await cursor.fetchall():
        stated.setdefault(int(document), []).append(StatedVersion(int(version), _statement(*fields)))
    return stated


def _statement(
    kind: ValidityKind,
    start: date | None,
    end: date | None,
    basis: ValidityBasis,
    char_start: int | None,
    char_end: int | None,
) -> Statement:
    return Statement(kind, start, end, basis, char_start, char_end)
