"""Versions in addresses: which part of a URL names a version, and which titles are of one work. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from webrag_core.errors import InvalidInputError

PLACE = "{version}"
_NUMBER = re.compile(
    r"(?:v|ver|version[-_]?|release[-_]?|rel[-_]?|r)\d{1,4}(?:[._]\d{1,5})*(?:[._]x)?(?:[-._]?(?:dev|alpha|beta|rc|a|b)\.?\d*)?"
    r"|\d{1,4}(?:[._]\d{1,5})+(?:[._]x)?(?:[-._]?(?:dev|alpha|beta|rc|a|b)\.?\d*)?"
    r"|\d{1,3}[._]x",
    re.IGNORECASE,
)
_BARE = re.compile(r"\d{1,3}")
_NAMES = frozenset(
    [
        "stable",
        "latest",
        "current",
        "main",
        "master",
        "trunk",
        "dev",
        "devel",
        "develop",
        "development",
        "next",
        "nightly",
        "edge",
        "lts",
        "beta",
        "canary",
    ]
)
_BEFORE_BARE = frozenset(
    [
        "api",
        "doc",
        "docs",
        "documentation",
        "guide",
        "handbook",
        "manual",
        "reference",
        "release",
        "releases",
        "version",
        "versions",
    ]
)
"""Segments behind which a bare number is a version: elsewhere it counts pages, posts or issues."""
_IN_TITLE = re.compile(r"\bv?\d+(?:[._]\w+)*(?:[-.]?(?:dev|alpha|beta|rc)\d*)?", re.IGNORECASE)
_NAME_IN_TITLE = re.compile(rf"(?<![\s(\[])[\s(\[]+(?:{'|'.join(sorted(_NAMES))})\b[)\]]?", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class VersionedPath:
    """A URL as a version of something: `key` has {version} in place of `label`."""

    key: str
    label: str


def checked_pattern(pattern: str) -> str:
    """A pattern such as /docs/{version}/: a path from the root that names one whole segment.

    Raises InvalidInputError.
    """
    before, place, behind = pattern.partition(PLACE)
    if (
        not place
        or PLACE in behind
        or not before.startswith("/")
        or not before.endswith("/")
        or behind not in ("", "/")
    ):
        raise InvalidInputError(f"{pattern!r} does not say where versions stand; write one such as /docs/{PLACE}/")
    return before + PLACE + "/"


def versioned_paths(url: str, pattern: str | None = None) -> Iterator[VersionedPath]:
    """What a canonical URL may be a version of: one for each segment that looks like a version.

    With a `pattern` its segment counts, whatever it looks like, and no other.
    """
    scheme, _, host, path = url.split("/", 3)
    origin = f"{scheme}//{host}/"
    path, query, rest = path.partition("?")
    segments = path.split("/")
    if pattern is not None:
        before = pattern.partition(PLACE)[0].strip("/").split("/") if pattern.partition(PLACE)[0] != "/" else []
        places = [len(before)] if segments[: len(before)] == before and len(segments) > len(before) + 1 else []
    else:
        places = [place for place in range(len(segments)) if _is_version(segments, place)]
    for place in places:
        if segments[place]:
            key = "/".join([*segments[:place], PLACE, *segments[place + 1 :]])
            yield VersionedPath(origin + key + query + rest, segments[place])


def work_title(title: str | None) -> str | None:
    """A title without its numbers and names of versions; None where no word is left, which confirms nothing."""
    plain = " ".join(_WORD.findall(_NAME_IN_TITLE.sub(" ", _IN_TITLE.sub(" ", title or "")).casefold()))
    return plain or None


def _is_version(segments: list[str], place: int) -> bool:
    segment = segments[place]
    if segment.lower() in _NAMES or _NUMBER.fullmatch(segment):
        return True
    return _BARE.fullmatch(segment) is not None and place > 0 and segments[place - 1].lower() in _BEFORE_BARE
