"""The Markdown that people read: its links, anchors, cells of tables and commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.conftest import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGES = (*sorted(REPOSITORY.glob("*.md")), *sorted(DOCS.rglob("*.md")))
NAMES = [str(page.relative_to(REPOSITORY)) for page in PAGES]


@cache
def _tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text())


def _inline(page: Path) -> Iterator[Token]:
    for token in _tokens(page):
        yield from token.children or ()


def links(page: Path) -> Iterator[str]:
    """Targets of its links and pictures."""
    for token in _inline(page):
        for name in ("href", "src"):
            if target := token.attrGet(name):
                yield str(target)


@cache
def anchors(page: Path) -> frozenset[str]:
    """What a code host calls its headings."""
    names = set()
    tokens = _tokens(page)
    for heading, inline in pairwise(tokens):
        if heading.type == "heading_open":
            text = "".join(child.content for child in inline.children or ())
            names.add(re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-"))
    return frozenset(names)


def cells(page: Path) -> Iterator[str]:
    """Texts of the cells of its tables as people read them, without addresses of links."""
    for opening, inline in pairwise(_tokens(page)):
        if opening.type in ("th_open", "td_open"):
            yield "".join(child.content for child in inline.children or ())


def code(page: Path) -> Iterator[str]:
    """Lines of its listings without a language or for a shell, continued lines joined, and its pieces of code."""
    for token in _tokens(page):
        if token.type == "fence" and token.info.strip() in ("", "sh", "console"):
            yield from re.sub(r"\\\n\s*", "", token.content).splitlines()
    for token in _inline(page):
        if token.type == "code_inline":
            yield token.content
