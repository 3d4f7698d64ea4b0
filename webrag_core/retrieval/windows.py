"""The second dense channel: a ranked list by the window vectors of `indexing.window_vectors`.

It is used where nearly every passage of the scope has a vector and the question may be in the language that the
encoder knows; elsewhere a search is what it is without.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import AsyncConnection, sql

from webrag_core.errors import ReadingModelError
from webrag_core.indexing.window_vectors import KNOWN_LANGUAGE, LANGUAGE
from webrag_core.language.detection import detected_beyond_doubt
from webrag_core.providers.reading_model import window_vector
from webrag_core.retrieval.models import MatchSpan, RetrievedChunk
from webrag_core.retrieval.scope import Scope

MOST_PASSAGES = 20_000
"""Children of a scope, of which every vector is compared."""

SHARE = 0.35
"""Weight of the window's cosine in the order of a search, where it takes the place of the other model's (.15). Larger
ones find people's questions better still, and lose questions that share their words with the page."""

CANDIDATES = 20
"""Parents nearest by their windows that are read beside the candidates of the other channels."""

_COVERED = 0.95  # share of the passages that need a vector; the last ones of a site that changes are still made

# the language is looked at where passages are counted: as a condition it misleads the planner about their number
_NEAREST = sql.SQL("""
WITH passages AS MATERIALIZED (
    SELECT c.parent_id, v.language, v.detected_language, w.embedding <=> %(query)s::halfvec AS distance
    FROM documents d JOIN document_versions v ON v.id = d.current_version
    JOIN chunks c ON c.version_id = v.id AND c.level = 'child'
    LEFT JOIN window_vectors w ON w.text_sha256 = c.embed_sha256
    WHERE {inside} AND (%(flags)s::text[] = '{{}}' OR c.flags && %(flags)s::text[])
), coverage AS (
    SELECT count(distance) AS made, count(*) FILTER (WHERE distance IS NOT NULL OR {known}) AS needed FROM passages v
), nearest AS (
    SELECT parent_id, min(distance) AS distance FROM passages WHERE distance IS NOT NULL
    GROUP BY parent_id ORDER BY distance FETCH FIRST (%(limit)s) ROWS WITH TIES
)
SELECT n.parent_id, 1 - n.distance FROM nearest n
JOIN chunks p ON p.id = n.parent_id JOIN documents d ON d.id = p.document_id
JOIN coverage o ON o.made >= %(covered)s * o.needed
ORDER BY n.distance, d.canonical_url, p.ordinal LIMIT %(limit)s
""")


@dataclass(frozen=True, slots=True)
class WindowVectors:
    """The vector of each question that is searched by windows, and why the encoder failed, if it did."""

    of: Mapping[str, NDArray[np.float32]]
    failure: str | None


@dataclass(frozen=True, slots=True)
class BestWindow:
    """The nearest window of a parent: its cosine to the question, in [-1, 1], and its child."""

    cosine: float
    span: MatchSpan


async def window_vectors(questions: Sequence[str], children: int) -> WindowVectors:
    """The window vectors of the questions whose language the encoder knows, as far as that is clear: none where the
    scope holds more than `MOST_PASSAGES` children."""
    known = [question for question in questions if detected_beyond_doubt(question) in (None, LANGUAGE)]
    if not known or not 0 < children <= MOST_PASSAGES:
        return WindowVectors({}, None)
    try:
        return WindowVectors({name: await asyncio.to_thread(_question_vector, name) for name in known}, None)
    except ReadingModelError as error:
        return WindowVectors({}, error.message)


async def nearest_parents(
    connection: AsyncConnection, vector: NDArray[np.float32], scope: Scope, limit: int
) -> dict[int, float]:
    """The cosine of the nearest window of each parent, nearest first, at most `limit`; equally near ones by URL and
    reading order. Empty where not nearly every passage of the scope that should have a window vector has it."""
    query = _NEAREST.format(inside=sql.SQL(scope.lookup("d.id")), known=sql.SQL(KNOWN_LANGUAGE))
    values = {
        **scope.parameters,
        "flags": list(scope.flags),
        "query": Vector(vector),
        "limit": limit,
        "covered": _COVERED,
    }
    cursor = await connection.execute(query, values, prepare=False)
    return {int(parent_id): float(cosine) for parent_id, cosine in await cursor.fetchall()}


@lru_cache(maxsize=256)
def _question_vector(question: str) -> NDArray[np.float32]:
    """`window_vector` of a question, which the rounds of a run ask again."""
    return window_vector(question)


async def best_windows(
    connection: AsyncConnection, vector: NDArray[np.float32], parent_ids: Sequence[int]
) -> dict[int, BestWindow]:
    """The nearest window of each of these parents that has one."""
    cursor = await connection.execute(
        "SELECT DISTINCT ON (c.parent_id) c.parent_id, 1 - (w.embedding <=> %s::halfvec), c.char_start, c.char_end,"
        " c.heading_path FROM chunks c JOIN window_vectors w ON w.text_sha256 = c.embed_sha256"
        " WHERE c.parent_id = ANY(%s) ORDER BY c.parent_id, 2 DESC, c.char_start",
        (Vector(vector), list(parent_ids)),
    )
    return {
        int(parent_id): BestWindow(float(cosine), MatchSpan(start=start, end=end, heading_path=path))
        for parent_id, cosine, start, end, path in await cursor.fetchall()
    }


def in_order(
    chunks: Sequence[RetrievedChunk],
    best: Mapping[int, BestWindow],
    cosine_weight: float,
    depth_weight: Callable[[int], float],
) -> list[RetrievedChunk]:
    """The chunks by their raw score, in which `SHARE` of the cosine of their best window takes the place of
    `cosine_weight` of their similarity, times the weight of their page's depth; one without a window has the mean of
    the others' cosines. Equal ones stay as they come. The best window is a match of its chunk.

    Scores and probabilities stay with the places: they were fitted without windows, and what the first place is worth
    is known, whatever fills it.
    """
    usual = fmean(window.cosine for window in best.values()) if best else 0.0

    def mixed(chunk: RetrievedChunk) -> float:
        cosine = best[chunk.chunk_id].cosine if chunk.chunk_id in best else usual
        others = chunk.raw_score - cosine_weight * max(0.0, chunk.raw_similarity)
        return (others + SHARE * max(0.0, cosine)) * depth_weight(chunk.document_id)

    scores = sorted((chunk.score for chunk in chunks), reverse=True)
    chances = sorted((chunk.relevance or 0.0 for chunk in chunks), reverse=True)
    return [
        chunk.model_copy(
            update={"score": score, "relevance": chance, "further_matches": _further(chunk, best.get(chunk.chunk_id))}
        )
        for chunk, score, chance in zip(sorted(chunks, key=lambda chunk: -mixed(chunk)), scores, chances, strict=True)
    ]


def _further(chunk: RetrievedChunk, window: BestWindow | None) -> list[MatchSpan]:
    """Matches beside the best one, the window among them."""
    if window is None or any(match.start == window.span.start for match in chunk.matches):
        return chunk.further_matches
    return [window.span, *chunk.further_matches[:1]]
