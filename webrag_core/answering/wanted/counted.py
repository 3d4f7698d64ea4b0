"""What a question counts: "how many eggs are in carbonara" wants a number of eggs. English and French."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from webrag_core.answering.units import Unit
from webrag_core.indexing.terms import terms
from webrag_core.late_pattern import late_pattern

_MAX_READ = 200
_COUNTED = late_pattern(
    r"\bhow\s+many\s+(?P<things>(?:[\w-]+\s+){0,2}?[\w-]+?)(?=\s+(?:do|does|did|are|is|was|were|can|could|should|must|may"
    r"|will|would|have|has|had|in|of|for|on|at|to|per|a|an|the|i|you|we|there)\b|\W*$)"
    r"|\bcombien\s+d(?:e\s+|['’])(?P<choses>[\w-]+)",
    re.IGNORECASE,
)
_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve [a-z]+teen twenty [a-z]{3,5}ty dozen hundred"
    " thousand million une? deux trois quatre cinq six sept huit neuf dix onze douze vingt trente cent mille"
)
_NUMBER = rf"(?:\d[\d.,/\u202f]*|(?:[a-z]{{3,7}}ty-)?(?:{'|'.join(_WORDS.split())}))"


@lru_cache(maxsize=64)
def counted_in(question: str) -> str:
    """The word for what `question` wants the number of; "" where it counts nothing, people or time."""
    match = _COUNTED.search(question[:_MAX_READ])
    phrase = "" if match is None else match["things"] or match["choses"]
    return "" if set(terms(phrase)) & _no_things() or not terms(phrase) else phrase.split()[-1]


def counting(units: Sequence[Unit], question: str) -> NDArray[np.bool_]:
    """Which units may say the number of what `question` counts, shape (units,): of pages on which any says a number
    right before or behind it, those alone. All where it counts nothing."""
    word = counted_in(question)
    if not word:
        return np.ones(len(units), dtype=np.bool_)
    name = re.escape(re.sub(r"(?:ies|es|s|y)$", "", word) if len(word) > 3 else word)
    pattern = re.compile(
        rf"(?<![\w-]){_NUMBER}\s(?:[^\W\d]+\s){{0,2}}{name}|\b{name}\w{{0,3}}\W{{1,3}}{_NUMBER}\b", re.IGNORECASE
    )
    says = [pattern.search(unit.text) is not None for unit in units]
    pages = {unit.chunk.version_id for unit, counts in zip(units, says, strict=True) if counts}
    return np.array(
        [counts or unit.chunk.version_id not in pages for unit, counts in zip(units, says, strict=True)], dtype=np.bool_
    )


def names_counted(units: Sequence[Unit], question: str) -> bool:
    """Whether units, or what they stand under, name what `question` counts; True where it counts nothing."""
    word = counted_in(question)
    return not word or any(
        set(terms(word, unit.chunk.language)) <= set(terms(f"{unit.heading} {unit.text}", unit.chunk.language))
        for unit in units
    )


@lru_cache(maxsize=1)
def _no_things() -> frozenset[str]:
    """Terms in whose place pages say servings, visitors, months."""
    return frozenset(
        terms("people persons person users guests times time more others years months weeks days hours minutes seconds")
        + terms("personnes fois temps ans années mois semaines jours heures minutes", "fr")
    )
