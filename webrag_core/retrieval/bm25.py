"""Lexical search: BM25 over the postings of parent chunks.

Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with k1 = 1.2 and b = 0.75, and the
non-negative idf ln(1 + (N - n + 0.5) / (n + 0.5)). N and the mean length are those of the scope, and so is n, but for
terms of a thousand parents and more: theirs is N times the share of the corpus that holds them, as last counted after
a bulk load (`indexing/lexical.py`). Nobody counts their postings for a query.

A scope of few parents is read whole, and counted. In a larger one postings of frequent words are many and tell little,
so candidates come from the rarest terms of the query, as many as `_MAX_POSTINGS` allow, and from parents that hold the
next term most often; the best of those, and the parents that dense search found, are then scored by all terms. Only
where that leaves terms over is the list not proved to be the best one; the scores in it leave nothing out.

Postings are codes of term and frequency in a GIN index (`indexing/lexical.py`): the index tells which parents hold a
term how often, and the narrow rows of `lexical_postings` their document and length. The codes of a parent are read only
for candidates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from psycopg import AsyncConnection, AsyncCursor

from webrag_core.indexing.lexical import FREQUENCIES
from webrag_core.retrieval.resident_index import Postings
from webrag_core.retrieval.resident_words import WordScores, add_codes, add_terms, best_parents, count_holders, within
from webrag_core.retrieval.scope import IndexSizes, Scope, scope_size
from webrag_core.store.database import sent_together

K1 = 1.2
B = 0.75

_MAX_POSTINGS = 4_000  # that are added up, about half a microsecond each
_POOL = 5  # so many times the limit are scored by all terms, and at least
_MIN_POOL = 300
_FEW_PARENTS = 250  # whose codes are all read, about ten microseconds each; more where a term has many postings outside
_FEW_SHARE = 1 / 400
_HASHED_PARENTS = 10_000  # of sources: their documents are hashed, a third of a microsecond each


Word = tuple[str, ...]
"""The terms of one word of a query, one for each way in which pages may have cut it (`indexing.terms.query_terms`)."""


@dataclass(slots=True)  # as `chunk_store.ParentRow`
class LexicalHit:
    """A parent chunk with its BM25 score (0 upwards) and the share of the attainable score, in [0, 1]."""

    parent_id: int
    score: float
    relative: float


@dataclass(frozen=True, slots=True)
class LexicalResult:
    """Best parents first; `idf` of each query term in the scope, in the query's order (terms that never occur have the
    highest). `words` are those terms by the word of the query that they come from, where a word has several. `absent`
    are the terms of the query, those of no use among them, that no parent of the scope holds; `literals` are the words
    that stand for symbols (`retrieval.literals`)."""

    hits: list[LexicalHit]
    idf: dict[str, float]
    words: tuple[Word, ...] = ()
    absent: frozenset[str] = frozenset()
    literals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CountedTerm:
    """A query term, its id (None = not in the corpus), its parents in the scope, and the share of the corpus that holds
    it, by code (None: few hold it)."""

    term: str
    id: int | None
    parents: int
    shares: Sequence[float] | None = None

    def idf(self, parents: int) -> float:
        """Its weight among so many parents."""
        return math.log(1 + (parents - self.parents + 0.5) / (self.parents + 0.5))


@dataclass(frozen=True, slots=True)
class Copies:
    """Parents of the scope that say what another one says, so many in all, and by term those that hold it. A word is no
    commoner for them: a weight that they lower would make a sure hit unsure."""

    parents: int
    holders: Mapping[str, int]

    def without(self, term: CountedTerm) -> CountedTerm:
        """The term as if there were no copies."""
        return replace(term, parents=max(min(term.parents, 1), term.parents - self.holders.get(term.term, 0)))


@dataclass(frozen=True, slots=True)
class _Reading:
    """Codes whose postings give candidates, with their term's idf; the terms that this leaves out, wholly or in part;
    and the codes of those read in part."""

    codes: list[int]
    idf: list[float]
    unread: list[CountedTerm]
    partly: list[int]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is read and how it is weighed; the mean length of a parent; how many parents are scored by all terms, and
    how many of them are wanted, beside those of `also`."""

    reading: _Reading
    idf: Mapping[str, float]
    mean: float
    pool: int
    limit: int
    also: Sequence[int]


