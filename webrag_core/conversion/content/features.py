"""Features of the text units of a page: what they look like, where they stand, how the page's author named their boxes.

All sizes are bytes of UTF-8. Prose is a unit of at least 60 bytes with punctuation that is no link for the most part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from lxml.html import HtmlElement
from numpy.typing import NDArray

from webrag_core.conversion.content.units import HEADINGS, TextUnit

WORD_KINDS = ("near", "far", "text", "heading")
"""Words of class names and ids up to two elements above a unit, of those further up, of a short unit itself, and of
the heading before it."""

Lexicon = Mapping[str, Mapping[str, float]]
"""For each of WORD_KINDS the log odds that a unit with a word is content."""

Stats = tuple[float, float, float, int]
"""Least, most and sum of log odds, and how many words have some."""


def _numbered(names: str) -> dict[str, int]:
    return {name: number for number, name in enumerate(names.split())}


NO_WORDS: Stats = (0.0, 0.0, 0.0, 0)
SHORT = 12  # words
_MIN_PROSE = 60
_SENTENCE_MARK = re.compile(r"[.,;:!?…。、，；：！？।۔]")
_ENDS = re.compile(r"[.!?…。！？।۔:]['\"”’»)\]]*$")
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}[./:]\d{1,2}\b")
_SEPARATOR = re.compile(r"[|·•»›]")
_WORD = re.compile(r"[^\W\d_]+")
_NAME_JOINT = re.compile(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]+")
_TAGS = _numbered(
    "p h1 h2 h3 h4 h5 h6 li td th div span a dt dd pre blockquote figcaption section article label address caption"
    " header footer aside main form ul ol table body"
)
_ANCESTORS = _numbered("ul ol table article main section aside footer header form figure blockquote a dl")
_FAR = 30  # levels: an ancestor of this tag is absent
_NO_ANCESTORS = (-_FAR,) * len(_ANCESTORS)
_LEVELS = (1, 2, 3, 5)
_REPEATED = 3  # levels


@dataclass(slots=True)
class _Box:
    """An element with text in it: where it stands, how it is named, and the sums of all units within."""

    element: HtmlElement
    parent: _Box | None
    names: str
    depth: int
    tag_depths: tuple[int, ...]
    """Depth of the nearest element, itself included, with each tag of _ANCESTORS; -_FAR where there is none."""
    near: Stats
    far: Stats
    """Names up to the root."""
    size: int = 0
    linked: int = 0
    prose: int = 0
    units: int = 0
    container: tuple[float, ...] = ()
    repetition: tuple[float, float] = (0.0, 0.0)


class PageFeatures:
    """The features of one page's units. `lexicon` comes from the model; the fit passes one of its own.

    The names of `misnamed` elements do not count.
    """

    def __init__(
        self,
        root: HtmlElement,
        units: Sequence[TextUnit],
        lexicon: Lexicon,
        *,
        is_declared_article: bool,
        misnamed: Set[HtmlElement] = frozenset(),
    ) -> None:
        self._misnamed = misnamed
        self.root = root
        self._units = units
        self._lexicon = lexicon
        self._declared = is_declared_article
        self._marks = [len(_SENTENCE_MARK.findall(unit.text)) for unit in units]
        self._prose = [
            unit.size - unit.linked
            if unit.size - unit.linked >= _MIN_PROSE and marks and unit.linked < unit.size / 2
            else 0
            for unit, marks in zip(units, self._marks, strict=True)
        ]
        self._total = sum(unit.size for unit in units) or 1
        self._all_prose = sum(self._prose) or 1
        self._boxes: dict[HtmlElement, _Box] = {}
        self._odds_of_names: dict[str, tuple[Stats, Stats]] = {}
        self._add_up()
        self._of_block: dict[HtmlElement, list[float]] = {}

    def rows(self) -> NDArray[np.float32]:
        """Return the features, shape (units, features). Raises ValueError for no units."""
        if not self._units:
            raise ValueError("a page without text has no features")
        looks = np.array([self._row(i) for i in range(len(self._units))], dtype=np.float64)
        unit_features: NDArray[np.float64] = np.column_stack([looks, self._places()])
        return np.column_stack([unit_features, self._neighbours(unit_features)]).astype(np.float32)

    def words(self) -> list[dict[str, set[str]]]:
        """Return for each unit the words of each kind that it shows: what a lexicon is made of."""
        rows = []
        heading: set[str] = set()
        for unit in self._units:
            chain = list(_up(self._boxes[unit.block]))
            words = set(_WORD.findall(unit.text.lower())[: SHORT + 1])
            if _heading_level(unit):
                heading = set(heading_words(unit))
            rows.append(
                {
                    "near": {word for box in chain[:3] for word in words_of_names(box.names)},
                    "far": {word for box in chain[3:] for word in words_of_names(box.names)},
                    "text": words if len(words) <= SHORT else set(),
                    "heading": heading,
                }
            )
        return rows

    def _add_up(self) -> None:
        for unit, prose in zip(self._units, self._prose, strict=True):
            box = self._box(unit.block)
            box.size += unit.size
            box.linked += unit.linked
            box.prose += prose
            box.units += 1
        boxes = list(self._boxes.values())
        for box in reversed(boxes):  # children come after their parents
            if (parent := box.parent) is not None:
                parent.size += box.size
                parent.linked += box.linked
                parent.prose += box.prose
                parent.units += box.units
        alike: dict[tuple[HtmlElement, str, str], list[_Box]] = {}
        for box in boxes:
            box.container = (box.size, box.size / self._total, box.linked / box.size, box.prose / self._all_prose,
                             box.units)  # fmt: skip
            if box.parent is not None:
                names = box.element.get("class") or ""
                alike.setdefault((box.parent.element, box.element.tag, names.partition(" ")[0]), []).append(box)
        for group in alike.values():
            share = sum(box.size for box in group) / self._total
            for box in group:
                box.repetition = (len(group), share)

    def _box(self, element: HtmlElement) -> _Box:
        box = self._boxes.get(element)
        if box is not None:
            return box
        get = element.get
        names = (
            ""
            if element in self._misnamed
            else f"{get('class') or ''} {get('id') or ''} {get('role') or ''} {get('itemprop') or ''}"
        )
        odds = self._odds_of_names.get(names)
        if odds is None:
            words = words_of_names(names)
            odds = self._odds_of_names[names] = (self.word_stats("near", words), self.word_stats("far", words))
        if element is self.root:
            parent, depth, depths, far = None, 0, _NO_ANCESTORS, odds[1]
        else:
            parent = self._box(element.getparent())
            depth, depths, far = parent.depth + 1, parent.tag_depths, _merge(parent.far, odds[1])
        if (place := _ANCESTORS.get(element.tag)) is not None:
            depths = (*depths[:place], depth, *depths[place + 1 :])
        box = self._boxes[element] = _Box(element, parent, names, depth, depths, odds[0], far)
        return box

    def _row(self, i: int) -> list[float]:
        unit, marks = self._units[i], self._marks[i]
        text = unit.text
        length = len(text)
        words = _WORD.findall(text.lower())
        count = len(words)
        stats = self.word_stats("text", words) if count <= SHORT else NO_WORDS
        return [
            unit.size,
            count,
            unit.linked / unit.size,
            unit.links,
            marks,
            _ENDS.search(text) is not None,
            sum(map(str.isdigit, text)) / length if not text.isalpha() else 0.0,
            sum(map(str.isupper, text)) / length if not text.islower() else 0.0,
            _DATE.search(text) is not None,
            len(_SEPARATOR.findall(text)),
            "©" in text,
            sum(map(len, words)) / max(1, count),
            "$" in text or "€" in text or "£" in text or "¥" in text,
            self._prose[i],
            *_summary(stats),
            *self._block_row(unit.block),
        ]

    def _block_row(self, block: HtmlElement) -> list[float]:
        row = self._of_block.get(block)
        if row is None:
            row = self._of_block[block] = self._describe(block)
        return row

    def _describe(self, block: HtmlElement) -> list[float]:
        chain = list(_up(self._boxes[block]))
        box, top = chain[0], len(chain) - 1
        row: list[float] = [_TAGS.get(block.tag, -1), box.depth]
        row += [min(box.depth - depth, _FAR) for depth in box.tag_depths]
        near = box.near
        for each in chain[1:3]:
            near = _merge(near, each.near)
        far = chain[3].far if top >= 3 else NO_WORDS
        row += (*_summary(near), *_summary(far))
        for level in (0, *_LEVELS):
            row += chain[min(level, top)].container
        half = next((level for level, each in enumerate(chain) if each.prose >= self._all_prose / 2), 0)
        row += (half, *chain[half].container)
        for level in range(_REPEATED):
            row += chain[min(level, top)].repetition
        return row

    def _places(self) -> NDArray[np.float64]:
        """What depends on the order of units: their place, the heading before them, and the page as a whole."""
        n = len(self._units)
        sizes = np.array([unit.size for unit in self._units], dtype=float)
        prose = np.array(self._prose, dtype=float)
        order = np.arange(n)
        (with_prose,) = prose.nonzero()
        first, last = (with_prose[0], with_prose[-1]) if len(with_prose) else (0, n - 1)
        title = next((i for i, unit in enumerate(self._units) if unit.block.tag == "h1"), None)
        page = [n, self._total, self._all_prose, self._all_prose / self._total, self._declared,
                _count(self.root, "pre"), _count(self.root, "dt")]  # fmt: skip
        before = np.concatenate([[0.0], np.cumsum(prose)])
        return np.column_stack(
            [
                order / n,
                (np.cumsum(sizes) - sizes / 2) / self._total,
                order - title if title is not None else np.full(n, -999),
                (order - first) / n,
                (order - last) / n,
                (before[order] - before[np.maximum(order - 5, 0)]) / self._all_prose,
                (before[np.minimum(order + 6, n)] - before[order + 1]) / self._all_prose,
                np.array(self._headings()),
                np.tile(np.array(page, dtype=float), (n, 1)),
            ]
        )

    def _headings(self) -> list[tuple[float, ...]]:
        """For each unit what the last heading says, its level (7: a line in bold), and how many units ago it was."""
        rows: list[tuple[float, ...]] = []
        stats, level, ago = NO_WORDS, 0, 0
        for unit in self._units:
            ago += 1
            if rank := _heading_level(unit):
                stats, level, ago = self.word_stats("heading", heading_words(unit)), rank, 0
            rows.append((*_summary(stats), level, ago))
        return rows

    def _neighbours(self, unit_features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Some features of the two units before and after each; -1 beyond the ends."""
        picked = unit_features[:, _NEIGHBOURLY]
        padded = np.pad(picked, ((2, 2), (0, 0)), constant_values=-1)
        n = len(unit_features)
        return np.column_stack([padded[2 + shift : 2 + shift + n] for shift in (-2, -1, 1, 2)])

    def word_stats(self, kind: str, words: Iterable[str]) -> Stats:
        """Return the least, the most and the sum of the words' log odds, and how many of them have some."""
        odds = self._lexicon[kind]
        values = [odds[word] for word in words if word in odds]
        return (min(values), max(values), sum(values), len(values)) if values else NO_WORDS


