"""Who asks: `web` (the page), `api` (REST), `cli`, `mcp`, `dagster`, or who uses the `library`. Stored with answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ANSWER = "answer"
"""Origin of a run that gathers evidence for another answer."""
_origin: ContextVar[str] = ContextVar("webrag_origin", default="library")


@contextmanager
def asked_by(name: str) -> Iterator[None]:
    """Answers within the block are asked for by `name`; the innermost block counts."""
    token = _origin.set(name)
    try:
        yield
    finally:
        _origin.reset(token)


def current_origin() -> str:
    """Who asks here; `library` outside of `asked_by`."""
    return _origin.get()
