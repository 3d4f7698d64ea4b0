"""What stands below both names of a question: "the capital of Malta", "malta languages", under a page or heading with
the name of the thing and a heading that says which of its attributes follows. English, French, German."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from webrag_core.answering.units import Unit
from webrag_core.answering.wanted.values import is_keywords
from webrag_core.indexing.terms import terms
from webrag_core.late_pattern import late_pattern

_MAX_READ = 120
_NAMES_BOTH = late_pattern(
    r"(?:(?:what|who|which|where)(?:['’]s|\s+(?:is|are|was|were))|quel(?:le)?s?\s+(?:est|sont|était)|qui\s+est|où\s+est"
    r"|(?:was|wer|wo|wie|welche[rs]?)\s+(?:ist|sind|war|lautet|heißt))\s+\S.*?"
    r"(?:\s(?:of|in|for|at|de\s+la|de|du|des|pour|en|von|für|in|des|der)\s|\sd['’]|\w['’]s\s)\S+",
    re.IGNORECASE,
)
_ACTION = late_pattern(r"\w+ing\b")  # a heading of steps


def below_both_names(units: Sequence[Unit], question: str) -> NDArray[np.bool_]:
    """Which units are the first below a heading and, further above, another or a title whose words together are those
    of a question that names a thing and an attribute, shape (units,). Both have words, and share none."""
    below = np.zeros(len(units), dtype=np.bool_)
    text = question.strip()[:_MAX_READ]
    if not is_keywords(text) and _NAMES_BOTH.match(text) is None:
        return below
    of_question: dict[str | None, frozenset[str]] = {}
    for index, unit in enumerate(units):
        if index > 0 and units[index - 1].stands_with(unit):
            continue
        language = unit.chunk.language
        words = of_question.setdefault(language, _words(text, language))
        if len(words) < 2 or not unit.heading_path or _ACTION.match(unit.heading_path[-1]):
            continue
        attribute = _words(unit.heading_path[-1], language)
        thing = words - attribute
        if attribute and thing and attribute < words:
            above = (unit.chunk.title or "", *unit.heading_path[:-1])
            below[index] = any(_words(heading, language) == thing for heading in above)
    return below


def _words(text: str, language: str | None) -> frozenset[str]:
    return frozenset(terms(text, language)) - _fillers()


@lru_cache(maxsize=1)
def _fillers() -> frozenset[str]:
    """Terms of a question that name neither thing nor attribute."""
    return frozenset(
        terms("what who which where is are was of in for at the name")
        + terms("quel quelle qui où est sont le la les de du des pour en nom", "fr")
        + terms("was wer wo wie welche ist sind lautet heißt von für in der die das", "de")
    )
