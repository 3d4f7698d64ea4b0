"""Features of a unit for a question: what says that it answers. All of them lie in [0, 1], or nearly so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from webrag_core.answering.units import Unit
from webrag_core.answering.wanted.thing import Thing
from webrag_core.indexing.passages import Passage, extract_passages
from webrag_core.indexing.terms import terms
from webrag_core.language.detection import detected
from webrag_core.providers.static_model import word_rarities
from webrag_core.retrieval.scoring import PassageScores, QueryProfile, profile, score_passages

Array = NDArray[np.float64]

FEATURES = (
    "coverage",
    "coverage with headings",
    "token match",
    "token match with headings",
    "proximity",
    "relevance",
    "rank",
    "matched",
    "long",
    "code",
)
"""Names of the columns of `unit_features`."""

_LEAST = 0.5  # weight of a word without one: symbols, other languages


def features_about(query: str, units: Sequence[Unit], thing: Thing) -> Array:
    """`unit_features`; of a unit about the thing, its own words are compared with the aspect alone: that it says the
    name again makes it no better."""
    features = unit_features(query, units)
    about = np.array(thing.about, dtype=np.bool_)
    if thing.aspect != query and about.any():
        aspect_words = _own_words(*_profile(thing.aspect), units)
        for name, values in (
            ("coverage", aspect_words.coverage),
            ("token match", aspect_words.token_match),
            ("proximity", aspect_words.proximity),
        ):
            features[about, FEATURES.index(name)] = values[about]
    return features


def unit_features(query: str, units: Sequence[Unit]) -> Array:
    """Shape (units, features)."""
    if not units:
        return np.zeros((0, len(FEATURES)))
    weighted, language = _profile(query)
    plain = _own_words(weighted, language, units)
    headed = score_passages(weighted, [_headed(unit, language) for unit in units])
    columns = [
        plain.coverage,
        headed.coverage,
        plain.token_match,
        headed.token_match,
        plain.proximity,
        [unit.relevance for unit in units],
        [1 / (1 + unit.rank) for unit in units],
        [_matched(unit) for unit in units],
        [min(1.0, math.log1p(len(unit.text)) / 7) for unit in units],
        [unit.kind == "code" for unit in units],
    ]
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


def _profile(query: str) -> tuple[QueryProfile, str | None]:
    """What a query is compared by, and its language."""
    language = detected(query)
    return profile(query, word_weights(query, language)), language


def _own_words(query: QueryProfile, language: str | None, units: Sequence[Unit]) -> PassageScores:
    """How the words of the units themselves fit a query."""
    return score_passages(query, [_passage(unit.text, language) for unit in units])


@lru_cache(maxsize=8192)  # a question has a thousand units, often those of the question before: at most 10 MB
def _passage(text: str, language: str | None) -> Passage:
    return extract_passages([text], language)[0]


def _headed(unit: Unit, language: str | None) -> Passage:
    """The words of the unit and of its heading."""
    heading, text = _passage(unit.heading, language), _passage(unit.text, language)
    return Passage(np.concatenate([heading.terms, text.terms]), np.union1d(heading.tokens, text.tokens))


def word_weights(text: str, language: str | None = None) -> dict[str, float]:
    """The terms of a text in their order, each with its weight, above 0: rare ones weigh more."""
    words = list(dict.fromkeys(terms(text, language)))
    return {word: rarity + _LEAST for word, rarity in zip(words, word_rarities(words), strict=True)}


def _matched(unit: Unit) -> float:
    """Share of the best child's score that the child around the unit has; 0 outside all matches."""
    return max(
        (match.share for match in unit.chunk.matches if match.start <= unit.start and unit.end <= match.end),
        default=0.0,
    )
