"""What the bench and a peer's process say to each other: a JSON object a line, on standard input and output."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Protocol

from typing_extensions import TypedDict  # pydantic takes no other before Python 3.12


class Page(TypedDict):
    """A page to store: its HTML, or its text where `is_text`."""

    url: str
    content: str
    is_text: bool


class Passage(TypedDict):
    """A passage that a question brought, and the page that it is of."""

    url: str
    text: str


class Answer(TypedDict):
    """The first passages for a question, best first, and the ms that they took by the clock of the peer."""

    passages: list[Passage]
    ms: float


class Stored(TypedDict):
    """How many passages all pages were cut into, and the bytes of the peer's files (0 where it has a database)."""

    passages: int
    file_bytes: int


class Peer(Protocol):
    """What stores pages and answers questions with passages."""

    def store(self, pages: Sequence[Page]) -> Stored:
        """Store and index all pages."""
        ...

    def first_passages(self, question: str, count: int) -> list[Passage]:
        """At most `count` passages, best first."""
        ...


def text_of(page: Page) -> str:
    """The text of a page, from HTML as LlamaIndex's `SimpleWebPageReader(html_to_text=True)` makes it."""
    if page["is_text"]:
        return page["content"]
    import html2text

    return str(html2text.html2text(page["content"]))


def serve(peer: Peer, count: int = 5) -> None:
    """Take pages (objects), then a line that is a string and ends them, then questions (strings), until the input ends.

    Every line but a page's is answered by another: `Stored`, or an `Answer` of at most `count` passages.
    """
    replies, sys.stdout = sys.stdout, sys.stderr  # whatever a library prints is no reply
    pages: list[Page] = []
    for line in sys.stdin:
        message = json.loads(line)
        if isinstance(message, dict):
            pages.append(Page(url=message["url"], content=message["content"], is_text=message["is_text"]))
            continue
        reply: Stored | Answer
        if pages:
            reply = peer.store(pages)
            pages = []
        else:
            started = time.perf_counter()
            passages = peer.first_passages(message, count)
            reply = Answer(passages=passages, ms=(time.perf_counter() - started) * 1000)
        replies.write(json.dumps(reply) + "\n")
        replies.flush()
