"""Where a sentence stands on a page by the page's own marks: the truth for the states of citations.

Nothing of the matcher under test is used. A page's HTML is read as one run of letters and digits with the ids of its
sections and definitions; the place of a sentence is the innermost id around it that both versions of the page have.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import lxml.html

_LETTERS = re.compile(r"[^\W_]+")
_MARKED = frozenset(["section", "div", "dt", "h1", "h2", "h3", "h4", "h5", "h6"])
_LEADING = frozenset(["dt", "h1", "h2", "h3", "h4", "h5", "h6"])
_VOLATILE = re.compile(r"(?:id|index-|footnote-|fn|_footnote|_bookmark|toc)-?\d+$|index-\d+$")
_SKIPPED = frozenset(["script", "style", "nav", "head"])


def letters(text: str) -> str:
    """Letters and digits only."""
    return "".join(_LETTERS.findall(text))


@dataclass(frozen=True)
class MarkedPage:
    """A page's letters, and from each position on the ids that enclose it, innermost last.

    A section or block encloses what it contains, a heading what follows it in its block, a defined term its definition.
    """

    text: str
    marks: tuple[tuple[int, tuple[str, ...]], ...]

    @classmethod
    def of(cls, html: bytes) -> MarkedPage:
        """Read a page."""
        parts: list[str] = []
        marks: list[tuple[int, tuple[str, ...]]] = [(0, ())]
        frames: list[list[str | None]] = [
            [None, None]
        ]  # of each open element: its own id, and that of its last heading
        length = 0
        document = lxml.html.document_fromstring(html)
        for event, element in lxml.etree.iterwalk(document, events=("start", "end", "comment", "pi")):
            if event in ("comment", "pi"):
                piece = letters(element.tail or "")
            elif event == "start":
                if element.tag in _SKIPPED:
                    for child in list(element):
                        element.remove(child)
                    element.text = None
                name = element.get("id") if element.tag in _MARKED else None
                if name is not None and _VOLATILE.match(name):
                    name = None
                if element.tag in _LEADING:
                    frames[-1][1] = name
                    name = None
                frames.append([name, None])
                marks.append((length, _chain(frames)))
                piece = letters(element.text or "")
            else:
                frames.pop()
                marks.append((length, _chain(frames)))
                piece = letters(element.tail or "")
            parts.append(piece)
            length += len(piece)
        return cls("".join(parts), tuple(marks))

    @cached_property
    def names(self) -> frozenset[str]:
        """All ids."""
        return frozenset(name for _, chain in self.marks for name in chain)

    @cached_property
    def _positions(self) -> list[int]:
        return [position for position, _ in self.marks]

    def occurrences(self, sentence: str) -> list[int]:
        """Where a sentence's letters stand, without overlaps."""
        wanted = letters(sentence)
        return [match.start() for match in re.finditer(re.escape(wanted), self.text)] if wanted else []

    def place(self, position: int, names: frozenset[str]) -> str:
        """The innermost of `names` that encloses a position; "" outside of all."""
        chain = self.marks[bisect_right(self._positions, position) - 1][1]
        return next((name for name in reversed(chain) if name in names), "")


def _chain(frames: list[list[str | None]]) -> tuple[str, ...]:
    return tuple(name for frame in frames for name in frame if name is not None)
