"""XHTML that is sent as XML: a page, when its root is `html` in the namespace of XHTML."""

from __future__ import annotations

import re

XHTML = "application/xhtml+xml"

_LOOKED_AT = 8_192  # bytes: comments may come before the root
_ROOT = re.compile(rb"<html(?=\s)[^<>]*?\sxmlns\s*=\s*[\"']http://www\.w3\.org/1999/xhtml[\"']")
_BEFORE_ROOT = ((b"<!--", b"-->"), (b"<?", b"?>"), (b"<!", b">"))


def is_xhtml(body: bytes) -> bool:
    """Whether a body begins as an XHTML document does, in an encoding that extends ASCII."""
    head = body[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf").lstrip()
    while not head.startswith(b"<html"):
        end = next((end for start, end in _BEFORE_ROOT if head.startswith(start)), None)
        if end is None or end not in head:
            return False
        head = head[head.index(end) + len(end) :].lstrip()
    return _ROOT.match(head) is not None
