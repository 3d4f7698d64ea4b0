"""Scripts of letters, and which of them write words without spaces between them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import chain

_NAMES = {"CJK": "Han", "HIRAGANA": "Kana", "KATAKANA": "Kana", "KATAKANA-HIRAGANA": "Kana", "MYANMAR": "Burmese"}

HAN_AND_KANA = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Characters of Chinese and Japanese, for a character class; two of them say as much as a word elsewhere."""

SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f"
"""Thai, Lao, Burmese and Khmer, for a character class: alphabets, written without spaces too."""

FORMAT = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
)
"""Invisible characters that may stand within a word and say nothing, for a character class."""


@lru_cache(maxsize=8192)
def script_of(letter: str) -> str:
    """The script of one letter, as the first word of its Unicode name has it (`Latin`, `Cyrillic`, `Thai`, …), with
    `Han`, `Kana` and `Burmese` by their common names; "" for what is no letter."""
    if not letter.isalpha():
        return ""
    first = unicodedata.name(letter, "").partition(" ")[0]
    return _NAMES.get(first, first.capitalize())


def script_of_word(word: str) -> str:
    """The script of the word's first letter; "" without any."""
    return next((script for script in map(script_of, word) if script), "")


def script_shares(text: str) -> dict[str, float]:
    """Share of each script among the letters of `text`, the largest first; empty without letters."""
    counts = Counter(filter(None, map(script_of, text)))
    letters = counts.total()
    return {script: count / letters for script, count in counts.most_common()}


def _marks() -> str:
    # ideographs and unassigned planes lie between: to look at all of them takes a tenth of a second at every start
    planes = chain(range(0x300, 0x20000), range(0xE0000, 0xE01F0))
    codes = {code for code in planes if unicodedata.category(chr(code)) in ("Mn", "Mc")}
    starts = sorted(code for code in codes if code - 1 not in codes)
    ends = sorted(code for code in codes if code + 1 not in codes)
    return "".join(f"{re.escape(chr(start))}-{re.escape(chr(end))}" for start, end in zip(starts, ends, strict=True))


MARKS = _marks()
"""All combining marks, for a character class: vowel signs of Indic scripts, points of Arabic and Hebrew, accents. `\\w`
leaves them out and would cut words at them."""
