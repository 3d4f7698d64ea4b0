"""Lexical search: BM25 over the postings of parent chunks.

Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with k1 = 1.2 and b = 0.75, and the
non-negative idf ln(1 + (N - n + 0.5) / (n + 0.5)). N, n and the mean length are those of the scope: nothing outside
it influences a score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import AsyncConnection
from psycopg.rows import class_row

from webrag_core.retrieval.scope import Scope

K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """A parent chunk with its BM25 score (0 upwards) and the share of the attainable score, in [0, 1]."""

    parent_id: int
    score: float
    relative: float


@dataclass(frozen=True, slots=True)
class LexicalResult:
    """Best parents first; `idf` of each query term in the scope, in the query's order (terms that never occur have the
    highest)."""

    hits: list[LexicalHit]
    idf: dict[str, float]


@dataclass(frozen=True, slots=True)
class _Row:
    term: str
    idf: float
    parent_id: int | None
    score: float


# The order in which PostgreSQL adds up is its own: scores are rounded before they are compared. Equal ones are cut and
# listed by URL and reading order, never by ids, which depend on who was indexed first.
_QUERY = """
WITH query AS (
    SELECT q.term, t.id FROM unnest(%(terms)s::text[]) AS q (term) LEFT JOIN lexical_terms t ON t.term = q.term
), found AS (
    SELECT p.term_id, p.chunk_id, p.frequency, p.length
    FROM lexical_postings p
    WHERE p.term_id IN (SELECT id FROM query) AND p.document_id = ANY(%(documents)s)
), weighted AS (
    SELECT q.term, q.id, ln(1 + (%(parents)s - count(f.chunk_id) + 0.5) / (count(f.chunk_id) + 0.5)) AS idf
    FROM query q LEFT JOIN found f ON f.term_id = q.id GROUP BY q.term, q.id
), scored AS (
    SELECT f.chunk_id, round(sum(w.idf * f.frequency * (%(k1)s + 1)
           / (f.frequency + %(k1)s * (1 - %(b)s + %(b)s * f.length / %(mean)s)))::numeric, 9) AS score
    FROM found f JOIN weighted w ON w.id = f.term_id GROUP BY f.chunk_id
), ranked AS (
    SELECT chunk_id, score FROM scored ORDER BY score DESC FETCH FIRST (%(limit)s) ROWS WITH TIES
), best AS (
    SELECT r.chunk_id, r.score FROM ranked r JOIN chunks c ON c.id = r.chunk_id
    JOIN documents d ON d.id = c.document_id ORDER BY r.score DESC, d.canonical_url, c.ordinal LIMIT %(limit)s
)
SELECT term, idf::float8, NULL::bigint AS parent_id, 0::float8 AS score FROM weighted
UNION ALL
SELECT '', 0, chunk_id, score::float8 FROM best
UNION ALL
SELECT '', 0, chunk_id, score::float8 FROM scored
WHERE chunk_id = ANY(%(also)s) AND chunk_id NOT IN (SELECT chunk_id FROM best)
"""


async def search_parents(
    connection: AsyncConnection, query_terms: Sequence[str], scope: Scope, *, limit: int, also: Sequence[int] = ()
) -> LexicalResult:
    """The `limit` best parents of the scope, equal scores by URL and reading order, and those of `also` that hold a
    term of the query."""
    wanted = list(dict.fromkeys(query_terms))
    cursor = await connection.execute(
        "SELECT coalesce(sum(parents), 0), coalesce(sum(length), 0) FROM lexical_documents WHERE document_id = ANY(%s)",
        (list(scope.document_ids),),
    )
    row = await cursor.fetchone()
    parents, length = (int(row[0]), int(row[1])) if row else (0, 0)
    if not wanted or not parents:
        return LexicalResult([], {})
    async with connection.cursor(row_factory=class_row(_Row)) as typed:
        await typed.execute(
            _QUERY,
            {
                "terms": wanted,
                "documents": list(scope.document_ids),
                "parents": float(parents),
                "mean": max(1.0, length / parents),
                "k1": K1,
                "b": B,
                "limit": limit,
                "also": list(also),
            },
        )
        rows = await typed.fetchall()
    weights = {row.term: row.idf for row in rows if row.parent_id is None}
    idf = {term: weights[term] for term in wanted}
    attainable = math.fsum(idf.values()) * (K1 + 1)
    hits = [
        LexicalHit(row.parent_id, row.score, min(1.0, row.score / attainable) if attainable else 0.0)
        for row in rows
        if row.parent_id is not None
    ]
    return LexicalResult(sorted(hits, key=lambda hit: -hit.score), idf)
