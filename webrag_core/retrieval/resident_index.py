"""The vectors and postings of a corpus that is small enough, held in the memory of a process that searches it often.

The server compares 15,000 vectors in the time in which numpy compares them five times, and scores postings in that of a
dozen products of arrays. What is held is what the search would read: an index belongs to one state of the tables, and
every search asks in its own snapshot whether that is still the state. The first searches of a state are the server's:
who asks one question does not wait for a whole index, and one that changes between two searches is not read at all.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection, AsyncCursor, sql

from webrag_core.indexing.embedding_models import HNSW_MIN_ROWS
from webrag_core.indexing.lexical import FREQUENCIES
from webrag_core.retrieval.scope import IndexSizes, Scope
from webrag_core.store.database import Database
from webrag_core.store.vector_tables import vector_table

logger = logging.getLogger(__name__)

MOST_PARENTS = 40_000
"""Parents of a corpus whose postings are held: about 1,000 bytes each."""

READ_AFTER = 8
"""Searches of one state before its index is read: reading costs as much as these searches would have saved."""

_ARRAY_HEAD, _DIMENSION_HEAD = 3, 2  # words before the elements in what array_send makes, the second of a full array

# Whatever changes vectors or postings changes a row of lexical_documents or document_sizes, or adds or takes one, and
# their triggers write a row of source_sizes anew: its place and transaction say that it is the same. Texts that wait
# get their vectors later, and without.
_STATE = """
SELECT coalesce(string_agg(concat_ws(' ', id, xmin, ctid), ',' ORDER BY id), ''),
       EXISTS (SELECT FROM texts_without_vector WHERE model_id = %s AND NOT refused)
FROM source_sizes
"""

_POSTINGS = """
SELECT string_agg(int8send(chunk_id) || int4send(document_id) || int4send(source_id) || int4send(length)
                  || int4send(place::integer) || int4send(cardinality(terms)) || int4send(cardinality(frequent)), ''),
       string_agg(array_send(terms), ''), string_agg(array_send(frequent), '')
FROM (
    SELECT p.*, d.source_id, row_number() OVER (ORDER BY d.canonical_url, c.ordinal) AS place
    FROM lexical_postings p JOIN chunks c ON c.id = p.chunk_id JOIN documents d ON d.id = p.document_id
    ORDER BY p.chunk_id
) AS held
"""
_POSTING_HEAD = np.dtype(
    [("chunk", ">i8"), *((name, ">i4") for name in ("document", "source", "length", "place", "terms", "frequent"))]
)

_VECTORS = sql.SQL("""
SELECT string_agg(int8send(e.chunk_id) || int4send(e.document_id) || int4send(d.source_id), '' ORDER BY e.chunk_id),
       string_agg(vector_send(e.embedding), '' ORDER BY e.chunk_id)
FROM {} e JOIN documents d ON d.id = e.document_id
""")
_VECTOR_HEAD = np.dtype([("chunk", ">i8"), ("document", ">i4"), ("source", ">i4")])


@dataclass(frozen=True, slots=True)
class Held:
    """Rows of a table with their chunk ids (ascending), and the ids of their documents and sources."""

    chunks: NDArray[np.int64]
    documents: NDArray[np.int64]
    sources: NDArray[np.int64]

    @classmethod
    def of(cls, rows: NDArray[np.void]) -> Held:
        """Take the fields `chunk`, `document` and `source`."""
        return cls(*(rows[name].astype(np.int64) for name in ("chunk", "document", "source")))

    def inside(self, scope: Scope) -> NDArray[np.bool_] | None:
        """Which rows lie in a scope; None = all."""
        if scope.document_ids is not None:
            return np.isin(self.documents, np.array(scope.document_ids, dtype=np.int64))
        if scope.source_ids is not None:
            return np.isin(self.sources, np.array(scope.source_ids, dtype=np.int64))
        return None


@dataclass(frozen=True, slots=True)
class Postings:
    """Every posting, ordered by `codes` (`indexing.lexical`): the position of its parent in `parents`, and how often
    that holds the term. `lengths` counts the terms of each parent, `places` its place by URL and in reading order."""

    parents: Held
    lengths: NDArray[np.float64]
    places: NDArray[np.int64]
    codes: NDArray[np.int32]
    holders: NDArray[np.int32]
    frequencies: NDArray[np.int32]

    def of_codes(self, codes: NDArray[np.int64], width: int = 1) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the postings of each of these codes stand, and of the `width` - 1 codes behind it: the positions, and
        for each which of the given codes it belongs to."""
        bounds = np.stack([codes, codes + width]).astype(self.codes.dtype)  # else all codes would be converted
        first, last = np.searchsorted(self.codes, bounds)
        counts = last - first
        which = np.repeat(np.arange(len(codes)), counts)
        before = np.cumsum(counts) - counts
        return np.arange(int(counts.sum())) + (first - before)[which], which


@dataclass(frozen=True, slots=True)
class ChildVectors:
    """The vectors of all children, of unit length, shape (n, dimensions)."""

    children: Held
    vectors: NDArray[np.float32]

    def nearest(self, query: NDArray[np.float32], scope: Scope, limit: int, margin: float) -> list[int]:
        """Ids of the children of the scope that are among the `limit` nearest, or at most `margin` of a cosine behind
        them, in no particular order."""
        # not by BLAS: it would start threads for it, which wait for each other on a busy machine
        cosines = np.einsum("ij,j->i", self.vectors, query / np.linalg.norm(query))
        inside = self.children.inside(scope)
        if inside is not None:
            cosines = np.where(inside, cosines, np.float32(-np.inf))
        if limit < len(cosines):
            least = np.partition(cosines, -limit)[-limit] - margin
            chosen = cosines >= max(least, np.float32(-2))
        else:
            chosen = cosines > -2
        return [int(chunk) for chunk in self.children.chunks[chosen]]


