"""Keys to begin with: what is linked, mentioned and defined most, and what has some words in its name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from psycopg import AsyncConnection

from webrag_core.indexing.graph.model import NodeKind
from webrag_core.retrieval.graph.models import GraphNode

SUGGESTED_KINDS: tuple[NodeKind, ...] = ("page", "symbol", "term", "entity")

_WELL_KNOWN = """
SELECT n.kind, n.key, CASE n.kind WHEN 'page' THEN coalesce(v.title, '') ELSE n.label END
FROM unnest(%(kinds)s::text[]) WITH ORDINALITY AS k (kind, place)
CROSS JOIN LATERAL (
    SELECT o.* FROM graph_nodes o WHERE o.kind = k.kind AND CASE o.kind
        WHEN 'page' THEN EXISTS
            (SELECT FROM documents p WHERE p.canonical_url = o.key AND p.current_version IS NOT NULL)
        ELSE o.degree_in > 0 END
    ORDER BY o.degree_in DESC, o.key COLLATE "C" LIMIT %(limit)s) n
LEFT JOIN documents d ON n.kind = 'page' AND d.canonical_url = n.key
LEFT JOIN document_versions v ON v.id = d.current_version
ORDER BY k.place, n.degree_in DESC, n.key COLLATE "C"
"""
_NAMED = """
SELECT n.kind, n.key, n.label FROM (
    SELECT o.kind, o.key, o.label, o.degree_in FROM graph_nodes o
    WHERE o.kind <> 'page' AND o.kind = ANY(%(kinds)s) AND (o.label ILIKE %(pattern)s OR o.key ILIKE %(pattern)s)
    UNION ALL
    SELECT o.kind, o.key, coalesce(v.title, ''), o.degree_in
    FROM documents d JOIN document_versions v ON v.id = d.current_version
    JOIN graph_nodes o ON o.key = d.canonical_url AND o.kind = 'page'
    WHERE 'page' = ANY(%(kinds)s) AND (v.title ILIKE %(pattern)s OR d.canonical_url ILIKE %(pattern)s)
) n ORDER BY n.degree_in DESC, length(n.key), n.key COLLATE "C" LIMIT %(limit)s
"""


async def well_known(
    connection: AsyncConnection, *, limit: int, kinds: Sequence[NodeKind] = SUGGESTED_KINDS
) -> dict[NodeKind, list[GraphNode]]:
    """The nodes of each kind that most edges lead to, `limit` of each; of pages those that are stored."""
    cursor = await connection.execute(_WELL_KNOWN, {"kinds": list(kinds), "limit": limit})
    nodes: dict[NodeKind, list[GraphNode]] = {}
    for kind, key, label in await cursor.fetchall():
        nodes.setdefault(kind, []).append(GraphNode(kind=kind, key=key, label=label))
    return nodes


async def named_like(
    connection: AsyncConnection, text: str, *, limit: int, kinds: Sequence[NodeKind] = SUGGESTED_KINDS
) -> list[GraphNode]:
    """Nodes with the words of `text` in their key, label or title, in this order, those first that most edges lead to;
    of pages those that are stored."""
    words = [re.sub(r"([\\%_])", r"\\\1", word) for word in text.split()]
    if not words:
        return []
    parameters = {"pattern": f"%{'%'.join(words)}%", "kinds": list(kinds), "limit": limit}
    cursor = await connection.execute(_NAMED, parameters)
    return [GraphNode(kind=kind, key=key, label=label) for kind, key, label in await cursor.fetchall()]
