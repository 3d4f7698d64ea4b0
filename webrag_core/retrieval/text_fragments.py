"""Addresses with a fragment, at which a browser opens the live page or file at a quote."""

from __future__ import annotations

import re
from urllib.parse import quote as percent_encoded

from webrag_core.indexing.unit_text import FENCE, unit_text

_WORDS = 6  # at each end of the quote
_BORDER = re.compile(r"\n\s*\n|\n(?=[ \t]*(?:[#>:]|[-*+][ \t]|\d{1,9}[.)][ \t]))|(?<!\\)\|")


def fragment_url(url: str, quote: str, page: int | None = None) -> str:
    """`url` with a fragment that names the first and the last words of `quote` (Markdown); without one where the quote
    holds no word. No part of it crosses the border of a block: a browser would not find it. Of a file with pages the
    fragment names the `page`: viewers of PDF know no other."""
    if page is not None:
        return f"{url.partition('#')[0]}#page={page}"
    blocks = [words for block in _BORDER.split(FENCE.sub("\n\n", quote)) if (words := _words(block))]
    if not blocks:
        return url
    url = url.partition("#")[0]
    if len(blocks) == 1 and len(blocks[0]) <= 2 * _WORDS:
        return f"{url}#:~:text={_encoded(blocks[0])}"
    return f"{url}#:~:text={_encoded(blocks[0][:_WORDS])},{_encoded(blocks[-1][-_WORDS:])}"


def _words(block: str) -> list[str]:
    words = unit_text(block, "paragraph").split()
    return words if any(character.isalnum() for word in words for character in word) else []


def _encoded(words: list[str]) -> str:
    return percent_encoded(" ".join(words), safe="").replace("-", "%2D")
