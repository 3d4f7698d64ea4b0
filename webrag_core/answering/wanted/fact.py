"""The fact that a question asks for: what a text must hold to answer it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from webrag_core.answering.units import Unit
from webrag_core.answering.wanted.definitions import term_of
from webrag_core.answering.wanted.sections import Section, section_of
from webrag_core.answering.wanted.values import Value, holds_value, values_wanted

_CODE = re.compile(
    r"\b(?:which|what) (?:\w+ ){0,2}(?:commands?|syntax|snippet|command line)\b|\bcommand (?:to|for|that)\b"
    r"|\b(?:welche[rsnm]?|mit welchem) (?:befehl|kommando)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Fact:
    """`values`: an answer holds one of these kinds. `is_code`: it holds code. Nothing is demanded without either.
    `term`: what is to be explained; a sentence that says what it is answers best, but another one may
    answer, too. So with `section`, whose list is asked for."""

    question: str = ""
    values: frozenset[Value] = frozenset()
    is_code: bool = False
    term: str = ""
    section: Section | None = None

    def is_in(self, unit: Unit) -> bool:
        """Whether a unit holds what is demanded; True when nothing is."""
        if self.is_code and unit.kind != "code" and "`" not in unit.slice((unit.start, unit.end)):
            return False
        return holds_value(unit.text, self.values, self.question)


def fact_of(question: str) -> Fact:
    """The fact that `question` asks for, as far as its grammar tells."""
    return Fact(
        question, values_wanted(question), _CODE.search(question) is not None, term_of(question), section_of(question)
    )
