"""White space of HTML as a browser shows it: line ends of the source are none of the text, except in code."""

from __future__ import annotations

import re

_PRE = re.compile(r"(</?pre[ >])")
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")


def without_invisible(text: str) -> str:
    """Text without soft hyphens and other places where a line may break or not: a word with one is not found."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def fold_space(html: str) -> str:
    """Serialised HTML whose runs of white space outside <pre> are one blank each.

    A source line that begins with `- `, `#` or `1.` would be a block of its own in Markdown; what begins a paragraph
    so, the converter escapes.
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
    # a blank at the edges parts the blocks around <pre>; bytes know the white space of HTML only, and split fast
    before, after = " " * part[:1].isspace(), " " * part[-1:].isspace()
    return before + b" ".join(without_invisible(part).encode().split()).decode() + after
