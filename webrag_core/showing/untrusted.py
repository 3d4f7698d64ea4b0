"""Sanitise page text for a model: no imitation of response markup or chat markup, no hidden characters.

Marks are looked for in a folded copy of a line. Only their brackets and colons are replaced, in the line itself.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Iterable

from webrag_core.page_text import one_line, visible
from webrag_core.showing.lookalikes import folded

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
_TITLE = 90

_NAMES = "|".join(re.sub("[ -]", r"[\\s_-]{0,3}", name) for name in SECTIONS)
_CHAT_HEADERS = r"/?INST|/?SYSTEM(?:[\s_-]{0,3}PROMPT)?|/?TOOL[\s_-]{0,3}(?:CALLS|RESULTS)|/?AVAILABLE[\s_-]{0,3}TOOLS"
_CHAT_TAGS = (
    r"antml\s*:|(?:function[\W_]{0,3}(?:calls?|results?)|tool[\W_]{0,3}(?:calls?|use|results?|response|code|outputs?)"
    r"|system[\W_]{0,3}(?:reminder|prompt)|(?:start|end)[\W_]{0,3}of[\W_]{0,3}turn)\b|invoke\s+name\b"
)
_MARKS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?i)[\[⟨][\W_]{{0,20}}(?:{_NAMES})[\W_]{{0,20}}[\]⟩]",
        rf"(?i)[\[⟨][\W_]{{0,20}}(?:ERROR|WARNING|{_CHAT_HEADERS})[\W_]{{0,20}}[\]⟩](?!\()",  # no link
        r"^\W*([\[⟨][A-Z][A-Z0-9 _/-]{1,40}[\]⟩])\W*$",
        r"(?i)\bsource\s*(\[\s*\d{1,4}\s*\])",
        r"^[\W_]{0,8}(\[\d{1,4}\])",
        r"(?i)([<⟨])\s{0,8}/?\s{0,8}page[\W_]{0,3}text",
        r"[<⟨]\|[\w.-]{1,40}\|[>⟩]|<</?SYS>>",
        rf"(?i)([<⟨])\s{{0,8}}/?\s{{0,8}}(?:{_CHAT_TAGS})",
        r"(?<!\w)([<⟨])\s{0,8}/?\s{0,8}(?:system|assistant|human)\s*[>⟩]",
        r"^[\W\d_]*(?:(?i:human|assistant)|SYSTEM|USER)[\W_]*?(:)",
    )
)
"""Imitations in a folded line: the group, else the whole match, is to be defused. Each runs in linear time."""
_CANDIDATE = re.compile(r"[\[⟨<:]")
_DEFUSED = {"[": "(", "]": ")", "<": "‹", ">": "›", "⟨": "‹", "⟩": "›", "|": "", ":": " –"}
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}+:/{1,2}[^\s\"'<>]*|//[\w-]+\.[^\s\"'<>]*|www\.[^\s\"'<>]+"
    r"|(?:mailto|javascript):[^\s\"'<>]+|data:\w+/[^\s\"'<>]*"
    r"|(?<![\w-])(?<![\w-]\.)(?:[\w-]+\.)+[a-z]{2,24}(?::\d+)?/[^\s\"'<>]*",
    re.IGNORECASE,
)
_BRACKETS = str.maketrans("[]{}<>`", "(){}‹›'")


def defused(text: str) -> str:
    """Neutralise lines of page text that imitate headers, sources, fences or the marks of a chat."""
    return "\n".join(map(_line, visible(text).split("\n")))


def _line(line: str) -> str:
    plain = line if line.isascii() else folded(line)
    if not _CANDIDATE.search(plain):
        return line
    edits: dict[int, str] = {}
    for mark in _MARKS:
        for match in mark.finditer(plain):
            places = range(*match.span(match.lastindex or 0))
            edits |= {place: _DEFUSED[plain[place]] for place in places if plain[place] in _DEFUSED}
    if not edits:
        return line
    characters = list(line)
    # a character may be folded to none or to several
    origins = [place for place, character in enumerate(line) for _ in folded(character)]
    for place, defusing in edits.items():
        characters[origins[place]] = defusing
    return "".join(characters)


def label(text: str | None, limit: int = 100) -> str:
    """Reduce page text to one line of at most `limit` characters, without addresses or brackets."""
    # truncate first: a title may be a megabyte
    line = _line(_ADDRESS.sub("…", one_line((text or "")[: 8 * limit])))
    line = unicodedata.normalize("NFC", line).translate(_BRACKETS)
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def shown_title(title: str | None) -> str:
    """Return a page's title as safe single-line text."""
    return label(title, _TITLE) or "Untitled"


def joined(parts: Iterable[tuple[str, str]]) -> str:
    """Join non-empty sections under their headers."""
    return "\n\n".join(f"[{name}]\n{text}" for name, text in parts if text)


class Fence:
    """Mark page text with a random word, new for each response."""

    def __init__(self, word: str | None = None) -> None:
        self.word = word or secrets.token_hex(3)

    def around(self, text: str) -> str:
        """Return the defused text between its marks."""
        return f"<page-text {self.word}>\n{defused(text)}\n</page-text {self.word}>"
