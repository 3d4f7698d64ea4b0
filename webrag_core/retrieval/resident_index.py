"""The vectors and postings of a corpus that is small enough, held in the memory of a process that searches it often.

The server compares 15,000 vectors in the time in which numpy compares them five times, and scores postings in that of a
dozen products of arrays. What is held is what the search would read: an index belongs to one state of the tables, and
every search asks in its own snapshot whether that is still the state. The first searches of a state are the server's:
who asks one question does not wait for a whole index, and one that changes between two searches is not read at all. Of
a large corpus the vectors alone may be held, in codes and where a setting leaves memory for them (`resident_codes`).
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from threading import Lock
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection, AsyncCursor

from webrag_core.indexing.embedding_models import HNSW_MIN_ROWS
from webrag_core.indexing.lexical import FREQUENCIES
from webrag_core.retrieval.coded_vectors import CodedVectors
from webrag_core.retrieval.held_rows import Held
from webrag_core.retrieval.resident_codes import ResidentCodes
from webrag_core.retrieval.scope import IndexSizes, Scope
from webrag_core.retrieval.vector_parts import STATE, read_part
from webrag_core.store.database import Database

logger = logging.getLogger(__name__)

MOST_PARENTS = 40_000
"""Parents of a corpus whose postings are held: about 1,000 bytes each."""

READ_AFTER = 8
"""Searches of one state before its index is read: reading costs as much as these searches would have saved."""

_ARRAY_HEAD, _DIMENSION_HEAD = 3, 2  # words before the elements in what array_send makes, the second of a full array

_POSTINGS = """
SELECT string_agg(int8send(chunk_id) || int4send(document_id) || int4send(source_id) || int4send(kind)
                  || int4send(months) || int4send(length) || int4send(place::integer)
                  || int4send(cardinality(terms)) || int4send(cardinality(frequent)), ''),
       string_agg(array_send(terms), ''), string_agg(array_send(frequent), '')
FROM (
    SELECT p.*, d.source_id, d.kind, d.months, row_number() OVER (ORDER BY d.canonical_url, c.ordinal) AS place
    FROM lexical_postings p JOIN chunks c ON c.id = p.chunk_id JOIN documents d ON d.id = p.document_id
    ORDER BY p.chunk_id
) AS held
"""
_POSTING_HEAD = np.dtype(
    [
        ("chunk", ">i8"),
        *((name, ">i4") for name in ("document", "source", "kind", "months", "length", "place", "terms", "frequent")),
    ]
)


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

    @classmethod
    def of(cls, children: Held, vectors: NDArray[np.float32]) -> ChildVectors | None:
        """Vectors of any length. None where one has no length, and therefore no cosine."""
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return cls(children, vectors / lengths) if lengths.all() else None

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
    vectors: ChildVectors | CodedVectors | None


@dataclass(slots=True)
class Residence:
    """The index of a database and model, the state that was last searched, and how often. `codes` are for the vectors
    of a large corpus; None where the settings leave them no memory."""

    model_id: int
    codes: ResidentCodes | None = None
    index: ResidentIndex | None = None
    state: str = ""
    searches: int = 0
    is_reading: bool = False


@dataclass(slots=True)
class _Residences:
    of_models: dict[int, Residence] = field(default_factory=dict)


_LOCK = Lock()  # corpora may be open in several threads
_HELD: WeakKeyDictionary[Database, _Residences] = WeakKeyDictionary()


@dataclass(slots=True)
class AskedState:
    """The state of the tables, asked for and read with the `index`: then it is known whether the model is live, and
    whether there is any window vector. Another model may have been switched to since this process began, which keeps
    using the old vectors."""

    residence: Residence
    cursor: AsyncCursor
    is_live: bool = False
    has_windows: bool = False

    async def index(self, connection: AsyncConnection, sizes: IndexSizes) -> ResidentIndex | None:
        """The index of the snapshot that `connection` reads, of a corpus of these sizes, if it is held or is to be.

        Call inside the transaction of `ask_state`.
        """
        state, waits, self.is_live, self.has_windows = await self.cursor.fetchone() or ("", True, False, False)
        residence = self.residence
        if waits or not sizes.corpus_parents:
            return None
        residence.searches = residence.searches + 1 if residence.state == state else 1
        residence.state = state
        codes = None
        if residence.codes is not None and sizes.corpus_children > HNSW_MIN_ROWS:
            codes = residence.codes.of_state(state, is_wanted=residence.searches > READ_AFTER)
        index = await self._index(connection, sizes) if sizes.corpus_parents <= MOST_PARENTS else None
        if codes is None:
            return index
        return ResidentIndex(state, None if index is None else index.postings, codes)

    @property
    def warnings(self) -> list[str]:
        """What a search has to say of the index; none where all is as the settings want it."""
        codes = self.residence.codes
        return [] if codes is None or codes.warning is None else [codes.warning]

    async def _index(self, connection: AsyncConnection, sizes: IndexSizes) -> ResidentIndex | None:
        residence, state = self.residence, self.residence.state
        if residence.index is not None and residence.index.state == state:
            return residence.index
        if residence.searches <= READ_AFTER or residence.is_reading:
            return None
        residence.is_reading, residence.index = True, None
        try:
            residence.index = await _read(connection, residence.model_id, state, sizes)
        finally:
            residence.is_reading = False
        return residence.index


def residence_in(database: Database, model_id: int, megabytes: int = 0) -> Residence:
    """Where the index of a model is held for a database. The vectors of a large corpus may take `megabytes`, as the
    first caller wants it who names more than 0."""
    with _LOCK:
        residence = _HELD.setdefault(database, _Residences()).of_models.setdefault(model_id, Residence(model_id))
        if megabytes and residence.codes is None:
            residence.codes = ResidentCodes(ref(database), model_id, megabytes)
        return residence


async def ask_state(connection: AsyncConnection, residence: Residence) -> AskedState:
    """Ask for the state of the tables, which may be part of a pipeline. `residence` is that of the connection's
    database."""
    return AskedState(residence, await connection.execute(STATE, {"model": residence.model_id}))


async def _read(connection: AsyncConnection, model_id: int, state: str, sizes: IndexSizes) -> ResidentIndex:
    cursor = await connection.execute(_POSTINGS, binary=True, prepare=False)
    packed = await cursor.fetchone()
    postings = await asyncio.to_thread(_postings_of, *(part or b"" for part in packed or (b"", b"", b"")))
    vectors = None
    if sizes.corpus_children <= HNSW_MIN_ROWS:
        part = await read_part(connection, model_id, 0, HNSW_MIN_ROWS)
        vectors = None if part is None else ChildVectors.of(*part)
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
