"""Ratings out of the tables: what each of them values among the passages that its answer considered.

The signals of those passages are computed again, over everything that is stored now: a passage whose page has another
text today is left out, and an answer whose passages are all gone speaks for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection
from psycopg.rows import class_row

from webrag_core.feedback.estimate import Considered, Rating, Valued
from webrag_core.feedback.models import Feedback
from webrag_core.feedback.safeguards import Agreement, Claim, counted
from webrag_core.feedback.store import list_feedback
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.chunk_store import load_children, load_parents
from webrag_core.retrieval.patterns import lexical_hits
from webrag_core.retrieval.ranking import signals_of_parents
from webrag_core.retrieval.scope import scope_size, source_scope
from webrag_core.retrieval.searcher import Searcher


@dataclass(frozen=True, slots=True)
class Evidence:
    """All ratings that are not rejected, oldest first, and how their actors agree with accepted goldens.
    `without_passages` counts those that name no passage that can still be ranked."""

    ratings: list[Rating]
    agreements: dict[str, Agreement]
    without_passages: int


@dataclass(frozen=True, slots=True)
class _Exposure:
    answer_id: int
    chunk_id: int
    shown: bool
    propensity: float
    version_id: int
    char_start: int
    char_end: int


@dataclass(frozen=True, slots=True)
class _Span:
    version_id: int
    char_start: int
    char_end: int

    def is_held_by(self, passage: _Exposure) -> bool:
        """Whether the passage holds at least half of the span."""
        shared = min(self.char_end, passage.char_end) - max(self.char_start, passage.char_start)
        return self.version_id == passage.version_id and 2 * shared >= self.char_end - self.char_start


# only what is in the index today can be ranked, and only where the probability is known
_EXPOSURES = """
SELECT e.answer_id, e.chunk_id, e.shown, e.propensity, c.version_id, c.char_start, c.char_end
FROM exposures e JOIN chunks c ON c.id = e.chunk_id JOIN documents d ON d.current_version = c.version_id
WHERE e.answer_id = ANY(%s) AND e.propensity IS NOT NULL AND c.level = 'parent' ORDER BY e.answer_id, e.rank
"""
_CITED = """
SELECT f.id, c.version_id, c.char_start, c.char_end FROM feedback f
JOIN citations c ON c.answer_id = f.answer_id AND (c.number = f.citation OR c.number IN (
    SELECT s.number FROM sentence_citations s WHERE s.answer_id = f.answer_id AND s.ordinal = f.sentence))
