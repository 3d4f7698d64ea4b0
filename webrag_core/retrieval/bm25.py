"""Lexical search: BM25 over the postings of parent chunks.

Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with k1 = 1.2 and b = 0.75, and the
non-negative idf ln(1 + (N - n + 0.5) / (n + 0.5)). N, n and the mean length are those of the scope: nothing outside
it influences a score.

A scope of few parents is read whole. In a larger one postings of frequent words are many and tell little, so candidates
come from the rarest terms of the query, as many as `_MAX_POSTINGS` allow; the best of those, and the parents that dense
search found, are then scored by all terms. Only where that leaves terms over is the list not proved to be the best one;
every score in it is exact.

Postings are codes of term and frequency in a GIN index (`indexing/lexical.py`): the index tells which parents hold a
term how often, and the narrow rows of `lexical_postings` their document and length. The codes of a parent are read only
for candidates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from psycopg import AsyncConnection

from webrag_core.indexing.lexical import FREQUENCIES
from webrag_core.retrieval.scope import Scope

K1 = 1.2
B = 0.75

_MAX_POSTINGS = 4_000  # that are added up, about half a microsecond each
_POOL = 5  # so many times the limit are scored by all terms, and at least
_MIN_POOL = 300
_FEW_PARENTS = 250  # whose codes are all read, about ten microseconds each; more where a term has many postings outside
_FEW_SHARE = 1 / 400


Word = tuple[str, ...]
"""The terms of one word of a query, one for each way in which pages may have cut it (`indexing.terms.query_terms`)."""


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """A parent chunk with its BM25 score (0 upwards) and the share of the attainable score, in [0, 1]."""

    parent_id: int
    score: float
    relative: float


@dataclass(frozen=True, slots=True)
class LexicalResult:
    """Best parents first; `idf` of each query term in the scope, in the query's order (terms that never occur have the
    highest). `words` are those terms by the word of the query that they come from, where a word has several."""

    hits: list[LexicalHit]
    idf: dict[str, float]
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class _Term:
    """A query term, its id (None = not in the corpus) and its document frequency in parents of the scope."""

    term: str
    id: int | None
    parents: int

    def idf(self, parents: int) -> float:
        """Its weight among so many parents."""
        return math.log(1 + (parents - self.parents + 0.5) / (self.parents + 0.5))


# A sequential scan would read the codes of every parent once per term: it stays off until the scores are there.
_SIZES = """
SELECT coalesce(sum(parents) FILTER (WHERE inside), 0), coalesce(sum(length) FILTER (WHERE inside), 0),
       coalesce(sum(parents), 0), set_config('enable_seqscan', 'off', true)
FROM (SELECT parents, length, document_id = ANY(%(documents)s::integer[]) AS inside
      FROM lexical_documents OFFSET 0) AS sized  -- OFFSET: looked through once