# a sequential scan would read the codes of every parent once per term
_SCANS_OFF = "SELECT set_config('enable_seqscan', 'off', true)"
_SCANS_ON = "SELECT set_config('enable_seqscan', 'on', true)"

_COUNTS_BY_TERM = """
SELECT q.term, t.id, CASE WHEN t.id IS NULL THEN 0 WHEN t.shares IS NOT NULL THEN
    (SELECT greatest(1, round(sum(share) * %(parents)s)) FROM unnest(t.shares) AS share)::integer
ELSE (
    SELECT count(*) FROM lexical_postings p WHERE ({holds}) AND {inside}
) END, t.shares
FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS q (term, at) LEFT JOIN lexical_terms t ON t.term = q.term
ORDER BY q.at
"""
# for postings in memory, which say how many hold a term of few
_SHARES = """
SELECT q.term, t.id, (SELECT greatest(1, round(sum(share) * %(parents)s)) FROM unnest(t.shares) AS share)::integer,
       t.shares
FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS q (term, at) LEFT JOIN lexical_terms t ON t.term = q.term
ORDER BY q.at
"""
_COUNTS_BY_PARENT = """
SELECT q.term, t.id, coalesce(h.parents, 0)
FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS q (term, at) LEFT JOIN lexical_terms t ON t.term = q.term
LEFT JOIN (
    SELECT e.code / {frequencies} AS id, count(*) AS parents
    FROM lexical_postings p CROSS JOIN unnest(p.terms) AS e (code)
    WHERE {lookup}
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
"""
_PARTIAL_BY_TERM = """
    SELECT h.chunk_id, sum(h.part) AS score
    FROM unnest(%(read)s::integer[], %(read_idf)s::float8[]) AS e (code, idf) CROSS JOIN LATERAL (
        SELECT p.chunk_id, e.idf * {part} AS part
        FROM lexical_postings p CROSS JOIN LATERAL (SELECT {frequency}) AS f (frequency)
        WHERE p.terms @> ARRAY[e.code] AND {inside}
        OFFSET 0  -- keeps the planner from reading every parent and joining the terms to it
    ) h GROUP BY h.chunk_id
"""
_PARTIAL_BY_PARENT = """
    SELECT p.chunk_id, {sum} AS score FROM lexical_postings p WHERE {lookup}
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
    WHERE e.code / {frequencies} = w.id AND e.code <> ALL(%(partly)s::integer[])
)"""

_PIECES = {
    "frequencies": str(FREQUENCIES),
    # one scan of the index per code: a scan for any of them (&&) compares eight streams entry by entry
    "holds": " OR ".join(f"p.terms @> ARRAY[t.id * {FREQUENCIES} + {code}]" for code in range(FREQUENCIES)),
    "frequency": f"CASE e.code %% {FREQUENCIES} WHEN 0 THEN"
    f" p.frequent[array_position(p.frequent, -(e.code / {FREQUENCIES})) + 1] ELSE e.code %% {FREQUENCIES} END",
    "part": f"f.frequency * {K1 + 1}::float8"
    f" / (f.frequency + {K1}::float8 * ({1 - B}::float8 + {B}::float8 * p.length / %(mean)s::float8))",
}


def _statement(template: str, **pieces: str) -> bytes:
    """Fill a template; pieces may hold the names of others."""
    for _ in range(3):
        for name, text in {**pieces, **_PIECES}.items():
            template = template.replace(f"{{{name}}}", text)
    return template.encode()


@dataclass(frozen=True, slots=True)
class CountedTerms:
    """Terms of a query that are counted in a scope of these sizes, by the server or in `postings` in memory, and what
    the search for them is made of."""

    words: list[Word]
    scope: Scope
    sizes: IndexSizes
    few: bool
    pieces: dict[str, str]
    values: dict[str, object]
    cursor: AsyncCursor | None
    postings: Postings | None = None
    counts: list[CountedTerm] = field(default_factory=list)

    def only(self, term: CountedTerm) -> CountedTerms:
        """One of the terms alone."""
        return replace(self, words=[(term.term,)], counts=[term])

    async def terms(self) -> list[CountedTerm]:
        """The terms in order, each with its number of parents."""
        if self.cursor is not None and not self.counts:
            self.counts.extend(self._counted(await self.cursor.fetchall()))
        return self.counts

    def _counted(self, rows: Sequence[tuple[Any, ...]]) -> list[CountedTerm]:
        if self.postings is None:
            return [CountedTerm(*row) for row in rows]
        by_share = [not self.few and shares is not None for *_, shares in rows]
        unshared = [row[1] for row, shared in zip(rows, by_share, strict=True) if row[1] is not None and not shared]
        counts = dict(zip(unshared, count_holders(self.postings, unshared, self.scope), strict=True))
        return [
            CountedTerm(term, term_id, parents, shares)
            if shared
            else CountedTerm(term, term_id, counts.get(term_id, 0))
            for (term, term_id, parents, shares), shared in zip(rows, by_share, strict=True)
        ]

    @property
    def prepare(self) -> bool | None:
        """What is compared with an array must be planned with it: a plan for any array looks through it row by row."""
        return None if self.few or self.pieces["inside"] == "true" else False


