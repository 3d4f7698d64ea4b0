"""Lexical search: BM25 over the postings of parent chunks.

Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with k1 = 1.2 and b = 0.75, and the
non-negative idf ln(1 + (N - n + 0.5) / (n + 0.5)). N, n and the mean length are those of the scope: nothing outside
it influences a score.

Postings of frequent words are many and tell little, so candidates are found by the rarest terms of the query, as many
as `_READ` postings allow; the best of those, and the parents that dense search found, are then scored by all terms.
Only where that leaves terms over is the list not proved to be the best one; every score in it is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import AsyncConnection, sql

from webrag_core.retrieval.scope import Scope

K1 = 1.2
B = 0.75

_READ = 4_000  # postings that are added up, about half a microsecond each
_LED = 5  # so many times the wanted number of parents are scored by all terms, and at least
_LEAST_LED = 300
_FEW_DOCUMENTS = 100  # which are looked up one by one, instead of filtering what the terms have


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
class _Term:
    """A term of the query, its id (None = nobody uses it) and how many parents of the scope hold it."""

    term: str
    id: int | None
    parents: int

    def idf(self, parents: int) -> float:
        """Its weight among so many parents."""
        return math.log(1 + (parents - self.parents + 0.5) / (self.parents + 0.5))


_SIZES = """
SELECT coalesce(sum(parents) FILTER (WHERE inside), 0), coalesce(sum(length) FILTER (WHERE inside), 0),
       coalesce(sum(parents), 0)
FROM (SELECT parents, length, document_id = ANY(%(documents)s::integer[]) AS inside
      FROM lexical_documents OFFSET 0) AS sized  -- OFFSET: looked through once
"""

# subqueries of one value each: the planner cannot turn them into a walk over all postings
_COUNTS = """
SELECT q.term, t.id, (SELECT count(*) FROM lexical_postings p WHERE p.term_id = t.id {inside})
FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS q (term, at) LEFT JOIN lexical_terms t ON t.term = q.term
ORDER BY q.at
"""

# The order in which PostgreSQL adds up is its own: scores are rounded before they are compared. Equal ones are cut and
# listed by URL and reading order, never by ids, which depend on who was indexed first.
_QUERY = """
WITH weights AS (
    SELECT * FROM unnest(%(ids)s::integer[], %(idfs)s::float8[]) AS w (id, idf)
), partial AS MATERIALIZED (
    SELECT p.chunk_id, p.document_id, sum(w.idf * {part}) AS score
    FROM lexical_postings p JOIN weights w ON w.id = p.term_id
    WHERE p.term_id = ANY(%(read)s::integer[]) {inside} GROUP BY p.chunk_id, p.document_id
), foremost AS (
    SELECT chunk_id, document_id, score FROM partial
    ORDER BY round(score * 1e9) DESC FETCH FIRST (%(led)s) ROWS WITH TIES
), pool AS (
    SELECT chunk_id, document_id, score FROM foremost
    UNION ALL
    SELECT c.id, c.document_id, coalesce(p.score, 0) FROM chunks c LEFT JOIN partial p ON p.chunk_id = c.id
    WHERE c.id = ANY(%(also)s::bigint[]) AND c.id NOT IN (SELECT chunk_id FROM foremost)
), scored AS (
    SELECT o.chunk_id, round((o.score + coalesce((
        SELECT sum(w.idf * (SELECT {part} FROM lexical_postings p WHERE p.term_id = w.id
                            AND p.document_id = o.document_id AND p.chunk_id = o.chunk_id))
        FROM weights w WHERE w.id <> ALL(%(read)s::integer[])
    ), 0)) * 1e9) / 1e9 AS score FROM pool o
), ranked AS (
    SELECT chunk_id, score FROM scored WHERE score > 0 ORDER BY score DESC FETCH FIRST (%(limit)s) ROWS WITH TIES
), best AS (
    SELECT r.chunk_id, r.score FROM ranked r JOIN chunks c ON c.id = r.chunk_id
    JOIN documents d ON d.id = c.document_id ORDER BY r.score DESC, d.canonical_url, c.ordinal LIMIT %(limit)s
)
SELECT chunk_id, score FROM best
UNION ALL
SELECT chunk_id, score FROM scored
WHERE score > 0 AND chunk_id = ANY(%(also)s::bigint[]) AND chunk_id NOT IN (SELECT chunk_id FROM best)
"""

_PART = sql.SQL(f"p.frequency * {K1 + 1} / (p.frequency + {K1} * ({1 - B} + {B} * p.length / %(mean)s::float8))")
_INSIDE = "AND p.document_id = ANY(%(documents)s::integer[])"
_FILTERED = "AND p.document_id + 0 = ANY(%(documents)s::integer[])"  # "+ 0" hides the column from its indexes


async def search_parents(
    connection: AsyncConnection, query_terms: Sequence[str], scope: Scope, *, limit: int, also: Sequence[int] = ()
) -> LexicalResult:
    """The `limit` best parents of the scope, equal scores by URL and reading order, and those of `also` that hold a
    term of the query."""
    wanted = list(dict.fromkeys(query_terms))
    documents = {"documents": scope.id_array}
    # what is compared with an array must be planned with it: a plan for any array looks through it row by row
    cursor = await connection.execute(_SIZES, documents, prepare=False)
    row = await cursor.fetchone()
    assert row is not None
    parents, length, total = (int(value) for value in row)
    if not wanted or not parents:
        return LexicalResult([], {})
    whole = parents == total
    inside = sql.SQL("" if whole else _INSIDE if len(scope.document_ids) <= _FEW_DOCUMENTS else _FILTERED)
    counts = await connection.execute(
        sql.SQL(_COUNTS).format(inside=inside), {"terms": wanted} | documents, prepare=None if whole else False
    )
    known = [_Term(*row) for row in await counts.fetchall()]
    idf = {term.term: term.idf(parents) for term in known}
    found = [term for term in known if term.id is not None and term.parents]
    found_idf = [idf[term.term] for term in found]
    values = {
        "ids": [term.id for term in found],
        "idfs": found_idf,
        "read": [term.id for term in _rarest(found)],
        "mean": max(1.0, length / parents),
        "led": max(limit * _LED, _LEAST_LED),
        "limit": limit,
        "also": list(also),
    }
    scores = await connection.execute(
        sql.SQL(_QUERY).format(inside=inside, part=_PART), values | documents, prepare=None if whole else False
    )
    attainable = math.fsum(idf.values()) * (K1 + 1)
    hits = [
        LexicalHit(parent_id, score, min(1.0, score / attainable) if attainable else 0.0)
        for parent_id, score in await scores.fetchall()
    ]
    return LexicalResult(sorted(hits, key=lambda hit: -hit.score), idf)


def _rarest(terms: Sequence[_Term]) -> list[_Term]:
    """The rarest term and those after it while all their postings are at most `_READ`."""
    chosen: list[_Term] = []
    postings = 0
    for term in sorted(terms, key=lambda term: (term.parents, term.term)):
        postings += term.parents
        if chosen and postings > _READ:
            break
        chosen.append(term)
    return chosen