@dataclass(frozen=True, slots=True)
class ResidentIndex:
    """What is held of one state of a corpus; None where there is too much of it."""

    state: str
    postings: Postings | None
    vectors: ChildVectors | None


@dataclass(slots=True)
class Residence:
    """The index of a database and model, the state that was last searched, and how often."""

    model_id: int
    index: ResidentIndex | None = None
    state: str = ""
    searches: int = 0
    is_reading: bool = False


@dataclass(slots=True)
class _Residences:
    of_models: dict[int, Residence] = field(default_factory=dict)


_LOCK = Lock()  # corpora may be open in several threads
_HELD: WeakKeyDictionary[Database, _Residences] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class AskedState:
    """The state of the tables, asked for and not yet read."""

    residence: Residence
    cursor: AsyncCursor

    async def index(self, connection: AsyncConnection, sizes: IndexSizes) -> ResidentIndex | None:
        """The index of the snapshot that `connection` reads, of a corpus of these sizes, if it is held or is to be.

        Call inside the transaction of `ask_state`.
        """
        state, waits = await self.cursor.fetchone() or ("", True)
        residence = self.residence
        if waits or sizes.corpus_parents > MOST_PARENTS or not sizes.corpus_parents:
            return None
        if residence.index is not None and residence.index.state == state:
            return residence.index
        residence.searches = residence.searches + 1 if residence.state == state else 1
        residence.state = state
        if residence.searches <= READ_AFTER or residence.is_reading:
            return None
        residence.is_reading, residence.index = True, None
        try:
            residence.index = await _read(connection, residence.model_id, state, sizes)
        finally:
            residence.is_reading = False
        return residence.index


def residence_in(database: Database, model_id: int) -> Residence:
    """Where the index of a model is held for a database."""
    with _LOCK:
        return _HELD.setdefault(database, _Residences()).of_models.setdefault(model_id, Residence(model_id))


async def ask_state(connection: AsyncConnection, residence: Residence) -> AskedState:
    """Ask for the state of the tables, which may be part of a pipeline. `residence` is that of the connection's
    database."""
    return AskedState(residence, await connection.execute(_STATE, (residence.model_id,)))


async def _read(connection: AsyncConnection, model_id: int, state: str, sizes: IndexSizes) -> ResidentIndex:
    cursor = await connection.execute(_POSTINGS, binary=True, prepare=False)
    packed = await cursor.fetchone()
    postings = await asyncio.to_thread(_postings_of, *(part or b"" for part in packed or (b"", b"", b"")))
    vectors = None
    if sizes.corpus_children <= HNSW_MIN_ROWS:
        cursor = await connection.execute(_VECTORS.format(vector_table(model_id)), binary=True, prepare=False)
        packed = await cursor.fetchone()
        vectors = await asyncio.to_thread(_vectors_of, *(part or b"" for part in packed or (b"", b"")))
    return ResidentIndex(state, postings, vectors)


def _postings_of(heads: bytes, terms: bytes, frequent: bytes) -> Postings | None:
    rows = np.frombuffer(heads, _POSTING_HEAD)
    codes = _elements(terms, rows["terms"])
    holders = np.repeat(np.arange(len(rows), dtype=np.int32), rows["terms"])
    frequencies = codes % FREQUENCIES
    many = np.flatnonzero(frequencies == 0)
    pairs = _elements(frequent, rows["frequent"]).reshape(-1, 2)
    if not np.array_equal(-pairs[:, 0], codes[many] // FREQUENCIES):
        logger.warning("the postings of this corpus are in another order than expected; the server searches them")
        return None
    frequencies[many] = pairs[:, 1]
    order = np.argsort(codes, kind="stable")
    return Postings(
        Held.of(rows),
        rows["length"].astype(np.float64),
        rows["place"].astype(np.int64),
        codes[order],
        holders[order],
        frequencies[order],
    )


def _elements(packed: bytes, counts: NDArray[np.int32]) -> NDArray[np.int32]:
    """The elements of arrays of so many integers each, laid end to end as `array_send` makes them: three words of head,
    two more of an array that is not empty, and a word of length before each element."""
    words = np.frombuffer(packed, ">i4")
    counts = counts.astype(np.int64)
    sizes = _ARRAY_HEAD + np.where(counts > 0, _DIMENSION_HEAD, 0) + 2 * counts
    starts = np.cumsum(sizes) - sizes + _ARRAY_HEAD + _DIMENSION_HEAD + 1
    before = np.cumsum(counts) - counts
    at = np.repeat(starts - 2 * before, counts) + 2 * np.arange(int(counts.sum()))
    return words[at].astype(np.int32)


def _vectors_of(heads: bytes, packed: bytes) -> ChildVectors | None:
    """Vectors are sent as their number of dimensions and an unused number, two bytes each, and four bytes for each."""
    rows = np.frombuffer(heads, _VECTOR_HEAD)
    if not len(rows):
        return None
    words = np.frombuffer(packed, ">f4").reshape(len(rows), -1)
    vectors = words[:, 1:].astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not lengths.all():  # such a vector has no cosine
        return None
    vectors /= lengths
    return ChildVectors(Held.of(rows), vectors)
