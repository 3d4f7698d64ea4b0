"""A worker that was taken over: it answers a page with whatever its first argument says. Imports nothing of ours: it is
started for each answer."""

from __future__ import annotations

import json
import os
import pickle
import sys
import time
from collections.abc import Callable
from typing import Any

LINK = {
    "target_url": "https://site.example/",
    "anchor_text": "a",
    "context": "a",
    "heading_path": ["H"],
    "in_navigation": False,
    "nofollow": False,
}
PAGE = {
    "markdown": "words to read",
    "title": "T",
    "description": None,
    "language": "en",
    "published": "2024-05-06T07:08:09Z",
    "modified": None,
    "links": [LINK],
    "canonical": None,
}


class Bomb:
    """Makes a file in the process that unpickles it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.system, ("touch $TMPDIR/taken-over",))


def _frame(message: bytes) -> bytes:
    return len(message).to_bytes(8, "big") + message


def _page(**changes: object) -> bytes:
    return json.dumps({"kind": "page", "page": {**PAGE, **changes}}).encode()


REPLIES: dict[str, Callable[[], bytes]] = {
    "honest": _page,
    "pickle": lambda: pickle.dumps(Bomb()),
    "garbage": lambda: os.urandom(1_000),
    "empty": lambda: b"",
    "null": lambda: b"null",
    "nested": lambda: b"[" * 1_000_000,
    "ready": lambda: b'{"kind": "ready"}',
    "unknown kind": lambda: b'{"kind": "other"}',
    "no page": lambda: b'{"kind": "page"}',
    "unknown reason": lambda: b'{"kind": "refused", "reason": "because"}',
    "number for text": lambda: _page(markdown=5),
    "text for links": lambda: _page(links="none"),
    "text for flag": lambda: _page(links=[{**LINK, "nofollow": "yes"}]),
    "bytes": lambda: b'{"kind": "page", "page": "\xff"}',
    "surrogate": lambda: _page(markdown="\udc80 words"),
    "nul": lambda: _page(title="a\x00b"),
    "nul in a heading": lambda: _page(links=[{**LINK, "heading_path": ["\x00"]}]),
    "date of year 1": lambda: _page(published="0001-01-01T00:00:00+05:00"),
    "date without zone": lambda: _page(published="2024-05-06T07:08:09"),
    "long address": lambda: _page(links=[{**LINK, "target_url": "https://site.example/" + "a" * 100_000}]),
    "much text": lambda: _page(markdown="a" * 12_000_001),
    "many links": lambda: _page(links=[{**LINK, "context": "a" * 1_000_000}] * 13),
}


def main() -> None:
    """Say that it is ready, then answer the first page."""
    mode, out = sys.argv[1], sys.stdout.buffer
    unconfined = {"sandbox": {"files": "no Landlock here", "network": None}} if mode == "unconfined" else {}
    out.write(_frame(json.dumps({"kind": "ready", **unconfined}).encode()))
    out.flush()
    for _ in ("header", "body"):
        sys.stdin.buffer.read(int.from_bytes(sys.stdin.buffer.read(8), "big"))
    if mode == "endless":
        out.write((2**62).to_bytes(8, "big"))
        while True:
            out.write(bytes(1_000_000))
    elif mode == "cut off":
        out.write((1_000).to_bytes(8, "big") + b"{")
    elif mode != "silent":
        out.write(_frame(REPLIES["honest" if unconfined else mode]()))
    out.flush()
    if mode in ("silent", "honest", "unconfined"):
        time.sleep(60)


if __name__ == "__main__":
    main()
