"""A quote is a slice of a stored version's text, proved by its hash. No fuzzy matching, no model."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Self

from webrag_core.errors import IntegrityError


@dataclass(frozen=True, slots=True)
class Quote:
    """Characters [start, end) (code points) of a version's Markdown, and the sha256 of their UTF-8 bytes.

    `of` makes one from the text; without it, only what was stored or shown of such a quote is read back. What is quoted
    is numbered by mappings from number to quote: a number is never a position, as forgotten pages leave gaps.
    """

    version_id: int
    start: int
    end: int
    sha256: str

    @classmethod
    def of(cls, text: str, version_id: int, start: int, end: int, *, offset: int = 0) -> Self:
        """Characters [start, end) of a version; `text` is its Markdown from character `offset` on. Raises
        IntegrityError when these are no characters, or do not all lie in `text`."""
        if not offset <= start < end <= offset + len(text):
            raise IntegrityError(
                f"span [{start}, {end}) lies outside [{offset}, {offset + len(text)}) of version {version_id}"
            )
        return cls(version_id, start, end, _digest(text[start - offset : end - offset]))

    def words(self, markdown: str) -> str:
        """What stands at its place in the version's Markdown."""
        return markdown[self.start : self.end]

    def reads(self, words: str) -> bool:
        """Whether `words` are what was quoted, letter for letter."""
        return _digest(words) == self.sha256

    def proves(self, markdown: str | None) -> bool:
        """Whether the version's Markdown holds at its place what was quoted; not where it is no longer kept (None)."""
        return markdown is not None and self.reads(self.words(markdown))


def _digest(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()
