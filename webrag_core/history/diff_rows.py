"""The rows of a comparison of two versions, as every page that shows one has them: side by side, moves joined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import dedent

from markupsafe import Markup, escape

from webrag_core.history.compare import PageComparison
from webrag_core.history.diff import BlockChange, TextSpan
from webrag_core.page_text import one_line, visible

_UNCHANGED_SHOWN = 1  # blocks of an unchanged run that stay beside a change
_LONG_RUN = 3


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One row: both sides as safe HTML. `kind` "away" marks the place that a block left; `joined` numbers moves."""

    kind: str
    block: str
    left: Markup
    right: Markup
    facts: tuple[str, ...] = ()
    joined: int | None = None


@dataclass(frozen=True, slots=True)
class DiffRun:
    """Rows under one heading path. `folded` = unchanged, and shown on demand."""

    headings: tuple[str, ...]
    rows: tuple[DiffRow, ...]
    folded: bool


def diff_runs(comparison: PageComparison) -> list[DiffRun]:
    """Rows by heading; what did not change is folded, but for its neighbours. All text of pages is escaped, without
    signs that cannot be seen."""
    return list(_runs(list(_rows(comparison))))


def _rows(comparison: PageComparison) -> Iterator[tuple[tuple[str, ...], DiffRow]]:
    before, after = comparison.before.text, comparison.after.text
    moves = [change for change in comparison.diff.blocks if change.kind == "moved"]
    numbers = {_start(change.before): number for number, change in enumerate(moves, start=1)}
    leaving = sorted(numbers)
    for change in comparison.diff.blocks:
        path = tuple(change.heading_path)
        if change.kind != "moved" and change.before is not None:
            while leaving and leaving[0] < change.before.start:
                yield path, _away(before, moves[numbers[leaving[0]] - 1], numbers[leaving.pop(0)])
        left, right = _text(before, change.before), _text(after, change.after)
        if change.kind == "edited":
            left, right = _words(change, "added"), _words(change, "removed")
        joined = numbers[_start(change.before)] if change.kind == "moved" else None
        yield path, DiffRow(change.kind, change.block, left, right, tuple(change.facts_changed), joined)
    for start in leaving:
        change = moves[numbers[start] - 1]
        yield tuple(change.heading_path), _away(before, change, numbers[start])


def _away(before: str, change: BlockChange, number: int) -> DiffRow:
    return DiffRow("away", change.block, _text(before, change.before), Markup(), (), number)


def _start(span: TextSpan | None) -> int:
    return -1 if span is None else span.start


def _text(text: str, span: TextSpan | None) -> Markup:
    return Markup() if span is None else escape(_shown(dedent(text[span.start : span.end])))


def _words(change: BlockChange, without: str) -> Markup:
    tags = {"added": "ins", "removed": "del"}
    parts = []
    for word in change.words:
        if word.op == without:
            continue
        tag = tags.get(word.op)
        shown = escape(_shown(word.text))
        parts.append(shown if tag is None else Markup("<{0}>{1}</{0}>").format(Markup(tag), shown))
    return Markup(Markup().join(parts).lstrip())


def _shown(text: str) -> str:
    return "\n".join(visible(line) for line in text.split("\n"))


def _runs(rows: list[tuple[tuple[str, ...], DiffRow]]) -> Iterator[DiffRun]:
    """Rows by heading; what did not change is folded, but for its neighbours."""
    keep = {
        near
        for place, (_, row) in enumerate(rows)
        if row.kind != "same"
        for near in range(place - _UNCHANGED_SHOWN, place + _UNCHANGED_SHOWN + 1)
    }
    current: list[DiffRow] = []
    state: tuple[tuple[str, ...], bool] | None = None
    for place, (path, row) in enumerate(rows):
        folded = place not in keep
        mine = (path, folded) if not folded else ((), True)
        if state is not None and mine != state:
            yield from _closed(state, current)
            current = []
        state = mine
        current.append(row)
    if state is not None:
        yield from _closed(state, current)


def _closed(state: tuple[tuple[str, ...], bool], rows: list[DiffRow]) -> Iterator[DiffRun]:
    headings, folded = state
    yield DiffRun(tuple(map(one_line, headings)), tuple(rows), folded and len(rows) >= _LONG_RUN)
