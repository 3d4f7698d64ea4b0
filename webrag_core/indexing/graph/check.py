"""Compare the edges in the tables with what extraction makes of the texts now; make missing ones."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from psycopg import AsyncConnection

from webrag_core.corpus.documents import load_version
from webrag_core.indexing.graph.edges import UP_TO_DATE, count_degrees, edges_of, page_inputs, rebuild_edges
from webrag_core.indexing.graph.model import Edge
from webrag_core.store.database import Database

_ROWS = (
    "SELECT s.kind, s.key, e.kind, t.kind, t.key, p.key, e.strength, e.origin, e.label, e.char_start, e.char_end,"
    " e.statement"
    " FROM graph_edges e JOIN graph_nodes s ON s.id = e.src JOIN graph_nodes t ON t.id = e.dst"
    " JOIN graph_nodes p ON p.id = e.place WHERE e.document_id = %s AND e.seen_until IS NULL AND e.version_id = %s"
)


@dataclass(slots=True)
class GraphCheck:
    """Outcome of a check. URLs of pages: `different` have other edges than their text, `missing` have none or those of
    another extraction, source or set of links; `rebuilt` were made again. `digest` is that of all live edges."""

    pages: int = 0
    edges: int = 0
    digest: str = ""
    different: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    rebuilt: list[str] = field(default_factory=list)


async def check_graph(
    database: Database, *, rebuild: bool = False, advance: Callable[[str], None] | None = None
) -> GraphCheck:
    """Extract the edges of every current page again and compare; with `rebuild` write those that differ or are missing.

    Reads page after page: what changes meanwhile is compared before or after its change, never between.
    """
    report = GraphCheck()
    whole = hashlib.sha256()
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT id FROM documents WHERE current_version IS NOT NULL ORDER BY id")
        documents = [int(row[0]) for row in await cursor.fetchall()]
    for document_id in documents:
        digest = await _check_page(database, document_id, report, rebuild=rebuild)
        if digest is not None:
            whole.update(digest.encode())
            if advance is not None:
                advance(str(document_id))
    if report.rebuilt:
        await count_degrees(database)
    report.digest = whole.hexdigest()
    return report


async def _check_page(database: Database, document_id: int, report: GraphCheck, *, rebuild: bool) -> str | None:
    """Compare one page; returns the digest of its live edges, None when it left the index meanwhile."""
    async with database.snapshot() as connection:
        cursor = await connection.execute(
            f"SELECT v.id, {UP_TO_DATE} FROM documents d JOIN document_versions v ON v.id = d.current_version"  # noqa: S608
            " WHERE d.id = %s".encode(),
            (document_id,),
        )
        row = await cursor.fetchone()
        version = None if row is None else await load_version(connection, int(row[0]))
        if row is None or version is None:
            return None
        inputs = await page_inputs(connection, version)
        count, digest = await _stored(connection, document_id, version.id)
    extraction = await asyncio.to_thread(edges_of, version, inputs)
    expected = edges_digest(extraction.edges)
    report.pages += 1
    if digest != expected or not row[1]:
        (report.different if row[1] else report.missing).append(version.canonical_url)
        if rebuild and await rebuild_edges(database, version):
            report.rebuilt.append(version.canonical_url)
            count, digest = len(extraction.edges), expected
    report.edges += count
    return digest


async def _stored(connection: AsyncConnection, document_id: int, version_id: int) -> tuple[int, str]:
    cursor = await connection.execute(_ROWS, (document_id, version_id))
    lines = [_line(*row) for row in await cursor.fetchall()]
    return len(lines), _digest(lines)


def edges_digest(edges: Iterable[Edge]) -> str:
    """Digest of edges in any order, as the table would hold them."""
    return _digest(
        _line(*edge.src[:2], edge.kind, *edge.dst[:2], edge.place.key, edge.strength, *_rest(edge)) for edge in edges
    )


def _rest(edge: Edge) -> tuple[object, ...]:
    return (edge.origin, edge.label, edge.start, edge.end, edge.statement)


def _line(
    src_kind: str, src: str, kind: str, dst_kind: str, dst: str, place: str, strength: float, *rest: object
) -> str:
    return "\t".join([src_kind, src, kind, dst_kind, dst, place, f"{strength:.4f}", *map(str, rest)])


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
