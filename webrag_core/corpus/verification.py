"""Every invariant of the stored corpus, checked against the tables themselves."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from psycopg import AsyncConnection, sql
from psycopg.rows import class_row

from webrag_core.store.database import Database
from webrag_core.store.vector_tables import vector_table


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken invariant: which rule, where, and what was found."""

    rule: str
    where: str
    found: str


@dataclass(frozen=True, slots=True)
class _Version:
    id: int
    number: int
    markdown: str
    sha256: str
    chunker: str | None
    parent_count: int | None
    child_count: int | None
    canonical_url: str
    current_version: int | None


@dataclass(frozen=True, slots=True)
class _Chunk:
    id: int
    parent_id: int | None
    level: str
    char_start: int
    char_end: int
    body: str


@dataclass(slots=True)
class Verified:
    """How much was looked at."""

    documents: int = 0
    versions: int = 0
    parents: int = 0
    children: int = 0
    vectors: int = 0
    ledger_rows: int = 0


async def verify_corpus(database: Database, counted: Verified) -> AsyncIterator[Violation]:
    """Yield every violation; `counted` is filled while it runs. Reads page by page, changes nothing."""
    async with database.snapshot() as connection:
        cursor = await connection.execute("SELECT id FROM document_versions ORDER BY id")
        for (version_id,) in await cursor.fetchall():
            async for violation in verify_version(connection, version_id, counted):
                yield violation
        async for violation in _verify_tables(connection):
            yield violation
        async for violation in _verify_vectors(connection, counted):
            yield violation
        counts = await connection.execute("SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM fetch_log)")
        row = await counts.fetchone()
        assert row is not None
        counted.documents, counted.ledger_rows = int(row[0]), int(row[1])


async def verify_version(connection: AsyncConnection, version_id: int, counted: Verified) -> AsyncIterator[Violation]:
    """Hash, slices, cover and partition of one version."""
    async with connection.cursor(row_factory=class_row(_Version)) as cursor:
        await cursor.execute(
            "SELECT v.id, v.number, v.markdown, v.sha256, v.chunker, v.parent_count, v.child_count,"
            " d.canonical_url, d.current_version"
            " FROM document_versions v JOIN documents d ON d.id = v.document_id WHERE v.id = %s",
            (version_id,),
        )
        version = await cursor.fetchone()
    assert version is not None
    async with connection.cursor(row_factory=class_row(_Chunk)) as rows:
        await rows.execute(
            "SELECT id, parent_id, level, char_start, char_end, body FROM chunks"
            " WHERE version_id = %s ORDER BY char_start, char_end",
            (version_id,),
        )
        chunks = await rows.fetchall()
    counted.versions += 1
    text, where = version.markdown, f"{version.canonical_url} v{version.number}"
    if hashlib.sha256(text.encode()).hexdigest() != version.sha256:
        yield Violation("version-hash", where, "sha256 of the text differs from the stored one")
    for chunk in chunks:
        if text[chunk.char_start : chunk.char_end] != chunk.body:
            yield Violation("slice", where, f"chunk {chunk.id} is not its slice")
    parents = [chunk for chunk in chunks if chunk.level == "parent"]
    children = [chunk for chunk in chunks if chunk.level == "child"]
    counted.parents += len(parents)
    counted.children += len(children)
    if version.current_version == version.id or version.chunker is not None:
        if (len(parents), len(children)) != (version.parent_count, version.child_count):
            expected = f"{version.parent_count} + {version.child_count}"
            yield Violation("chunk-count", where, f"{len(parents)} + {len(children)} chunks, expected {expected}")
        gap = _uncovered(text, 0, len(text), [(c.char_start, c.char_end) for c in parents])
        if gap is not None:
            yield Violation("parents-cover", where, f"text at {gap} lies in no parent or in two")
    families: dict[int, list[tuple[int, int]]] = {parent.id: [] for parent in parents}
    for child in children:
        if child.parent_id not in families:
            yield Violation("parent-exists", where, f"child {child.id} has no parent in its version")
        else:
            families[child.parent_id].append((child.char_start, child.char_end))
    for parent in parents:
        spans = families[parent.id]
        inside = spans and spans[0][0] >= parent.char_start and spans[-1][1] <= parent.char_end
        if not inside or _uncovered(text, parent.char_start, parent.char_end, spans) is not None:
            yield Violation("children-partition", where, f"children do not partition parent {parent.id}")


