"""How much graph some documents have: for status pages and metadata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import AsyncConnection


@dataclass(frozen=True, slots=True)
class GraphTotals:
    """Live edges of some documents by kind, the nodes that they join, and why pages have only a part of theirs, or of
    what their mark-up states."""

    nodes: int
    edges: dict[str, int]
    left_out: dict[str, int]
    """Reason -> pages."""
    markup_left_out: dict[str, int]
    """Reason -> pages."""


async def most_linked_page(connection: AsyncConnection, urls: Sequence[str]) -> str | None:
    """The page among `urls` that most others link to; the first by address among equals, None without any."""
    cursor = await connection.execute(
        "SELECT key FROM graph_nodes WHERE kind = 'page' AND key = ANY(%s) ORDER BY degree_in DESC, key LIMIT 1",
        (list(urls),),
    )
    row = await cursor.fetchone()
    return None if row is None else str(row[0])


async def graph_totals(connection: AsyncConnection, documents: Sequence[int]) -> GraphTotals:
    """Count the graph of these documents. Reads their edges once."""
    cursor = await connection.execute(
        "WITH live AS MATERIALIZED (SELECT e.kind, e.src, e.dst FROM graph_edges e"
        "  WHERE e.document_id = ANY(%(documents)s) AND e.seen_until IS NULL)"
        " SELECT NULL, count(*) FROM (SELECT src FROM live UNION SELECT dst FROM live) n"
        " UNION ALL SELECT kind, count(*) FROM live GROUP BY kind",
        {"documents": list(documents)},
    )
    counts = {kind: int(count) for kind, count in await cursor.fetchall()}
    cursor = await connection.execute(
        "SELECT reason, count(*) FROM graph_documents WHERE document_id = ANY(%s) AND reason IS NOT NULL"
        " GROUP BY reason",
        (list(documents),),
    )
    left_out = {str(reason): int(pages) for reason, pages in await cursor.fetchall()}
    cursor = await connection.execute(
        "SELECT r.reason, count(*) FROM documents d JOIN version_markup m ON m.version_id = d.current_version"
        " CROSS JOIN LATERAL unnest(m.cut) AS r (reason) WHERE d.id = ANY(%s) GROUP BY r.reason",
        (list(documents),),
    )
    markup_left_out = {str(reason): int(pages) for reason, pages in await cursor.fetchall()}
    nodes = counts.pop(None, 0)
    return GraphTotals(nodes, dict(sorted(counts.items())), left_out, markup_left_out)
