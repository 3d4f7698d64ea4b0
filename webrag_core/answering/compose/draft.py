"""The first step of an answer without a chat model: units of the evidence, scored for each part of the question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from webrag_core.answering.compose.reranked import SentenceReranker
from webrag_core.answering.compose.sentence_scores import UnitScores, fitted_scores, score_units
from webrag_core.answering.compose.units import Unit, units_of
from webrag_core.retrieval.models import RankedChunk
from webrag_core.retrieval.reader import Reader

Safe = Callable[[list[Unit], str], tuple[list[Unit], Mapping[str, int]]]
"""(units, question) -> the units that may become sentences, and the number of the others by cause."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The units of the evidence, and their scores for each part of the question (the question itself without parts).
    `withheld` = the number of units that must not become sentences, by cause."""

    parts: tuple[str, ...]
    units: list[Unit]
    scores: list[UnitScores]
    warnings: list[str]
    withheld: Mapping[str, int]

    @property
    def best_of_all(self) -> list[int]:
        """Indexes of the units, the best of each part in turn."""
        turns = zip(*(score.order for score in self.scores), strict=True)
        return list(dict.fromkeys(index for turn in turns for index in turn))


async def draft_of(
    question: str,
    parts: Sequence[str],
    ranked: Sequence[RankedChunk],
    reader: Reader | None,
    *,
    reranker: SentenceReranker | None = None,
    safe: Safe = lambda units, question: (units, {}),
) -> Draft:
    """Cut the evidence into units and score them; a `reranker` orders them."""
    units, withheld = safe(units_of(ranked), question)
    own = tuple(parts) or (question,)
    fitted = {query: fitted_scores(query, units) for query in dict.fromkeys((question, *own))}
    scores = []
    for part in own:
        relevance = None if reranker is None else await reranker.relevance(part, units, fitted[part])
        scores.append(await score_units(tuple(dict.fromkeys((question, part))), fitted, units, reader, relevance))
    warnings = []
    if reader is not None and reader.failure is not None:
        warnings.append(f"composed without the reading model: {reader.failure}")
    if reranker is not None and reranker.failure is not None:
        warnings.append(f"sentences ordered without the reranker: {reranker.failure}")
    return Draft(own, units, scores, warnings, withheld)
