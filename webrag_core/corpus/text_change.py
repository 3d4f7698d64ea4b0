"""How much of a stored text a new one keeps, and whether two texts are nearly the same. Pure."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from webrag_core.corpus.replacement import shrinks_drastically
from webrag_core.language.word_count import word_count

_LEAST_KEPT = 0.5
SKETCH_WORDS = 48
"""Words of a sketch. Texts with fewer different words are compared word by word."""
_ALIKE = 0.75
_LOOKED_UP = 8  # digests of a sketch by which groups are found, and groups for each of them

_TARGET = re.compile(r"\]\([^()\s]*\)")
_HEADING = re.compile(r"^#{1,6}\s+(.+)$", re.MULTILINE)
_WORD = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|[^\W\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]+")

Sketch = tuple[int, ...]
"""Digests of the words of a text, signed, of 64 bits: the smallest `SKETCH_WORDS`, in order."""


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page says, with its title."""

    markdown: str
    title: str | None


@dataclass(frozen=True, slots=True)
class TextChange:
    """A stored text and the one that would replace it.

    `kept` is the share of pairs of neighbouring words that stay, 0 to 1, `kept_words` that of single words.
    `comparable`: one extractor made both texts, of one address. Where it is not, nothing counts as a loss.
    """

    old_words: int
    new_words: int
    kept: float
    kept_words: float
    keeps_heading: bool
    keeps_title: bool
    comparable: bool
    old_sketch: Sketch
    new_sketch: Sketch

    @property
    def replaces(self) -> bool:
        """True when less than half of the stored text stays. Only such a change can be a loss."""
        return self.kept < _LEAST_KEPT

    @property
    def loses(self) -> bool:
        """True when the page lost more than half of its words."""
        return self.comparable and 2 * self.new_words < self.old_words

    @property
    def empties(self) -> bool:
        """True when next to nothing is left."""
        return self.comparable and shrinks_drastically(self.old_words, self.new_words)

    @property
    def rewrites(self) -> bool:
        """True when neither title nor any heading stays, and less than half of the words."""
        kept = self.keeps_title or self.keeps_heading
        return self.comparable and not kept and self.kept_words < _LEAST_KEPT


def change_of(old: PageText, new: PageText, url: str, *, comparable: bool) -> TextChange:
    """Compare the stored text of the page at `url` with the new one. Linear in both."""
    old_words, new_words = _words(old.markdown), _words(new.markdown)
    return TextChange(
        old_words=word_count(old.markdown),
        new_words=word_count(new.markdown),
        kept=_share(list(pairwise(old_words)), list(pairwise(new_words))),
        kept_words=_share(old_words, new_words),
        keeps_heading=not _headings(old).isdisjoint(_headings(new)),
        keeps_title=_title(old) == _title(new),
        comparable=comparable,
        old_sketch=sketch_of(old.markdown, url),
        new_sketch=sketch_of(new.markdown, url),
    )


def sketch_of(markdown: str, url: str) -> Sketch:
    """The sketch of a text, without numbers and the words of its address: notices name both."""
    words = set(_words(_TARGET.sub("]", markdown))) - set(_words(url))
    digests = (_digest(word) for word in words if not any(map(str.isdigit, word)))
    return tuple(sorted(digests)[:SKETCH_WORDS])


def alike(sequence: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two sketches are of nearly the same text: three quarters of their words are common to both."""
    smallest = sorted({*sequence, *other})[:SKETCH_WORDS]
    return len({*smallest} & {*sequence} & {*other}) >= _ALIKE * len(smallest)


def groups_alike(sketches: Sequence[Sketch]) -> list[list[int]]:
    """Group the positions of sketches that are alike, each compared with the first of a group alone.

    A group is looked for by the smallest digests, so the cost is linear in the sketches.
    """
    groups: list[list[int]] = []
    known: dict[int, list[int]] = {}
    for position, sketch in enumerate(sketches):
        candidates = dict.fromkeys(group for digest in sketch[:_LOOKED_UP] for group in known.get(digest, ()))
        result = next((group for group in candidates if alike(sketches[groups[group][0]], sketch)), None)
        if result is not None:
            groups[result].append(position)
            continue
        for digest in sketch[:_LOOKED_UP]:
            if len(known.setdefault(digest, [])) < _LOOKED_UP:
                known[digest].append(len(groups))
        groups.append([position])
    return groups


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _share(old: Sequence[Hashable], new: Sequence[Hashable]) -> float:
    """The share of the old items that are among the new ones, each as often; 1 for none."""
    return (Counter(old) & Counter(new)).total() / len(old) if old else 1.0


def _headings(text: PageText) -> set[tuple[str, ...]]:
    return {tuple(_words(heading)) for heading in _HEADING.findall(text.markdown)} - {()}


def _title(text: PageText) -> tuple[str, ...]:
    return tuple(_words(text.title or ""))


def _digest(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big", signed=True)
