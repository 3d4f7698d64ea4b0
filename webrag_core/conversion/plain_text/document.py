"""A text file as HTML, where it is prose and no Markdown."""

from __future__ import annotations

import html
import re
from itertools import islice

from webrag_core.conversion.plain_text.pages import without_printer_marks
from webrag_core.conversion.plain_text.verdict import prose_of

_FENCE = re.compile(r"^(?:```|~~~)", re.MULTILINE)
_HEADING = re.compile(r"(?:\A|\n)#{1,6} [^\n#]+\n")
_LINK = re.compile(r"\[[^\[\]\n]{1,200}\]\((?:https?:|[./#\w-])[^()\s]{0,500}\)")
_TABLE = re.compile(r"^\|(?:[ ]?:?-+:?[ ]?\|)+$", re.MULTILINE)
_MARKS = (_FENCE, _HEADING, _LINK, _TABLE)
_MIN_MARKS = 2


def text_as_html(text: str) -> bytes | None:
    """The text of a file as a page with one <pre>, which its conversion cuts into blocks; None where it is Markdown,
    or no prose: those stay as they are."""
    text = without_printer_marks(text.replace("\r\n", "\n").replace("\r", "\n"))
    if _is_markdown(text) or prose_of(text) is None:
        return None
    return f"<html><body><pre>\n{html.escape(text, quote=False)}</pre></body></html>".encode()


def _is_markdown(text: str) -> bool:
    return sum(len(list(islice(pattern.finditer(text), _MIN_MARKS))) for pattern in _MARKS) >= _MIN_MARKS
