"""The media type that a Content-Type header means, also where it is sent twice or written badly."""

from __future__ import annotations

import re

_TYPE = re.compile(r"([\w!#$&^.+-]+/[\w!#$&^.+-]+)\s*(?:;|$)")
_QUOTED_OR_COMMA = re.compile(r'"(?:[^"\\]|\\[\s\S]?)*+(?:"|\Z)|,')  # linear: a string without an end is taken whole
_CHARSET = re.compile(r";\s*charset\s*=", re.IGNORECASE)
# placeholders that servers send for "no idea"
_NO_TYPES = frozenset({"unknown/unknown", "application/unknown", "application/x-unknown", "content/unknown"})


def effective_type(header: str) -> str:
    """The last valid media type of a header with its parameters; empty when none is valid, so that the body decides.

    As browsers take it: a later value of the same type keeps the charset of the earlier one.
    """
    chosen = ""
    for value in _values(header):
        match = _TYPE.match(value)
        if match is None or match.group(1).lower() in _NO_TYPES:
            continue
        same = chosen.split(";")[0].strip().lower() == match.group(1).lower()
        if not (same and _CHARSET.search(chosen) and not _CHARSET.search(value)):
            chosen = value
    return chosen


def _values(header: str) -> list[str]:
    values, start = [], 0
    for match in _QUOTED_OR_COMMA.finditer(header):
        if match.group() == ",":
            values.append(header[start : match.start()].strip())
            start = match.end()
    return [*values, header[start:].strip()]
