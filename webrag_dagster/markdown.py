"""Untrusted text inside Markdown.

Page text may hold anything: links, images that would call home, HTML, fences. In running text every mark has a
backslash before it, and what the UI would turn into a link by itself (an address, an e-mail address) is code, in which
nothing is parsed. Titles become the text of our own link, where links do not nest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from webrag_core.page_text import one_line, visible

if TYPE_CHECKING:
    from webrag_core.answering.passage import Line

_RUN = re.compile(r"`+")
_ADDRESS = re.compile(r"\S*(?:://|www\.|@)\S*", re.IGNORECASE)
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&:@$^=\"'/])")


FOLD_AT = 100
"""The UI neither wraps nor scrolls code, so longer lines are folded; FOLD marks where."""
FOLD = "\u21aa "


def block(text: str) -> str:
    """The visible `text` as a code block, fenced by more backticks than it holds in a row; long lines folded."""
    shown = visible(text)
    fence = "`" * max(3, _longest_run(shown) + 1)
    folded = "\n".join(part for line in shown.split("\n") for part in _fold(line))
    return f"{fence}text\n{folded}\n{fence}"


def quote(markdown: str) -> str:
    """`markdown` as a block quote."""
    return "\n".join(f"> {line}".rstrip() for line in markdown.split("\n"))


def code(text: str) -> str:
    """`text` on one line as inline code."""
    line = one_line(text) or " "
    fence = "`" * (_longest_run(line) + 1)
    return f"{fence} {line} {fence}" if line.startswith("`") or line.endswith("`") else f"{fence}{line}{fence}"


def prose(text: str) -> str:
    """`text` on one line as running text."""
    line, parts, position = one_line(text), [], 0
    for address in _ADDRESS.finditer(line):
        parts += [_SPECIAL.sub(r"\\\1", line[position : address.start()]), code(address[0])]
        position = address.end()
    return "".join((*parts, _SPECIAL.sub(r"\\\1", line[position:])))


def passage_markdown(lines: Iterable[Line]) -> str:
    """A passage as people read it: paragraphs and items of lists, marked words bold; lines of code as a code block."""
    paragraphs: list[str] = []
    for is_code, run in groupby(lines, key=lambda line: line.code):
        if is_code:
            paragraphs.append(block("\n".join(line.text for line in run)))
        else:
            paragraphs += [_paragraph(line) for line in run]
    return "\n\n".join(paragraphs)


def _paragraph(line: Line) -> str:
    item = f"{'-' if line.item == '•' else line.item} " if line.item else ""
    return item + "".join(_piece(words, bold=part == "marked") for part, words in line.pieces)


def _piece(words: str, *, bold: bool) -> str:
    inner = words.strip()
    if not inner:
        return " " if words else ""
    lead, tail = " " * words[0].isspace(), " " * words[-1].isspace()
    return f"{lead}**{prose(inner)}**{tail}" if bold else f"{lead}{prose(inner)}{tail}"


def link(text: str, url: str) -> str:
    """A link to a canonical URL with `text`, whatever that is made of."""
    label = _SPECIAL.sub(r"\\\1", one_line(text)) or "page"
    # canonical URLs are ASCII without spaces or angle brackets; what is left would be read as escape or entity
    return f"[{label}](<{url.replace(chr(92), '%5C').replace('&', '&amp;')}>)"


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


def _longest_run(text: str) -> int:
    return max((len(run) for run in _RUN.findall(text)), default=0)
