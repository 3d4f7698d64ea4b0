"""Where the UI shows pages to read: answers in prose, and pictures of the graphs of sources.

They are made when they are asked for (`processes.ui_pages`) and lie in no file: what was removed from the corpus is in
none of them.
"""

from __future__ import annotations

import re
from urllib.parse import urlencode

PREFIX = "webrag"
"""First part of the addresses."""
GRAPHS = f"/{PREFIX}/graphs"
SOURCE = "source"
"""Field of the address of a picture: the key of the source, or of a part of one."""
_ANSWERS = f"/{PREFIX}/answers"
_ANSWER = re.compile(rf"{_ANSWERS}/answer-([1-9][0-9]{{0,17}})\.html", re.ASCII)


def answer_address(answer_id: int) -> str:
    """Where the page of an answer in prose is."""
    return f"{_ANSWERS}/answer-{answer_id}.html"


def answer_at(path: str) -> int | None:
    """The number of the answer whose page has this path; None for another path."""
    match = _ANSWER.fullmatch(path)
    return None if match is None else int(match[1])


def graph_address(source: str) -> str:
    """Where the picture of a source, or of a part of one, is."""
    return f"{GRAPHS}?{urlencode({SOURCE: source})}"
