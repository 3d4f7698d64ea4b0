"""What a CommonMark parser reads in a quote: a second opinion on the reading that sentences and their proofs share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

_WITH_TEXT = frozenset(["code_block", "code_inline", "fence", "html_block", "html_inline", "text"])


def differs(markdown: str, text: str) -> bool:
    """Whether `text` has other characters than a CommonMark parser reads in `markdown`, a unit that is neither code nor
    a row of a table; white space does not count. A definition's colon is no Markdown to it, and left out before."""
    body = markdown.lstrip(": ").replace("\n    ", "\n")
    return "".join(text.split()) != "".join("".join(_texts(_parser().parse(body))).split())


def _texts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in _WITH_TEXT:
            yield token.content
        elif token.type == "inline":
            yield from _texts(token.children or [])


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark")
