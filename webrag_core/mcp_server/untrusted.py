"""Sanitise page text for a model: no imitation of response markup, no hidden characters."""

from __future__ import annotations

import re
import secrets
import unicodedata
from functools import lru_cache

SECTIONS = (
    "PRESENTATION GUIDE",
    "SOURCES",
    "EVIDENCE",
    "IMAGES",
    "EXPANSION TRACE",
    "CITATIONS",
    "STATS",
    "FOLLOW-UP OPTIONS",
)
"""Headers of a response, in their order."""

_NAMES = "|".join(name.replace(" ", r"[\s_-]*").replace("-", r"[\s_-]*") for name in SECTIONS)
_HEADER = re.compile(rf"\[[\W_]*({_NAMES}|ERROR|WARNING|/?INST|/?SYSTEM)[\W_]*\]", re.IGNORECASE)
_CAPITALS = re.compile(r"^(\W*)\[([A-Z][A-Z0-9 _/-]{1,40})\](\W*)$")
_SOURCE = re.compile(r"\bsource\s*\[\s*(\d{1,4})\s*\]", re.IGNORECASE)
_ENTRY = re.compile(r"^([\W_]{0,8})\[(\d{1,4})\]")
_FENCE = re.compile(r"<(\s*/?\s*page[\s_-]*text)", re.IGNORECASE)
_SPECIAL = re.compile(r"<\|([\w.-]{1,40})\|>|<<(/?SYS)>>")
_SPACE = re.compile(r"\s+")
_UNUSUAL = re.compile(r"[^\n\t -~]")
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}:/{1,2}[^\s\"'<>]*|//[\w-]+\.[^\s\"'<>]*|www\.[^\s\"'<>]+"
    r"|(?:mailto|javascript):[^\s\"'<>]+|data:\w+/[^\s\"'<>]*"
    r"|\b(?:[\w-]+\.)+[a-z]{2,24}(?::\d+)?/[^\s\"'<>]*",
    re.IGNORECASE,
)
_BRACKETS = str.maketrans("[]{}<>`", "(){}‹›'")
# homoglyphs of the capitals in response headers
_LOOKALIKES = str.maketrans(
    "АВСЕНІЈКМОРЅТХУԌΑΒΕΖΗΙΚΜΝΟΡΤΥΧ【】〔〕⟦⟧",
    "ABCEHIJKMOPSTXYGABEZHIKMNOPTYX[][][]",
)
_JOINERS = "\u200c\u200d"  # spelling in some scripts, and in emoji


def visible(text: str) -> str:
    """Remove invisible characters: controls, bidi and zero-width marks, tag characters, surrogates."""
    return _UNUSUAL.sub(lambda match: _shown(match[0]), text)


@lru_cache(maxsize=10_000)
def _shown(character: str) -> str:
    if "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef":
        seen = character == "\ufe0f"  # the one that emoji need; the others can carry bytes
    else:
        seen = character in _JOINERS or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn")
    return character if seen else ""


def defused(text: str) -> str:
    """Neutralise lines of page text that imitate headers, sources or fences of a response."""
    return "\n".join(_line(line) for line in visible(text).split("\n"))


def _line(line: str) -> str:
    if "[" in line or not line.isascii():
        folded = unicodedata.normalize("NFKC", line).translate(_LOOKALIKES)
        if _HEADER.search(folded) or _CAPITALS.match(folded):
            line = _CAPITALS.sub(r"\1(\2)\3", _HEADER.sub(_in_parentheses, folded))
        line = _ENTRY.sub(r"\1(\2)", _SOURCE.sub(r"Source (\1)", line))
    if "<" in line:
        line = _SPECIAL.sub(lambda match: f"‹{match[1] or match[2]}›", _FENCE.sub(r"‹\1", line))
    return line


def _in_parentheses(match: re.Match[str]) -> str:
    return f"({match[0][1:-1].strip()})"


def label(text: str | None, limit: int = 100) -> str:
    """Reduce page text to one line of at most `limit` characters, without addresses or brackets."""
    # truncate first: a title may be a megabyte
    line = _SPACE.sub(" ", visible((text or "")[: 8 * limit])).strip()
    line = unicodedata.normalize("NFC", _ADDRESS.sub("…", line)).translate(_BRACKETS)
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


class Fence:
    """Mark page text with a random word, new for each response."""

    def __init__(self, word: str | None = None) -> None:
        self.word = word or secrets.token_hex(3)

    def around(self, text: str) -> str:
        """Return the defused text between its marks."""
        return f"<page-text {self.word}>\n{defused(text)}\n</page-text {self.word}>"
