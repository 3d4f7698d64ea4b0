"""How probably the first passage that is shown instead of sentences holds the answer.

A logistic regression like the confidence (`confidence.CONFIDENCE_FEATURES`), fitted on answer keys and on passages that
were labelled by reading, by `python -m evals.fitting.confidence`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webrag_core.answering import confidence
from webrag_core.answering.compose.draft import Draft
from webrag_core.answering.compose.features import Array
from webrag_core.answering.compose.highlights import Shown
from webrag_core.answering.wanted.thing import Thing

LIKELY_AT = 0.40
"""Probability from which the first passage is `likely` to hold the answer."""
_UNLIKELY = LIKELY_AT - 0.01


def of_first(passages: Sequence[Shown], draft: Draft, supports: Sequence[Array]) -> float:
    """Probability in [0, 1] that the first of the shown passages holds the answer; 0 without any. It is not likely
    where it lacks a name of the question, or the kind of value that is asked for (`within_meaning`)."""
    if not passages:
        return 0.0
    table, features = passage_features(passages[0], draft, supports)
    return within_meaning(confidence.of_passage(table, features), passages, draft)


def within_meaning(probability: float, passages: Sequence[Shown], draft: Draft) -> float:
    """The probability, lowered to unlikely where the first passage cannot hold the answer; 0 without any passage."""
    if not passages:
        return 0.0
    facts = [fact for fact in draft.facts if fact.values or fact.is_code]
    places = passages[0].units
    lacks_fact = bool(facts) and not any(fact.is_in(draft.units[place]) for fact in facts for place in places)
    if lacks_fact or all(_lacks_name(thing, places) for thing in draft.things):
        return min(probability, _UNLIKELY)
    return probability


def _lacks_name(thing: Thing, places: Sequence[int]) -> bool:
    return bool(thing.absent_names or thing.all_names.difference(*(thing.names[place] for place in places)))


def passage_features(first: Shown, draft: Draft, supports: Sequence[Array]) -> tuple[str, Array]:
    """The name of the table, and the features of a passage, shape (k,): those of the passage of the evidence that it is
    cut from."""
    unit = draft.units[first.units[0]]
    inside = [index for index, other in enumerate(draft.units) if other.chunk.chunk_id == unit.chunk.chunk_id]
    rows = [
        confidence.passage_features(float(support[inside].max()), unit, draft.units, score)
        for support, score in zip(supports, draft.scores, strict=True)
    ]
    return confidence.reader_of(draft.scores[0]), np.array(rows).max(axis=0)
