"""Edges by id, with their nodes, their page and the quoted span."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import AsyncConnection

from webrag_core.corpus.version_texts import version_texts
from webrag_core.retrieval.graph.models import GraphEdge, GraphNode

_EDGES = """
SELECT e.id, e.kind, e.strength, e.origin, e.label, e.statement, e.char_start, e.char_end, e.seen_from, e.seen_until,
       s.kind, s.key, CASE s.kind WHEN 'page' THEN coalesce(sv.title, '') ELSE s.label END,
       t.kind, t.key, CASE t.kind WHEN 'page' THEN coalesce(tv.title, '') ELSE t.label END,
       CASE p.kind WHEN 'section' THEN p.label END, d.canonical_url, v.title, v.number, v.sha256, v.id
FROM unnest(%s::bigint[]) WITH ORDINALITY AS w (id, rank) JOIN graph_edges e ON e.id = w.id
JOIN documents d ON d.id = e.document_id JOIN document_versions v ON v.id = e.version_id
JOIN graph_nodes s ON s.id = e.src JOIN graph_nodes t ON t.id = e.dst JOIN graph_nodes p ON p.id = e.place
LEFT JOIN documents sd ON s.kind = 'page' AND sd.canonical_url = s.key
LEFT JOIN document_versions sv ON sv.id = sd.current_version
LEFT JOIN documents td ON t.kind = 'page' AND td.canonical_url = t.key
LEFT JOIN document_versions tv ON tv.id = td.current_version
ORDER BY w.rank
"""


async def load_edges(connection: AsyncConnection, ids: Sequence[int]) -> list[GraphEdge]:
    """The edges with these ids, in this order, each with its quote. Edges that were removed meanwhile are left out."""
    if not ids:
        return []
    cursor = await connection.execute(_EDGES, (list(ids),))
    rows = await cursor.fetchall()
    texts = await version_texts(connection, (row[-1] for row in rows))
    edges = []
    for row in rows:
        (edge, kind, strength, origin, label, statement, start, end, seen_from, seen_until, *rest) = row
        (src_kind, src, src_label, dst_kind, dst, dst_label, section, url, title, number, sha256, version) = rest
        text = texts.get(version)
        edges.append(
            GraphEdge(
                edge_id=edge,
                kind=kind,
                src=GraphNode(kind=src_kind, key=src, label=src_label),
                dst=GraphNode(kind=dst_kind, key=dst, label=dst_label),
                url=url,
                title=title,
                section=section,
                version_id=version,
                version=number,
                version_sha256=sha256,
                char_start=start,
                char_end=end,
                quote=None if text is None or start is None else text[start:end],
                statement=statement,
                anchor=label,
                strength=strength,
                origin=origin,
                seen_from=seen_from,
                seen_until=seen_until,
            )
        )
    return edges
