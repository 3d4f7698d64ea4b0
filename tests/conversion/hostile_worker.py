"""A worker that was taken over: it answers a page with whatever its first argument says."""

from __future__ import annotations

import json
import os
import pickle
import sys
import time
from typing import Any

from webrag_core.conversion.worker_main import read_frame, write_frame

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


def _page(**changes: object) -> bytes:
    return json.dumps({"kind": "page", "page": {**PAGE, **changes}}).encode()


REPLIES = {
    "honest": _page(),
    "pickle": pickle.dumps(Bomb()),
    "garbage": os.urandom(1_000),
    "empty": b"",
    "null": b"null",
    "nested": b"[" * 1_000_000,
    "ready": b'{"kind": "ready"}',
    "unknown kind": b'{"kind": "other"}',
    "no page": b'{"kind": "page"}',
    "unknown reason": b'{"kind": "refused", "reason": "because"}',
    "number for text": _page(markdown=5),
    "text for links": _page(links="none"),
    "text for flag": _page(links=[{**LINK, "nofollow": "yes"}]),
    "bytes": b'{"kind": "page", "page": "\xff"}',
    "surrogate": _page(markdown="\udc80 words"),
    "nul": _page(title="a\x00b"),
    "nul in a heading": _page(links=[{**LINK, "heading_path": ["\x00"]}]),
    "date of year 1": _page(published="0001-01-01T00:00:00+05:00"),
    "date without zone": _page(published="2024-05-06T07:08:09"),
    "long address": _page(links=[{**LINK, "target_url": "https://site.example/" + "a" * 100_000}]),
    "much text": _page(markdown="a" * 12_000_001),
    "many links": _page(links=[{**LINK, "context": "a" * 1_000_000}] * 13),
}


def main() -> None:
    """Say that it is ready, then answer the first page."""
    mode, out = sys.argv[1], sys.stdout.buffer
    unconfined = {"sandbox": {"files": "no Landlock here", "network": None}} if mode == "unconfined" else {}
    write_frame(out, json.dumps({"kind": "ready", **unconfined}).encode())
    out.flush()
    read_frame(sys.stdin.buffer)
    read_frame(sys.stdin.buffer)
    if mode == "endless":
        out.write((2**62).to_bytes(8, "big"))
        while True:
            out.write(bytes(1_000_000))
    elif mode == "cut off":
        out.write((1_000).to_bytes(8, "big") + b"{")
    elif mode != "silent":
        write_frame(out, REPLIES["honest" if unconfined else mode])
    out.flush()
    if mode in ("silent", "honest", "unconfined"):
        time.sleep(60)


if __name__ == "__main__":
    main()
