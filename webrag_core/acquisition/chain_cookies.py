"""Cookies of one chain of redirects: who sets one and redirects to itself gets it back, and nobody else does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

MAX_COOKIES = 20
MAX_COOKIE_CHARS = 4_096

_PAIR = re.compile(r"([!#$%&'*+.^_`|~\w-]{1,256})=([\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e\"]*)\s*(?:;|$)", re.ASCII)
_EXPIRED = re.compile(r";\s*max-age\s*=\s*(?:0|-\d+)\s*(?:;|$)", re.IGNORECASE)


class ChainCookies:
    """What each origin set during one fetch. Never stored, and sent to the very origin that set it."""

    def __init__(self) -> None:
        self._by_origin: dict[str, dict[str, str]] = {}

    def take(self, origin: str, headers: Sequence[tuple[bytes, bytes]]) -> None:
        """Read the Set-Cookie headers of an answer of `origin`; what is malformed or too much is left out."""
        cookies = self._by_origin.setdefault(origin, {})
        for name, value in headers:
            if name.lower() != b"set-cookie":
                continue
            text = value.decode("latin-1")
            pair = _PAIR.match(text)
            if pair is None:
                continue
            cookies.pop(pair.group(1), None)
            size = sum(len(known) + len(held) + 3 for known, held in cookies.items())
            if (
                _EXPIRED.search(text) is None
                and len(cookies) < MAX_COOKIES
                and size + len(pair.group()) <= MAX_COOKIE_CHARS
            ):
                cookies[pair.group(1)] = pair.group(2)

    def header(self, origin: str, given: Mapping[str, str] | None = None) -> str:
        """The Cookie header for `origin`: what it has set, and cookies that were `given` before; empty without any."""
        cookies = {**(given or {}), **self._by_origin.get(origin, {})}
        return "; ".join(f"{name}={value}" for name, value in cookies.items())
