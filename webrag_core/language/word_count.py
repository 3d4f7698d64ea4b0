"""How many words a text has, in any script."""

from __future__ import annotations

import re

from webrag_core.language.scripts import HAN_AND_KANA, SOUTH_EAST_ASIAN

_WORD = re.compile(r"\w+")
_UNSPACED_CHARACTER = re.compile(f"[{HAN_AND_KANA}{SOUTH_EAST_ASIAN}]")


def word_count(text: str) -> int:
    """Count the words of a text; two characters are one word where a script writes no spaces."""
    words = len(_WORD.findall(text))
    return words if text.isascii() else words + len(_UNSPACED_CHARACTER.findall(text)) // 2
