"""The section of a page's text that a path of headings names. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from webrag_core.history.page_text import without_markup
from webrag_core.indexing.markdown import Block, parse_blocks

_NUMBER = re.compile(r"^\d+(?:\.\d+)*\.?\s+")


def section_of(text: str, heading: Sequence[str]) -> str | None:
    """The text under the headings `heading`, outermost first, sections below it included; None where there is none.

    The path may leave out the headings above it and begin with the page's title or not. Letter case, marks and section
    numbers do not count. Of several sections of that path it is the first.
    """
    wanted = tuple(_name(part) for part in heading)
    blocks = parse_blocks(text)
    first = next((number for number, block in enumerate(blocks) if _depth(block, wanted)), None)
    if first is None:
        return None
    path = blocks[first].heading_path[: _depth(blocks[first], wanted)]
    last = first
    while last + 1 < len(blocks) and blocks[last + 1].heading_path[: len(path)] == path:
        last += 1
        if last > first and _is_heading_of(blocks[last], path):  # another section of the same name
            last -= 1
            break
    return text[blocks[first].start : blocks[last].end]


def section_names(text: str) -> list[str]:
    """The paths of all sections of a text, as `A > B`, in order."""
    paths = (" > ".join(block.heading_path) for block in parse_blocks(text) if block.heading_path)
    return list(dict.fromkeys(paths))


def _depth(block: Block, wanted: tuple[str, ...]) -> int:
    """How many headings of a block's path end the wanted path; 0 where it is not in it."""
    names = [_name(part) for part in block.heading_path]
    return next(
        (
            place + len(wanted)
            for place in range(len(names) - len(wanted) + 1)
            if tuple(names[place : place + len(wanted)]) == wanted
        ),
        0,
    )


def _is_heading_of(block: Block, path: tuple[str, ...]) -> bool:
    return block.kind == "heading" and block.heading_path == path


def _name(heading: str) -> str:
    return _NUMBER.sub("", " ".join(without_markup(heading).split())).casefold()