"""

_COUNTS_BY_TERM = """
SELECT q.term, t.id, CASE WHEN t.id IS NULL THEN 0 ELSE (
    SELECT count(*) FROM lexical_postings p WHERE ({holds}) {inside}
) END
FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS q (term, at) LEFT JOIN lexical_terms t ON t.term = q.term
ORDER BY q.at
"""
_COUNTS_BY_PARENT = """
SELECT q.term, t.id, coalesce(h.parents, 0)
FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS q (term, at) LEFT JOIN lexical_terms t ON t.term = q.term
LEFT JOIN (
    SELECT e.code / {frequencies} AS id, count(*) AS parents
    FROM lexical_postings p CROSS JOIN unnest(p.terms) AS e (code)
    WHERE p.document_id = ANY(%(documents)s::integer[])
      AND e.code / {frequencies} = ANY(ARRAY(SELECT id FROM lexical_terms WHERE term = ANY(%(terms)s::text[])))
    GROUP BY 1
) h ON h.id = t.id
ORDER BY q.at
"""

# The order in which PostgreSQL adds up is its own: scores are rounded before they are compared. Equal ones are cut and
# listed by URL and reading order, never by ids, which depend on who was indexed first.
_SCORES = """
WITH partial AS MATERIALIZED (
    {partial}
), foremost AS (
    SELECT chunk_id, score FROM partial WHERE score > 0
    ORDER BY round(score * 1e9) DESC FETCH FIRST (%(pool)s) ROWS WITH TIES
), pool AS (
    SELECT chunk_id, score FROM foremost
    UNION ALL
    SELECT c.id, coalesce(p.score, 0)
    FROM unnest(%(also)s::bigint[]) AS c (id) LEFT JOIN partial p ON p.chunk_id = c.id
    WHERE c.id NOT IN (SELECT chunk_id FROM foremost)
), scored AS (
    SELECT o.chunk_id, round((o.score + {rest}) * 1e9) / 1e9 AS score FROM pool o
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
UNION ALL
SELECT NULL, NULL WHERE set_config('enable_seqscan', 'on', true) IS NULL  -- no row; planned scans are not affected
"""
_PARTIAL_BY_TERM = """
    SELECT h.chunk_id, sum(h.part) AS score
    FROM unnest(%(read)s::integer[], %(read_idf)s::float8[]) AS w (id, idf)
    CROSS JOIN generate_series(0, {frequencies} - 1) AS e (code) CROSS JOIN LATERAL (
        SELECT p.chunk_id, w.idf * {part} AS part
        FROM lexical_postings p CROSS JOIN LATERAL (SELECT {frequency}) AS f (frequency)
        WHERE p.terms @> ARRAY[w.id * {frequencies} + e.code] {inside}
        OFFSET 0  -- keeps the planner from reading every parent and joining the terms to it
    ) h GROUP BY h.chunk_id
"""
_PARTIAL_BY_PARENT = """
    SELECT p.chunk_id, {sum} AS score FROM lexical_postings p WHERE p.document_id = ANY(%(documents)s::integer[])
"""
_REST = "coalesce((SELECT {sum} FROM lexical_postings p WHERE p.chunk_id = o.chunk_id), 0)"
# The score of one parent by its terms among {ids}: the codes are sorted, so each term is a binary search.
# The concatenation reads them from their storage once, not once per term.
_SUM = """(
    SELECT sum(w.idf * {part})
    FROM (SELECT p.terms || '{}'::integer[] AS codes OFFSET 0) AS packed
    CROSS JOIN unnest(%({ids})s::integer[], %({idf})s::float8[]) AS w (id, idf)
    CROSS JOIN LATERAL (
        SELECT packed.codes[width_bucket(w.id * {frequencies} + {frequencies} - 1, packed.codes)] AS code
    ) AS e CROSS JOIN LATERAL (SELECT {frequency}) AS f (frequency)
    WHERE e.code / {frequencies} = w.id
)"""

_INSIDE = "AND p.document_id + 0 = ANY(%(documents)s::integer[])"  # "+ 0" hides the column from its index
_PIECES = {
    "frequencies": str(FREQUENCIES),
    # one scan of the index per code: a scan for any of them (&&) compares eight streams entry by entry
    "holds": " OR ".join(f"p.terms @> ARRAY[t.id * {FREQUENCIES} + {code}]" for code in range(FREQUENCIES)),
    "frequency": f"CASE e.code %% {FREQUENCIES} WHEN 0 THEN p.frequent[array_position(p.frequent, -w.id) + 1]"
    f" ELSE e.code %% {FREQUENCIES} END",
    "part": f"f.frequency * {K1 + 1}::float8"
    f" / (f.frequency + {K1}::float8 * ({1 - B}::float8 + {B}::float8 * p.length / %(mean)s::float8))",
}


def _statement(template: str, **pieces: str) -> bytes:
    """Fill a template; pieces may hold the names of others."""
    for _ in range(3):
        for name, text in {**pieces, **_PIECES}.items():
            template = template.replace(f"{{{name}}}", text)
    return template.encode()


async def search_parents(
    connection: AsyncConnection,
    query_terms: Sequence[str] | Sequence[Word],
    scope: Scope,
    *,
    limit: int,
    also: Sequence[int] = (),
) -> LexicalResult:
    """The `limit` best parents of the scope, equal scores by URL and reading order, and those of `also` that hold a
    term of the query. Of a word with several terms those that occur count, each where it stands. Call inside a
    transaction."""
    words = list(dict.fromkeys((one,) if isinstance(one, str) else one for one in query_terms))
    terms = list(dict.fromkeys(term for word in words for term in word))
    if not terms:
        return LexicalResult([], {})
    values: dict[str, object] = {"documents": scope.id_array, "terms": terms}
    # what is compared with an array must be planned with it: a plan for any array looks through it row by row
    cursor = await connection.execute(_SIZES, values, prepare=False)
    row = await cursor.fetchone()
    assert row is not None
    parents, length, total = (int(value) for value in row[:3])
    if not parents:
        await connection.execute("SELECT set_config('enable_seqscan', 'on', true)")
        return LexicalResult([], {})
    few = parents <= max(_FEW_PARENTS, total * _FEW_SHARE)
    whole = parents == total
    inside = "" if whole else _INSIDE
    prepare = None if whole or few else False
    counts = await connection.execute(
        _statement(_COUNTS_BY_PARENT if few else _COUNTS_BY_TERM, inside=inside), values, prepare=prepare
    )
    known = [_Term(*row) for row in await counts.fetchall()]
    words = present_words(words, {term.term: term.parents for term in known})
    kept = {term for word in words for term in word}
    known = [term for term in known if term.term in kept]
    idf = {term.term: term.idf(parents) for term in known}
    used = [term for term in known if term.id is not None and term.parents]
    read = used if few else _rarest(used)
    unread = [term for term in used if term not in read]
    values |= {
        "read": [term.id for term in read],
        "read_idf": [idf[term.term] for term in read],
        "unread": [term.id for term in unread],
        "unread_idf": [idf[term.term] for term in unread],
        "mean": max(1.0, length / parents),
        "pool": max(limit * _POOL, _MIN_POOL),
        "limit": limit,
        "also": list(also),
    }
    statement = _statement(
        _SCORES,
        partial=_PARTIAL_BY_PARENT.replace("{sum}", _sum_of("read")) if few else _PARTIAL_BY_TERM,
        rest=_REST.replace("{sum}", _sum_of("unread")) if unread else "0",
        inside=inside,
    )
    scores = await connection.execute(statement, values, prepare=prepare)
    attainable = attainable_score(words, idf)
    hits = [
        LexicalHit(parent_id, score, min(1.0, score / attainable) if attainable else 0.0)
        for parent_id, score in await scores.fetchall()
    ]
    return LexicalResult(sorted(hits, key=lambda hit: -hit.score), idf, tuple(words))


def present_words(words: Sequence[Word], holders: Mapping[str, int]) -> list[Word]:
    """Each word with those of its terms that parents hold; one that none holds with its first term. `holders` is the
    number of parents by term."""
    return [tuple(term for term in word if holders.get(term)) or word[:1] for word in words]


def attainable_score(words: Sequence[Word], idf: Mapping[str, float]) -> float:
    """What a parent of infinite frequencies would score: every word counts by its rarest term."""
    return math.fsum(max(idf[term] for term in word) for word in words) * (K1 + 1)


def _sum_of(ids: str) -> str:
    return _SUM.replace("{ids}", ids).replace("{idf}", f"{ids}_idf")


def _rarest(terms: Sequence[_Term]) -> list[_Term]:
    """The rarest term and those after it while all their postings are at most `_MAX_POSTINGS`."""
    chosen: list[_Term] = []
    postings = 0
    for term in sorted(terms, key=lambda term: (term.parents, term.term)):
        postings += term.parents
        if chosen and postings > _MAX_POSTINGS:
            break
        chosen.append(term)
    return chosen
