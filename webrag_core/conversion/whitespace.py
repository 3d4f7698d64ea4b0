"""Fold white space as a browser does: line ends of the source are not text, except in code."""

from __future__ import annotations

import re

_PRE = re.compile(r"(</?pre[ >])")
_BLANKS = bytes.maketrans(b"\t\n\v\f\r", b"     ")
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")


def without_invisible(text: str) -> str:
    """Remove soft hyphens and other invisible break marks: a search does not match words that hold them."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def fold_space(html: str) -> str:
    """Replace every run of white space outside <pre> by one blank in serialised HTML.

    Otherwise a source line that begins with `- `, `#` or `1.` would become a block of its own in Markdown.
    """
    parts = _PRE.split(html)  # text and marks by turns
    verbatim = False
    for number, part in enumerate(parts):
        if number % 2:
            verbatim = part.startswith("<p")
        elif not verbatim:
            parts[number] = _fold(part)
    return "".join(parts)


def _fold(part: str) -> str:
    # a blank at the edges parts the blocks around <pre>; a list of all words would take several times the page's memory
    before, after = " " * part[:1].isspace(), " " * part[-1:].isspace()
    text = without_invisible(part).encode().translate(_BLANKS)
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    return before + text.strip(b" ").decode() + after
