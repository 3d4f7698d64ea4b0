"""Where a literal fact stands in a text, whatever its letters look like on the page: case, width, marks, line ends."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
# Markdown's marks, and characters that nobody sees
_UNSEEN = dict.fromkeys(map(ord, "*_`#|\\\u00ad\u200b\u200c\u200d\ufeff"))


def comparable(text: str) -> str:
    """The text in Unicode's form NFKC, case-folded, links reduced to their words, without marks of Markdown; each run
    of white space is a blank. Facts are looked for in texts of this form."""
    words = _LINK.sub(r"\1", unicodedata.normalize("NFKC", text)).translate(_UNSEEN)
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", words).casefold())


def place_of(fact: str, text: str) -> int | None:
    """Offset in `text` (as of `comparable`) where a fact first stands literally, None where it does not.

    White space does not count. No fact begins within a word, and none begins or ends within a number: 15 stands neither
    in 115 nor in 15.2. A fact without any letter stands nowhere.
    """
    pattern = _pattern(fact)
    match = None if pattern is None else pattern.search(text)
    return None if match is None else match.start()


def first_place(wordings: Sequence[str], text: str) -> int | None:
    """Offset of the wording of a fact that comes first in `text` (as of `comparable`), None where none stands there."""
    return min((place for wording in wordings if (place := place_of(wording, text)) is not None), default=None)


def stands_in(fact: str, text: str) -> bool:
    """Whether a fact stands in a text of any form."""
    return place_of(fact, comparable(text)) is not None


@lru_cache(maxsize=4096)
def _pattern(fact: str) -> re.Pattern[str] | None:
    letters = "".join(comparable(fact).split())
    if not letters:
        return None
    before = after = ""
    if letters[0].isdecimal():
        before = r"(?<!\d)(?<!\d[.,])"
    elif letters[0].isascii() and letters[0].isalpha():
        before = "(?<![a-z0-9])"  # between letters of other scripts a word may begin anywhere
    if letters[-1].isdecimal():
        after = r"(?![.,]?\d)"
    return re.compile(before + r"\s*".join(map(re.escape, letters)) + after)
