"""Dates that a text states about itself: in force since, valid until, last updated. Pure, without a model.

A statement is a line of its own that begins with a phrase of `validity_phrases` and goes on with a day and no more. It
counts for the whole text only near the beginning (below the title) or, for when the text was published, at the end;
further down it speaks of a section. Texts that state two days of one kind there state none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from webrag_core.acquisition.written_dates import Order, WrittenDate, date_at
from webrag_core.corpus.validity_phrases import BEFORE_DATE, PHRASES, REST, UNTIL, Phrase, ValidityKind

READER = "dates-1"
"""Names this reader: texts read by another one are read again."""
ValidityBasis = Literal["text", "metadata", "history", "undated"]

_HEAD_LINES = 15  # lines with words, from the beginning of the text
_FOOT_LINES = 6
_LONGEST_LINE = 300
_DAY = timedelta(days=1)
_NO_END = 9000  # a year from which on an end stands for none


@dataclass(frozen=True, slots=True)
class Statement:
    """A time that a text states: from `start` (included) to `end` (excluded), None where no bound is stated.

    `char_start`, `char_end` say where in the text; None for statements of metadata and of histories.
    """

    kind: ValidityKind
    start: date | None
    end: date | None
    basis: ValidityBasis = "text"
    char_start: int | None = None
    char_end: int | None = None


_FENCE = re.compile(r"[ \t]*(```|~~~)")


def read_statements(markdown: str) -> list[Statement]:
    """The statements of a text about itself, with their spans. Looks at its first and last lines only."""
    head, foot = _lines(markdown)
    results: dict[ValidityKind, list[Statement]] = {}
    for start, line in head:
        for statement in _stated(line, start):
            results.setdefault(statement.kind, []).append(statement)
    if "published" not in results:
        for start, line in foot:
            results.setdefault("published", []).extend(
                statement for statement in _stated(line, start) if statement.kind == "published"
            )
    return [item for statements in results.values() for item in _agreed(statements)]


def _lines(markdown: str) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """(position, line) of the first and of the last lines that have words, without code and quotations."""
    lines: list[tuple[int, str]] = []
    position, fenced = 0, False
    for line in markdown.split("\n"):
        start, position = position, position + len(line) + 1
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and len(line) <= _LONGEST_LINE and not line.lstrip().startswith(">") and line.strip(" \t|-*_"):
            lines.append((start, line))
    return lines[:_HEAD_LINES], lines[max(_HEAD_LINES, len(lines) - _FOOT_LINES) :]


def _stated(line: str, position: int) -> Iterator[Statement]:
    """What one line states: at most one time."""
    if not any(character.isdigit() for character in line):
        return
    for phrase in PHRASES:
        match = phrase.pattern.match(line)
        first = None if match is None else _date_after(line, match.end(), phrase.order)
        if match is None or first is None:
            continue
        last = _last(line, first, phrase)
        end_of = last or first
        if not REST.fullmatch(line, end_of.end):
            continue
        start, end = _bounds(phrase, first, last)
        if start is None or end is None or start < end:
            begin = position + len(line) - len(line.lstrip(" \t#-*+|_(["))
            yield Statement(phrase.kind, start, end, "text", begin, position + end_of.end)
        return


def _date_after(line: str, position: int, order: Order) -> WrittenDate | None:
    gap = BEFORE_DATE.match(line, position)
    assert gap is not None  # it may be empty
    return date_at(line, gap.end(), order)


def _last(line: str, first: WrittenDate, phrase: Phrase) -> WrittenDate | None:
    until = UNTIL.match(line, first.end)
    return date_at(line, until.end(), phrase.order) if until is not None and phrase.role == "from" else None


def _bounds(phrase: Phrase, first: WrittenDate, last: WrittenDate | None) -> tuple[date | None, date | None]:
    if phrase.role == "until":
        return None, after(first.day)
    if phrase.role == "ended":
        return None, first.day
    return first.day, None if last is None else after(last.day)


def after(day: date) -> date | None:
    """The day after; None for a day so far ahead that it stands for no end."""
    return None if day.year >= _NO_END else day + _DAY


def _agreed(statements: Sequence[Statement]) -> list[Statement]:
    """One statement of a kind: a beginning and an end that stand apart are one time; two beginnings are none."""
    if not statements:
        return []
    starts = {statement.start for statement in statements if statement.start is not None}
    ends = {statement.end for statement in statements if statement.end is not None}
    if len(starts) > 1 or len(ends) > 1:
        return []
    start, end = next(iter(starts), None), next(iter(ends), None)
    if start is not None and end is not None and start >= end:
        return []
    first = next(statement for statement in statements if start is None or statement.start == start)
    return [Statement(first.kind, start, end, "text", first.char_start, first.char_end)]