WHERE f.id = ANY(%s)
"""
_SUGGESTED = """
SELECT id, suggested_version, (suggested ->> 'char_start')::integer, (suggested ->> 'char_end')::integer
FROM feedback WHERE suggested IS NOT NULL AND id = ANY(%s)
"""


async def load_evidence(corpus: Corpus) -> Evidence:
    """Everything that proposals and the gate may use. Raises what embedding the questions raises."""
    rows = [one for one in reversed(await list_feedback(corpus.database, limit=None)) if one.state != "rejected"]
    ids = [one.id for one in rows]
    async with corpus.database.snapshot() as connection:
        exposures = await _exposures(connection, sorted({one.answer_id for one in rows}))
        cited = await _spans(connection, _CITED, ids)
        suggested = await _spans(connection, _SUGGESTED, ids)
    considered = await _considered(corpus, rows, exposures)
    goldens: dict[str, list[_Span]] = {}
    for one in rows:
        if one.state == "accepted" and one.id in suggested:
            goldens.setdefault(one.question, []).extend(suggested[one.id])
    ratings: list[Rating] = []
    right: list[list[bool]] = []  # of each rating's values, whether they agree with the goldens of their question
    for one in rows:
        if one.answer_id not in considered:
            continue
        passages = exposures[one.answer_id]
        values = _values(one, passages, cited.get(one.id, []), suggested.get(one.id, []))
        valued = tuple(Valued(considered[one.answer_id], place, value) for place, value in values.items())
        claim = Claim(one.actor, one.created_at.astimezone(UTC).date(), one.weight)
        ratings.append(Rating(one.id, one.answer_id, claim, valued))
        spans = goldens.get(one.question, [])
        right.append(
            [any(span.is_held_by(passages[place]) for span in spans) == (value > 0) for place, value in values.items()]
            if spans
            else []
        )
    usable = [one for one in ratings if one.valued]
    return Evidence(ratings, _agreements(ratings, right), len(rows) - len(usable))


async def _considered(
    corpus: Corpus, rows: Sequence[Feedback], exposures: Mapping[int, Sequence[_Exposure]]
) -> dict[int, Considered]:
    """The passages of every answer that a rating with a weight is about, with their signals."""
    considered: dict[int, Considered] = {}
    signals: dict[tuple[str, tuple[int, ...]], NDArray[np.float64]] = {}
    for one in rows:
        if one.weight > 0 and one.answer_id in exposures and one.answer_id not in considered:
            passages = exposures[one.answer_id]
            key = one.question, tuple(passage.chunk_id for passage in passages)
            if key not in signals:  # questions are asked again
                signals[key] = await signals_of_passages(corpus, *key)
            considered[one.answer_id] = Considered(signals[key], np.array([passage.propensity for passage in passages]))
    return considered


def _agreements(ratings: Sequence[Rating], right: Sequence[Sequence[bool]]) -> dict[str, Agreement]:
    """How ratings that count agree with goldens; `right` runs parallel to `ratings`."""
    agreements: dict[str, Agreement] = {}
    useful = [(one, verdicts) for one, verdicts in zip(ratings, right, strict=True) if one.valued]
    for (one, verdicts), counts in zip(useful, counted([one.claim for one, _ in useful]), strict=True):
        if counts and verdicts:
            earlier = agreements.get(one.claim.actor, Agreement())
            agreed = sum(verdicts)
            agreements[one.claim.actor] = Agreement(earlier.agreed + agreed, earlier.disagreed + len(verdicts) - agreed)
    return agreements


def _values(
    one: Feedback, passages: Sequence[_Exposure], cited: Sequence[_Span], suggested: Sequence[_Span]
) -> dict[int, float]:
    """Values in [-1, 1] by place of the passage. A suggestion values the passage that holds it, and says nothing of the
    others; praise and blame go to the passages that are quoted, all of them where none is named. A wrong route is about
    no passage."""
    if one.kind in ("missing", "better_source"):
        return {
            place: abs(one.value) / 2
            for place, passage in enumerate(passages)
            if any(span.is_held_by(passage) for span in suggested)
        }
    if one.kind == "wrong_route":
        return {}
    named = one.sentence is not None or one.citation is not None
    return {
        place: one.value / 2
        for place, passage in enumerate(passages)
        if (any(span.is_held_by(passage) for span in cited) if named else passage.shown)
    }


async def _exposures(connection: AsyncConnection, answers: Sequence[int]) -> dict[int, list[_Exposure]]:
    exposures: dict[int, list[_Exposure]] = {}
    async with connection.cursor(row_factory=class_row(_Exposure)) as cursor:
        await cursor.execute(_EXPOSURES, (list(answers),))
        for row in await cursor.fetchall():
            exposures.setdefault(row.answer_id, []).append(row)
    return exposures


async def _spans(connection: AsyncConnection, query: str, ids: Sequence[int]) -> Mapping[int, list[_Span]]:
    spans: dict[int, list[_Span]] = {}
    cursor = await connection.execute(query.encode(), (list(ids),))
    for feedback_id, *span in await cursor.fetchall():
        spans.setdefault(feedback_id, []).append(_Span(*span))
    return spans


async def signals_of_passages(corpus: Corpus, question: str, chunk_ids: Sequence[int]) -> NDArray[np.float64]:
    """The signals of these parents, shape (n, 6), as a search of everything stored for this question scores them."""
    searcher = Searcher(corpus.database, corpus.indexer.embedder, await corpus.indexer.model_id(), corpus.settings)
    vector = (await corpus.indexer.embedder.embed([question], "query"))[0]
    async with corpus.database.snapshot() as connection:
        scope = await source_scope(connection, None)
        context = searcher.context(question, vector, scope, await scope_size(connection, scope))
        lexical = await lexical_hits(connection, context, also=chunk_ids)
        children = await load_children(connection, context.model_id, vector, sorted(chunk_ids))
        rows = {row.id: row for row in await load_parents(connection, chunk_ids)}
    parents = [rows[chunk_id] for chunk_id in chunk_ids]
    return signals_of_parents(question, parents, children, lexical)
