"""Crawler traps: URLs that a site can make without end, recognised by spelling and by pages per pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from webrag_core.errors import FetchError, Reason
from webrag_core.late_pattern import late_pattern

MAX_CHARACTERS = 2_000
MAX_DEPTH = 20
MAX_SAME_SEGMENT = 3
MAX_PAGES_PER_PATTERN = 10

_DIGITS = late_pattern(r"\d+")
_CYCLE = late_pattern(r"/((?:[^/]+/){1,6}?)\1\1")
_PATH = late_pattern(r"^[a-z]+://[^/?#]*([^?#]*)")


def url_pattern(url: str) -> str | None:
    """Canonical `url` with every number folded into one: what the days of a calendar have in common.

    None for a URL without numbers behind its host: it is only like itself.
    """
    start = url.find("/", url.find("://") + 3)
    if start < 0:
        return None
    folded, numbers = _DIGITS.subn("0", url[start:])
    return url[:start] + folded if numbers else None


def count_patterns(urls: Iterable[str]) -> Counter[str]:
    """How many pages each pattern has: the `taken` of `find_trap`."""
    return Counter(pattern for pattern in map(url_pattern, urls) if pattern is not None)


def find_trap(url: str, taken: Mapping[str, int], *, max_per_pattern: int = MAX_PAGES_PER_PATTERN) -> FetchError | None:
    """The error (CRAWLER_TRAP) to refuse canonical `url` with, None for a URL that is worth following.

    `taken` counts the pages that the run has by `url_pattern`. Pure. For links that pages offer: what a person asks
    for is no trap.
    """
    problem = _problem(url, taken, max_per_pattern)
    return None if problem is None else FetchError(Reason.CRAWLER_TRAP, f"not followed: {problem}")


def _problem(url: str, taken: Mapping[str, int], max_per_pattern: int) -> str | None:
    if len(url) > MAX_CHARACTERS:
        return f"the URL is longer than {MAX_CHARACTERS} characters"
    matched = _PATH.match(url)
    path = matched.group(1) if matched else ""
    segments = [segment for segment in path.split("/") if segment]
    if len(segments) > MAX_DEPTH:
        return f"the path is more than {MAX_DEPTH} levels deep"
    # numbers repeat in honest paths (/2011/11/11/11), names do not
    named = Counter(segment for segment in segments if not segment.isdigit())
    if any(count > MAX_SAME_SEGMENT for count in named.values()):
        return f"the path repeats a part more than {MAX_SAME_SEGMENT} times"
    cycle = _CYCLE.search(f"/{'/'.join(segments)}/")
    if cycle is not None and not cycle.group(1).replace("/", "").isdigit():
        return "the path goes in circles"
    pattern = url_pattern(url)
    if pattern is not None and taken.get(pattern, 0) >= max_per_pattern:
        return f"{max_per_pattern} pages that differ only in numbers were taken already"
    return None
