"""Alike tables of a page that are told apart by the lines above them: the question names one of those."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from webrag_core.answering.units import Unit
from webrag_core.indexing.terms import terms


def of_other_tables(question: str, units: Sequence[Unit], language: str | None = None) -> list[bool]:
    """For each unit whether it is a row of a table that the question does not mean: the line above another table with
    the same header has more of the question's words, and all that the line above its own has. A row whose line is not
    in its passage may belong to any."""
    wanted = set(terms(question, language))
    lines: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
    for unit in units:
        if unit.header is not None and unit.lead:
            lines[_header(unit)].setdefault(unit.lead, frozenset(wanted.intersection(terms(unit.lead, language))))
    others = {
        (header, line)
        for header, named in lines.items()
        for line, words in named.items()
        if any(words < better for better in named.values())
    }
    return [unit.header is not None and (_header(unit), unit.lead) in others for unit in units]


def _header(unit: Unit) -> str:
    return "" if unit.header is None else unit.slice(unit.header)
