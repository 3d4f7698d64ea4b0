"""Remember the addresses in page text that a model was shown, to recognise a request that continues or varies one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from webrag_core.acquisition.urls import canonicalise, source_key
from webrag_core.errors import FetchError

_MOST_PATHS = 10_000
_PATH_CHARS = 200
_ADDRESS_CHARS = 500
_SHORTEST = 5  # of one segment: `/en` begins many paths
_BREAK = re.compile(r"[\s\"'<>`()\[\]{}|,;]+")
_SCHEME = re.compile(r":/+")
_UNKNOWN_HOST = "host.invalid"
_PLACEHOLDER = re.compile(
    r"[A-Z]{3}|[$:*]|x{3}|(?i:(?:^|[\W_])(?:your|my|secret|passw(?:or)?d|token|key|data|here)(?:[\W_]|$))"
)


class ShownAddresses:
    """Paths of the addresses in page text, whatever host they stand with; a bounded number of them."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self._patterns: set[tuple[str | None, ...]] = set()  # segments; None = a placeholder
        self._sites: set[str] = set()  # whose address is one placeholder
        self._overflow = False

    def add(self, texts: Iterable[str]) -> None:
        """Add the addresses in `texts`."""
        for text in texts:
            for host, path in _addresses(text):
                if self._overflow:
                    return
                self._add(host, path)

    def _add(self, host: str, path: str) -> None:
        try:
            url = canonicalise(f"http://{host or _UNKNOWN_HOST}/{path}")
        except FetchError:
            url = canonicalise(f"http://{_UNKNOWN_HOST}/{path}")
        segments = _path(url)[:_PATH_CHARS].strip("/").split("/")
        pattern = tuple(None if _PLACEHOLDER.search(segment) else segment.casefold() for segment in segments)
        if pattern == (None,):
            self._sites.add(source_key(url))
        elif None in pattern:
            self._patterns.add(pattern)
        folded = _path(url).casefold()[:_PATH_CHARS]
        if len(segments) > 1 or len(folded) >= _SHORTEST:
            self._paths.add(folded)
        self._overflow = len(self._paths) + len(self._sites) > _MOST_PATHS

    def resembles(self, url: str) -> bool:
        """True when the path of canonical `url` continues a shown path, or fills the placeholders of one."""
        path = _path(url).casefold()
        segments = path.strip("/").split("/")
        if self._overflow or (len(segments) == 1 and source_key(url) in self._sites):
            return True
        return any(_continues(path, shown) for shown in self._paths) or any(
            _fills(segments, pattern) for pattern in self._patterns
        )


def _addresses(text: str) -> Iterator[tuple[str, str]]:
    """Yield host and path of what may be an address; the host is empty for a path alone."""
    # without backslashes: Markdown escapes with them
    for token in _BREAK.split(unicodedata.normalize("NFKC", text).replace("\\", "")):
        if "/" not in token:
            continue
        starts = [match.end() for match in _SCHEME.finditer(token)]
        for start in starts or [0]:
            place = token[start : start + _ADDRESS_CHARS].strip("*_~…").rstrip(".:!?")
            host, slash, path = place.removeprefix("//").partition("/")
            if slash and (starts or not host or "." in host):  # `and/or` is no address
                yield host, path


def _path(url: str) -> str:
    path = "/" + url.partition("://")[2].partition("?")[0].partition("/")[2]
    return unicodedata.normalize("NFKC", unquote(path))


def _continues(path: str, shown: str) -> bool:
    # what is named as it stands carries nothing
    return path.startswith(shown) and path.rstrip("/") != shown.rstrip("/")


def _fills(segments: list[str], pattern: tuple[str | None, ...]) -> bool:
    if len(segments) != len(pattern):
        return False
    return all(expected in (None, segment) for segment, expected in zip(segments, pattern, strict=True))