# size, share in links, marks, whether it ends a sentence, prose, its words, its tag, names of its boxes
_NEIGHBOURLY = (0, 2, 4, 5, 13, 16, 17, 33, 35, 38)


def heading_words(unit: TextUnit) -> list[str]:
    """Return the first eight words of a heading, lower case."""
    return _WORD.findall(unit.text.lower())[:8]


def words_of_names(names: str) -> set[str]:
    """Return the words of class names, ids and roles, lower case, of 3 to 19 letters."""
    return {word.lower() for word in _NAME_JOINT.split(names) if 2 < len(word) < 20}


def _summary(stats: Stats) -> tuple[float, float, float]:
    """Least, most and mean."""
    return stats[0], stats[1], stats[2] / max(1, stats[3])


def _merge(stats: Stats, other: Stats) -> Stats:
    if not other[3]:
        return stats
    if not stats[3]:
        return other
    return min(stats[0], other[0]), max(stats[1], other[1]), stats[2] + other[2], stats[3] + other[3]


def _up(box: _Box) -> Iterator[_Box]:
    """Yield a box and those around it, the root last."""
    each: _Box | None = box
    while each is not None:
        yield each
        each = each.parent


def _heading_level(unit: TextUnit) -> int:
    """1 to 6 for a heading, 7 for a line in bold, 0 for other units."""
    if unit.block.tag in HEADINGS:
        return int(unit.block.tag[1])
    return 7 if _is_bold_line(unit) else 0


def _is_bold_line(unit: TextUnit) -> bool:
    """Whether a short line is all bold: a heading that is not marked as one."""
    return (
        unit.size < 80
        and len(unit.inline) == 1
        and unit.inline[0].tag in ("strong", "b")
        and not (unit.inline[0].tail or "").strip()
        and not (unit.leads and (unit.block.text or "").strip())
    )


def _count(root: HtmlElement, tag: str) -> int:
    return sum(1 for _ in root.iter(tag))
