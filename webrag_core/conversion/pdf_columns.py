"""Reading order of a page with columns, out of the places of its pieces of lines.

Many programs write a page row by row, across its columns. A gutter is a place that few pieces cross, with pieces like
lines of text on both sides; what crosses it (a title, a wide picture's caption) separates bands that are read one after
the other, each column by column. A table has gutters, too, but its cells are not like lines of text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean, median

_MIN_SIDE = 4  # pieces on each side of a gutter
_MIN_SHARE = 0.2
_MOST_CROSSING = 0.35
_MIN_GUTTER = 6  # points
_MIN_CHARS = 18  # of a piece, on average: cells of tables are shorter
_MIN_FILLED = 0.3  # of the width of its side, for the median piece; it may hold two columns
_MIN_OVERLAP = 0.4  # of the height of the shorter side
_MIN_SWITCHES = 6  # from side to side, from which on a page is written across its columns
_MAX_DEPTH = 4


@dataclass(slots=True)
class Piece:
    """A line of text, or a part of one in one column. Places are in points, from the left and the bottom. `cells` are
    its parts between gaps, where it has some."""

    text: str
    size: float
    bottom: float
    left: float
    right: float
    cells: tuple[Piece, ...] = ()


def reading_order(pieces: Sequence[Piece]) -> list[Piece] | None:
    """The pieces of a page in reading order; None where they have no columns, or stand in order already."""
    gutter = _gutter(pieces)
    if gutter is None:
        return None
    sides = [piece.left >= gutter for piece in pieces if not piece.left < gutter < piece.right]
    if sum(a != b for a, b in pairwise(sides)) < _MIN_SWITCHES:
        return None
    return _ordered(pieces, 0)


def _ordered(pieces: Sequence[Piece], depth: int) -> list[Piece]:
    gutter = _gutter(pieces) if depth < _MAX_DEPTH else None
    if gutter is None:
        return list(pieces)
    ordered: list[Piece] = []
    sides: tuple[list[Piece], list[Piece]] = ([], [])
    for piece in sorted(pieces, key=lambda piece: -piece.bottom):
        if piece.left < gutter < piece.right:
            for side in sides:
                ordered += _ordered(side, depth + 1)
                side.clear()
            ordered.append(piece)
        else:
            sides[piece.left >= gutter].append(piece)
    for side in sides:
        ordered += _ordered(side, depth + 1)
    return ordered


def _gutter(pieces: Sequence[Piece]) -> float | None:
    """The middle of the widest place that the fewest pieces cross; None where there is none between columns."""
    if len(pieces) < 2 * _MIN_SIDE:
        return None
    first, last = int(min(piece.left for piece in pieces)), int(max(piece.right for piece in pieces)) + 1
    if not 0 < last - first < 20_000:
        return None
    starts, ends = [0] * (last - first + 2), [0] * (last - first + 2)
    for piece in pieces:
        starts[max(0, int(piece.left) - first)] += 1
        ends[min(last - first, max(0, int(piece.right + 0.999) - first))] += 1
    least = max(_MIN_SIDE, _MIN_SHARE * len(pieces))
    best: tuple[int, int, int] | None = None  # pieces that cross, width below zero, place
    begun, done, run = 0, 0, 0
    previous = -1
    for place in range(last - first + 1):
        done += ends[place]
        crossing = begun - done  # those that begin left of here and end right of it
        fits = done >= least and len(pieces) - begun >= least and crossing <= _MOST_CROSSING * len(pieces)
        run = run + 1 if fits and crossing == previous else int(fits)
        previous = crossing if fits else -1
        if run >= _MIN_GUTTER and (best is None or (crossing, -run) < best[:2]):
            best = (crossing, -run, place)
        begun += starts[place]
    if best is None:
        return None
    gutter = first + best[2] + best[1] / 2
    return gutter if _are_columns(pieces, gutter) else None


def _are_columns(pieces: Sequence[Piece], gutter: float) -> bool:
    """Whether both sides of a gutter hold lines of text beside each other."""
    sides = [[p for p in pieces if p.right <= gutter], [p for p in pieces if p.left >= gutter]]
    for side in sides:
        if len(side) < _MIN_SIDE or mean(len(piece.text) for piece in side) < _MIN_CHARS:
            return False
        width = max(piece.right for piece in side) - min(piece.left for piece in side)
        if median(piece.right - piece.left for piece in side) < _MIN_FILLED * width:
            return False
    bottoms = [(min(p.bottom for p in side), max(p.bottom for p in side)) for side in sides]
    common = min(top for _, top in bottoms) - max(bottom for bottom, _ in bottoms)
    return common >= _MIN_OVERLAP * min(top - bottom for bottom, top in bottoms)
