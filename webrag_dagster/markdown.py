"""Untrusted text in the Markdown of the UI: as `webrag_core.markdown_text`, long lines folded; and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from webrag_core.markdown_text import code, fenced, link, prose, quote
from webrag_core.page_text import visible

if TYPE_CHECKING:
    from webrag_core.showing.passage import Line

__all__ = ["FOLD", "FOLD_AT", "block", "code", "link", "passage_markdown", "prose", "quote", "rows_markdown"]

FOLD_AT = 100
"""The UI neither wraps nor scrolls code, so longer lines are folded; FOLD marks where."""
FOLD = "\u21aa "


def block(text: str) -> str:
    """The visible `text` as a code block, fenced by more backticks than it holds in a row; long lines folded."""
    return fenced("\n".join(part for line in visible(text).split("\n") for part in _fold(line)))


def passage_markdown(lines: Iterable[Line]) -> str:
    """A passage as people read it: paragraphs and items of lists, marked words bold; lines of code as a code block."""
    from webrag_core.showing.markdown import passage_markdown

    return passage_markdown(lines, block)


def rows_markdown(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Lines of a table, cells as inline code. Empty for no rows."""
    if not rows:
        return []
    lines = [" | ".join(rows[0]), " | ".join("---" for _ in rows[0])]
    lines += [" | ".join(code(str(cell)).replace("|", "\\|") for cell in row.values()) for row in rows]
    return [f"| {line} |" for line in lines]


def _fold(line: str) -> Iterator[str]:
    mark = ""
    while len(line) > FOLD_AT:
        cut = line.rfind(" ", FOLD_AT // 2, FOLD_AT) + 1 or FOLD_AT
        yield mark + line[:cut]
        line, mark = line[cut:], FOLD
    yield mark + line