async def count_terms(
    connection: AsyncConnection,
    query_terms: Sequence[str] | Sequence[Word],
    scope: Scope,
    sizes: IndexSizes | None = None,
    postings: Postings | None = None,
) -> CountedTerms:
    """Ask for the document frequencies of terms, without waiting for them where the connection is in a pipeline.
    `sizes` are those of the scope (None = looked up), `postings` those of the snapshot, where they are in memory. Call
    inside a transaction."""
    words = list(dict.fromkeys((term,) if isinstance(term, str) else term for term in query_terms))
    terms = list(dict.fromkeys(term for word in words for term in word))
    if sizes is None:
        sizes = (await scope_size(connection, scope)).indexes
    if not terms or not sizes.parents:
        return CountedTerms(words, scope, sizes, True, {}, {}, None)
    few = sizes.parents <= max(_FEW_PARENTS, sizes.corpus_parents * _FEW_SHARE)
    whole = sizes.parents == sizes.corpus_parents
    inside = "true" if whole else scope.test("p.document_id", hashed=sizes.parents <= _HASHED_PARENTS)
    counted = CountedTerms(
        words,
        scope,
        sizes,
        few,
        {"inside": inside, "lookup": scope.lookup("p.document_id")},
        {**scope.parameters, "terms": terms, "parents": sizes.parents},
        connection.cursor(),
        postings,
    )
    assert counted.cursor is not None
    if postings is not None:
        await counted.cursor.execute(_SHARES, counted.values)
        return counted
    async with sent_together(connection):
        await connection.execute(_SCANS_OFF)
        await counted.cursor.execute(
            _statement(_COUNTS_BY_PARENT if few else _COUNTS_BY_TERM, **counted.pieces),
            counted.values,
            prepare=counted.prepare,
        )
        await connection.execute(_SCANS_ON)
    return counted


async def search_parents(
    connection: AsyncConnection,
    query_terms: Sequence[str] | Sequence[Word],
    scope: Scope,
    *,
    limit: int,
    also: Sequence[int] = (),
    counted: CountedTerms | None = None,
    copies: Copies | None = None,
) -> LexicalResult:
    """The `limit` best parents of the scope, equal scores by URL and reading order, and those of `also` that hold a
    term of the query. Of a word with several terms those that occur count, each where it stands. `counted` are its
    terms (None = counted here); its weights are those without the `copies`. Call inside a transaction."""
    if counted is None:
        counted = await count_terms(connection, query_terms, scope)
    if counted.cursor is None:
        return LexicalResult([], {})
    parents, length, few = counted.sizes.parents, counted.sizes.length, counted.few
    known = await counted.terms()
    absent = frozenset(term.term for term in known if not term.parents)
    words = present_words(counted.words, {term.term: term.parents for term in known})
    present = {term for word in words for term in word}
    known = [term for term in known if term.term in present]
    if copies is None:
        idf = {term.term: term.idf(parents) for term in known}
    else:
        idf = {term.term: copies.without(term).idf(max(1, parents - copies.parents)) for term in known}
    used = [term for term in known if term.id is not None and term.parents]
    if few:  # the ids of all
        reading = _Reading([term.id or 0 for term in used], [idf[term.term] for term in used], [], [])
    else:
        reading = _rarest(used, idf, counted.sizes.corpus_parents)
    attainable = attainable_score(words, idf)
    wanted = _Wanted(reading, idf, max(1.0, length / parents), max(limit * _POOL, _MIN_POOL), limit, also)
    if counted.postings is None:
        scores = await _score_by_server(connection, counted, wanted)
    else:
        scores = _score_in_memory(counted.postings, counted, wanted)
    hits = [
        LexicalHit(parent_id, score, min(1.0, score / attainable) if attainable else 0.0) for parent_id, score in scores
    ]
    return LexicalResult(sorted(hits, key=lambda hit: -hit.score), idf, tuple(words), absent)


