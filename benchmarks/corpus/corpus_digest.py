"""One hash for everything a reader can find in a corpus: equal corpora have equal digests, whatever their row ids."""

from __future__ import annotations

import hashlib

from psycopg import AsyncConnection

_CONTENT = (
    "SELECT url_canonical, status, content_sha256 FROM contract.v_document WHERE is_current ORDER BY 1",
    "SELECT d.canonical_url, c.level, c.ordinal, c.char_start, c.char_end, c.heading_path, c.flags, c.embed_sha256"
    " FROM chunks c JOIN documents d ON d.current_version = c.version_id ORDER BY 1, 2, 3",
    "SELECT d.canonical_url, c.ordinal, e.vec::text FROM contract.v_embedding e JOIN chunks c ON c.id = e.chunk_id"
    " JOIN documents d ON d.current_version = c.version_id ORDER BY 1, 2",
    "SELECT d.canonical_url, c.ordinal, t.term, CASE e.code % 8 WHEN 0"
    " THEN p.frequent[array_position(p.frequent, -t.id) + 1] ELSE e.code % 8 END FROM lexical_postings p"
    " CROSS JOIN unnest(p.terms) AS e (code) JOIN lexical_terms t ON t.id = e.code / 8"
    " JOIN chunks c ON c.id = p.chunk_id"
    " JOIN documents d ON d.current_version = c.version_id ORDER BY 1, 2, 3",
    "SELECT d.canonical_url, l.ordinal, l.target_url, l.anchor_text, l.context FROM link_candidates l"
    " JOIN documents d ON d.current_version = l.version_id ORDER BY 1, 2",
    "SELECT d.canonical_url, v.sha256, v.cause, p.seen_from, p.seen_last, p.seen_until, p.basis FROM version_periods p"
    " JOIN documents d ON d.id = p.document_id LEFT JOIN document_versions v ON v.id = p.version_id ORDER BY 1, 4",
    "SELECT d.canonical_url, e.kind, s.key, t.key, p.key, e.char_start, e.char_end, e.strength, e.origin, e.label,"
    " v.sha256, e.seen_from, e.seen_until FROM graph_edges e JOIN documents d ON d.id = e.document_id"
    " JOIN document_versions v ON v.id = e.version_id JOIN graph_nodes s ON s.id = e.src"
    " JOIN graph_nodes t ON t.id = e.dst JOIN graph_nodes p ON p.id = e.place ORDER BY 1, 2, 3, 4, 5, 12",
    "SELECT d.canonical_url, v.sha256, v.superseded_at IS NULL FROM document_versions v"
    " JOIN documents d ON d.id = v.document_id ORDER BY 1, 2",
)


async def corpus_digest(connection: AsyncConnection) -> str:
    """sha256 over documents, chunks, vectors, postings, links and edges, past edges, periods, past texts."""
    digest = hashlib.sha256()
    for query in _CONTENT:
        cursor = await connection.execute(query.encode())
        async for row in cursor:
            digest.update(repr(row).encode())
    return digest.hexdigest()
