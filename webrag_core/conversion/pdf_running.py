"""Running heads, feet and page numbers: lines that stand at the same place of several pages, above or below the text.

A page number goes from every page. A head or foot of words stays once, where it stands in no sentence.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from webrag_core.conversion.pdf_columns import Piece

_EDGE = 3  # lines at the top and at the bottom of a page
_NEAR = 8.0  # points
_MIN_PAGES = 3
_FEW_PAGES = 3  # of such a document two pages are enough
_MAX_CHARS = 160
_COUNTING = 0.8  # share of the pages on which a number grows with the page
_LARGER = 1.15  # than the text: a title that many slides have
_MIN_LETTERS = 4
_PAGE_WORDS = re.compile(r"[\W\d_]+|\b(?:page|of|seite|von|p|s|página|pagina|de|di|страница|стр|из|sida|av)\b")
_NUMBER = re.compile(r"\d{1,5}")
_ROMAN = re.compile(r"[ivxlc]{1,7}")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_SENTENCE_END = re.compile(r"[.!?:…。！？][\"'”’»)\]]*$")


@dataclass(frozen=True, slots=True)
class _Place:
    page: int
    piece: Piece


def without_running_lines(pages: Sequence[Sequence[Piece]]) -> list[list[Piece]]:
    """The pages without them. Linear in the number of lines."""
    usual = _usual_size(pages)
    groups: defaultdict[tuple[bool, str], list[_Place]] = defaultdict(list)
    for number, page in enumerate(pages):
        by_height = sorted(page, key=lambda piece: -piece.bottom)
        for is_top, pieces in ((True, by_height[:_EDGE]), (False, by_height[-_EDGE:])):
            for piece in pieces:
                if len(piece.text) <= _MAX_CHARS and piece.size < usual * _LARGER:
                    groups[is_top, _pattern(piece.text)].append(_Place(number, piece))
    running: set[int] = set()
    kept: list[tuple[bool, list[_Place]]] = []
    for (is_top, pattern), places in groups.items():
        height = median(place.piece.bottom for place in places)
        places = [place for place in places if abs(place.piece.bottom - height) <= _NEAR]
        count = len({place.page for place in places})
        if count < _MIN_PAGES and not (count == 2 and len(pages) <= _FEW_PAGES):
            continue
        if "#" in pattern and len({place.piece.text for place in places}) > 1 and not _counts_pages(places):
            continue
        running |= {id(place.piece) for place in places}
        if len(_PAGE_WORDS.sub("", pattern)) >= _MIN_LETTERS:
            kept.append((is_top, places))
    gone = {identity for page in pages for identity in _outermost(page, running)}
    bodies = [[piece for piece in page if id(piece) not in gone] for page in pages]
    heads, feet = defaultdict[int, list[Piece]](list), defaultdict[int, list[Piece]](list)
    for is_top, places in kept:
        known = [place for place in places if id(place.piece) in gone]
        for place in _first_outside_sentences(is_top, known, bodies):
            (heads if is_top else feet)[place.page].append(place.piece)
    return [[*heads[number], *body, *feet[number]] for number, body in enumerate(bodies)]


def _outermost(page: Sequence[Piece], running: set[int]) -> set[int]:
    """Those of the lines that stand outside of all other lines of a page; none where no other is left."""
    by_height = sorted(page, key=lambda piece: -piece.bottom)
    gone: set[int] = set()
    for pieces in (by_height, reversed(by_height)):
        for piece in pieces:
            if id(piece) not in running:
                break
            gone.add(id(piece))
    return gone if len(gone) < len(page) else set()


def goes_on(above: Sequence[Piece], below: Sequence[Piece]) -> bool:
    """Whether the last sentence of a page goes on at the top of the next."""
    if not above or not below or _SENTENCE_END.search(above[-1].text):
        return False
    first = next((character for character in below[0].text if character.isalnum()), "")
    return first.islower() and abs(above[-1].size - below[0].size) <= 0.1 * below[0].size


def _usual_size(pages: Sequence[Sequence[Piece]]) -> float:
    sizes: Counter[float] = Counter()
    for page in pages:
        for piece in page:
            sizes[round(piece.size * 2) / 2] += len(piece.text)
    return max(sizes, key=lambda size: (sizes[size], -size), default=0.0)


def _pattern(text: str) -> str:
    """A line with # for its numbers."""
    lower = " ".join(text.lower().split())
    return "#" if _ROMAN.fullmatch(lower) else _NUMBER.sub("#", lower)


def _counts_pages(places: Sequence[_Place]) -> bool:
    """Whether one of the numbers of a line grows as the pages do."""
    distances: Counter[tuple[int, int]] = Counter()
    for place in places:
        lower = place.piece.text.lower().strip()
        numbers = [_roman(lower)] if _ROMAN.fullmatch(lower) else [int(each) for each in _NUMBER.findall(lower)]
        distances.update((column, number - place.page) for column, number in enumerate(numbers))
    return max(distances.values(), default=0) >= _COUNTING * len(places)


def _roman(letters: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in letters]
    return sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))


def _first_outside_sentences(
    is_top: bool, places: Sequence[_Place], bodies: Sequence[Sequence[Piece]]
) -> Sequence[_Place]:
    """The first head whose page begins with a sentence, or the first foot whose page ends with one."""
    for place in places:
        other = place.page - 1 if is_top else place.page + 1
        if not 0 <= other < len(bodies):
            return [place]
        above, below = (bodies[other], bodies[place.page]) if is_top else (bodies[place.page], bodies[other])
        if not goes_on(above, below):
            return [place]
    return []