async def _score_by_server(
    connection: AsyncConnection, counted: CountedTerms, wanted: _Wanted
) -> Sequence[tuple[int, float]]:
    reading = wanted.reading
    values = counted.values | {
        "read": reading.codes,
        "read_idf": reading.idf,
        "unread": [term.id for term in reading.unread],
        "unread_idf": [wanted.idf[term.term] for term in reading.unread],
        "partly": reading.partly,
        "mean": wanted.mean,
        "pool": wanted.pool,
        "limit": wanted.limit,
        "also": list(wanted.also),
    }
    statement = _statement(
        _SCORES,
        partial=_PARTIAL_BY_PARENT.replace("{sum}", _sum_of("read")) if counted.few else _PARTIAL_BY_TERM,
        rest=_REST.replace("{sum}", _sum_of("unread")) if reading.unread else "0",
        **counted.pieces,
    )
    async with sent_together(connection):
        await connection.execute(_SCANS_OFF)
        scores = await connection.execute(statement, values, prepare=counted.prepare)
        await connection.execute(_SCANS_ON)
    return [(int(parent_id), float(score)) for parent_id, score in await scores.fetchall()]


def _score_in_memory(postings: Postings, counted: CountedTerms, wanted: _Wanted) -> Sequence[tuple[int, float]]:
    reading = wanted.reading
    scores = WordScores(K1, B, wanted.mean)
    read = (add_terms if counted.few else add_codes)(postings, scores, reading.codes, reading.idf)
    rest = None
    if reading.unread:
        ids = [term.id or 0 for term in reading.unread]
        weights = [wanted.idf[term.term] for term in reading.unread]
        rest = partial(add_terms, postings, scores, ids, weights, reading.partly)
    inside = within(postings, read, counted.scope)
    return best_parents(postings, inside, rest, pool=wanted.pool, limit=wanted.limit, also=wanted.also)


def present_words(words: Sequence[Word], holders: Mapping[str, int]) -> list[Word]:
    """Each word with those of its terms that parents hold; one that none holds with its first term. `holders` is the
    number of parents by term."""
    return [tuple(term for term in word if holders.get(term)) or word[:1] for word in words]


def attainable_score(words: Sequence[Word], idf: Mapping[str, float]) -> float:
    """What a parent of infinite frequencies would score: every word counts by its rarest term."""
    return math.fsum(max(idf[term] for term in word) for word in words) * (K1 + 1)


def _sum_of(ids: str) -> str:
    return _SUM.replace("{ids}", ids).replace("{idf}", f"{ids}_idf")


def _rarest(terms: Sequence[CountedTerm], idf: Mapping[str, float], corpus_parents: int) -> _Reading:
    """The rarest terms while all their postings in the corpus are at most `_MAX_POSTINGS`; of the next one what fits,
    if it is a frequent one: the parents first that hold it most often. In any case something."""
    reading = _Reading([], [], [], [])
    left: float = _MAX_POSTINGS
    for term in sorted(terms, key=lambda term: (term.parents, term.term)):
        chosen: list[int] = []
        for code, postings in _pieces(term, corpus_parents):
            if postings > left and left < _MAX_POSTINGS:
                left = 0.0
                break
            left -= postings
            chosen.extend(code)
            reading.codes.extend(code)
            reading.idf.extend(idf[term.term] for _ in code)
        if len(chosen) < FREQUENCIES:
            reading.unread.append(term)
            reading.partly.extend(chosen)
    return reading


def _pieces(term: CountedTerm, corpus_parents: int) -> list[tuple[list[int], float]]:
    """Codes of a term that can be read apart, those of parents that hold it most often first, and their postings."""
    assert term.id is not None
    codes = [term.id * FREQUENCIES + code for code in (0, *range(FREQUENCIES - 1, 0, -1))]
    if term.shares is None:
        return [(codes, term.parents)]
    return [([code], term.shares[code % FREQUENCIES] * corpus_parents) for code in codes]
