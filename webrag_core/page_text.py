"""Page text as it is shown to people and models: without characters that cannot be seen."""

from __future__ import annotations

import json
import re
import unicodedata
from functools import lru_cache

_BREAK = re.compile(r"\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_SITE_NAME = re.compile(r"(?<!\s)\s+[—–|-]\s+[^—–|]*$")
_UNUSUAL = re.compile(r"[^\n\t -~]")
_JOINERS = "\u200c\u200d"  # spelling in some scripts, and in emoji
_BLANK_LETTERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # no category tells them from letters and marks


def visible(text: str) -> str:
    """Remove invisible characters (controls, bidi and zero-width marks, tags, surrogates); all line ends become \\n."""
    return _UNUSUAL.sub(lambda match: match[0] if is_seen(match[0]) else "", _BREAK.sub("\n", text))


def escaped(text: str) -> str:
    """A JSON text with its invisible characters as escapes: the same value, and nothing that a terminal obeys."""
    return _UNUSUAL.sub(lambda match: match[0] if is_seen(match[0]) else json.dumps(match[0])[1:-1], text)


def one_line(text: str) -> str:
    """Reduce text to one line of visible characters with single blanks."""
    return " ".join(visible(text).split())


def without_site_name(title: str) -> str:
    """A title of a page without the name of its site, where a dash or a bar stands before it."""
    return _SITE_NAME.sub("", title) or title


@lru_cache(maxsize=10_000)
def is_seen(character: str) -> bool:
    """Whether a character that is no ASCII letter, mark or blank can be seen, or spells or draws what can."""
    if "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef":
        seen = character == "\ufe0f"  # the one that emoji need; the others can carry bytes
    elif character in _BLANK_LETTERS:
        seen = False
    else:
        seen = character in _JOINERS or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn")
    return seen