def _uncovered(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> int | None:
    """Offset of the first character that no span or more than one span holds (blanks may lie between spans)."""
    position = start
    for begin, stop in spans:
        if begin < position or text[position:begin].strip():
            return position
        position = stop
    return position if text[position:end].strip() else None


_RULES: dict[str, str] = {
    "current-version-of-its-document": (
        "SELECT d.canonical_url FROM documents d JOIN document_versions v ON v.id = d.current_version"
        " WHERE v.document_id <> d.id"
    ),
    "ready-has-chunks": (
        "SELECT d.canonical_url FROM documents d WHERE d.status = 'ready'"
        " AND NOT EXISTS (SELECT FROM chunks c WHERE c.version_id = d.current_version)"
    ),
    "ledger-knows-document": (
        "SELECT d.canonical_url FROM documents d WHERE NOT EXISTS"
        " (SELECT FROM fetch_log f WHERE f.url = d.canonical_url OR f.final_url = d.canonical_url)"
    ),
    "ledger-leads-to-document": (
        "SELECT f.url FROM fetch_log f WHERE f.outcome <> 'skipped'"
        " AND NOT EXISTS (SELECT FROM documents d WHERE d.canonical_url = coalesce(f.final_url, f.url))"
        " AND NOT EXISTS (SELECT FROM url_aliases a WHERE a.url = f.url)"
    ),
    "refresh-balances": (
        "SELECT s.key || ' ' || r.run_id FROM refresh_runs r JOIN sources s ON s.id = r.source_id WHERE r.discovered <>"
        " r.fetched + r.unchanged + r.failed + r.skipped + r.not_due OR (r.fetched, r.unchanged, r.failed) <> (SELECT"
        " count(*) FILTER (WHERE f.outcome = 'fetched'), count(*) FILTER (WHERE f.outcome = 'unchanged'),"
        " count(*) FILTER (WHERE f.outcome = 'failed') FROM fetch_log f WHERE f.run_id = r.run_id)"
    ),
    "gone-is-out-of-the-index": (
        "SELECT d.canonical_url FROM documents d WHERE d.status = 'gone' AND (d.current_version IS NOT NULL"
        " OR EXISTS (SELECT FROM chunks c WHERE c.document_id = d.id))"
    ),
    "postings-of-current-parents": (
        "SELECT DISTINCT p.chunk_id::text FROM lexical_postings p LEFT JOIN chunks c ON c.id = p.chunk_id"
        " LEFT JOIN documents d ON d.id = p.document_id"
        " WHERE c.id IS NULL OR c.level <> 'parent' OR c.version_id IS DISTINCT FROM d.current_version"
    ),
    "lexical-parent-count": (
        "SELECT d.canonical_url FROM documents d JOIN document_versions v ON v.id = d.current_version"
        " LEFT JOIN lexical_documents l ON l.document_id = d.id WHERE l.parents IS DISTINCT FROM v.parent_count"
    ),
    "outbox-knows-version": (
        "SELECT d.canonical_url FROM documents d WHERE d.current_version IS NOT NULL AND NOT EXISTS"
        " (SELECT FROM corpus_log l WHERE l.document_id = d.id AND l.version_id = d.current_version)"
    ),
    "alias-is-no-document": (
        "SELECT a.url FROM url_aliases a JOIN documents d ON d.canonical_url = a.url AND d.id <> a.document_id"
        " WHERE d.current_version IS NOT NULL"
    ),
}


async def _verify_tables(connection: AsyncConnection) -> AsyncIterator[Violation]:
    for rule, query in _RULES.items():
        cursor = await connection.execute(query.encode())
        for (where,) in await cursor.fetchall():
            yield Violation(rule, str(where), "")


async def _verify_vectors(connection: AsyncConnection, counted: Verified) -> AsyncIterator[Violation]:
    """One vector of the live model for every child of a current version, and no other."""
    cursor = await connection.execute("SELECT id FROM embedding_models WHERE state = 'live'")
    row = await cursor.fetchone()
    if row is None:
        return
    table = vector_table(row[0])
    cursor = await connection.execute(sql.SQL("SELECT count(*) FROM {}").format(table))
    total = await cursor.fetchone()
    counted.vectors = int(total[0]) if total else 0
    cursor = await connection.execute(
        sql.SQL(
            "SELECT coalesce(c.id, e.chunk_id), e.chunk_id IS NULL FROM"
            " (SELECT k.id FROM chunks k JOIN documents d ON d.current_version = k.version_id"
            " WHERE k.level = 'child') c FULL JOIN {} e ON e.chunk_id = c.id"
            " WHERE c.id IS NULL OR e.chunk_id IS NULL"
        ).format(table)
    )
    for chunk_id, missing in await cursor.fetchall():
        found = "a child of a current version has no vector" if missing else "a vector belongs to no current child"
        yield Violation("vectors", f"chunk {chunk_id}", found)
