"""The text of code as a browser lays it out: `<br>` and blocks within it begin a new line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from lxml import etree
from lxml.html import HtmlElement

LINE_BLOCKS = frozenset(("div", "p", "li", "tr"))

Place = Literal["text", "tail"]


def code_text(code: HtmlElement) -> str:
    """Return the lines of a box of code."""
    parts: list[str] = []
    for element, _, text in pieces(code):
        if text is not None:
            parts.append(text)
        elif element.tag == "br" or (parts and not parts[-1].endswith("\n")):
            parts.append("\n")
    return "".join(parts)


def pieces(code: HtmlElement) -> Iterator[tuple[HtmlElement, Place, str | None]]:
    """Yield the texts of a box of code in their order, as (element, where it holds the text, text).

    The text is None where a line ends: at a `<br>`, and before and behind a block unless it ended already.
    """
    for event, element in etree.iterwalk(code, events=("start", "end", "comment", "pi")):
        is_block = element.tag == "br" if event == "start" else False
        is_block = is_block or (event in ("start", "end") and element.tag in LINE_BLOCKS)
        if is_block:
            yield element, "text", None
        if event == "start" and element.text:
            yield element, "text", element.text
        elif event != "start" and element is not code and element.tail:
            yield element, "tail", element.tail
