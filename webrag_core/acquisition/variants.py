"""Links that lead to no page of their own: downloads, print views, and the same page in another language."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import parse_qsl, urlsplit

_DOWNLOADS = frozenset(
    [
        "7z", "apk", "avi", "bin", "bz2", "cpp", "css", "csv", "dat", "deb", "dmg", "doc", "docx", "dvi",
        "eot", "epub", "exe", "flac", "gif", "gz", "hpp", "ico", "ipynb", "iso", "jar", "jpeg", "jpg",
        "json", "lz4", "m4a", "mkv", "mobi", "mov", "mp3", "mp4", "mpeg", "msi", "ods", "odt", "ogg",
        "otf", "pkg", "png", "ppt", "pptx", "ps", "rar", "rpm", "sql", "svg", "tar",
        "tgz", "tif", "tiff", "ttf", "war", "wav", "webm", "webp", "whl", "woff", "woff2", "xls", "xlsx", "xz", "zip",
        "zst",
    ]
)  # fmt: skip
_UNREAD = frozenset(
    [
        "7z", "apk", "avi", "bin", "bmp", "bz2", "css", "deb", "dmg", "eot", "exe", "flac", "gif", "gz", "ico", "iso",
        "jar", "jpeg", "jpg", "lz4", "m4a", "mkv", "mov", "mp3", "mp4", "mpeg", "msi", "ogg", "otf", "pkg", "png",
        "rar", "rpm", "svg", "tar", "tgz", "tif", "tiff", "ttf", "war", "wav", "webm", "webp", "whl", "woff", "woff2",
        "xz", "zip", "zst",
    ]
)  # fmt: skip
_LANGUAGES = frozenset(
    [
        "af", "ar", "az", "be", "bg", "bn", "bs", "ca", "cs", "cy", "da", "de", "el", "en", "eo", "es", "et", "eu",
        "fa", "fi", "fr", "ga", "gl", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ja", "ka", "kk", "km", "ko",
        "lt", "lv", "mk", "ml", "mn", "mr", "ms", "my", "nb", "ne", "nl", "nn", "no", "pa", "pl", "ps", "pt", "ro",
        "ru", "si", "sk", "sl", "sq", "sr", "sv", "sw", "ta", "te", "tg", "th", "tr", "uk", "ur", "uz", "vi", "zh",
    ]
)  # fmt: skip
_LANGUAGE = re.compile(r"([a-z]{2})(?:[-_][a-z]{2,4})?", re.IGNORECASE)
_SUFFIX = re.compile(r"\.([a-z]{2})(?:[-_][a-z]{2,4})?(\.[a-z]+)$", re.IGNORECASE)
_PRINT_NAMES = frozenset({"print", "printable", "printview", "print_view"})
_LANGUAGE_NAMES = frozenset({"lang", "language", "locale", "hl"})


def is_download(url: str) -> bool:
    """Whether the path of canonical `url` ends like a file to be saved: an archive, a medium, data.

    Endings of program files are none: `/wiki/Node.js` is a page.
    """
    name = urlsplit(url).path.rpartition("/")[2]
    return "." in name and name.rpartition(".")[2].lower() in _DOWNLOADS


def is_unread_file(url: str) -> bool:
    """Whether the path of canonical `url` ends like a file that no reader reads: of pictures, sounds, fonts, archives.

    `/wiki/File:Kettle.png` is a page about a picture, and what a query asks for may be one.
    """
    parts = urlsplit(url)
    name = parts.path.rpartition("/")[2]
    return "." in name and not parts.query and ":" not in name and name.rpartition(".")[2].lower() in _UNREAD


def is_print_view(url: str) -> bool:
    """Whether the query of canonical `url`, or the last part of its path, asks for a version to be printed."""
    parts = urlsplit(url)
    last = parts.path.rstrip("/").rpartition("/")[2].lower()
    names = {name.lower() for name, value in parse_qsl(parts.query) if value.lower() not in ("0", "no", "false")}
    return last in _PRINT_NAMES or bool(names & _PRINT_NAMES)


def is_other_language(url: str, page: str) -> bool:
    """Whether canonical `url` looks like `page`, or like a page beside it, in another language than that of `page`.

    A language stands in a segment of the path, before the file ending or in the query. `/it/x` is Italian beside
    `/en/y`; beside `/y`, where nothing says that segments are languages, it is not.
    """
    language, other = _language_of(page), _language_of(url)
    if language is not None and other is not None and language.place == other.place:
        return language.language != other.language
    if language is None and other is not None:
        return other.rest == page
    return language is not None and language.rest == url


class _Language:
    """The language that a URL states: its code, where it stands, and the URL without it."""

    __slots__ = ("language", "place", "rest")

    def __init__(self, language: str, place: object, rest: str) -> None:
        self.language, self.place, self.rest = language.lower().replace("_", "-"), place, rest


@lru_cache(maxsize=50_000)
def _language_of(url: str) -> _Language | None:
    parts = urlsplit(url)
    suffix = _SUFFIX.search(parts.path)
    if suffix is not None and suffix[1].lower() in _LANGUAGES:
        path = f"{parts.path[: suffix.start()]}{suffix[2]}"
        return _Language(suffix[0].removesuffix(suffix[2])[1:], "suffix", parts._replace(path=path).geturl())
    segments = parts.path.split("/")
    for place, segment in enumerate(segments[:-1]):
        match = _LANGUAGE.fullmatch(segment)
        if match is not None and match[1].lower() in _LANGUAGES:
            path = "/".join(segments[:place] + segments[place + 1 :])
            return _Language(segment, place, parts._replace(path=path).geturl())
    for name, value in parse_qsl(parts.query):
        match = _LANGUAGE.fullmatch(value)
        if name.lower() in _LANGUAGE_NAMES and match is not None and match[1].lower() in _LANGUAGES:
            pairs = [pair for pair in parts.query.split("&") if pair.partition("=")[0] != name]
            return _Language(value, name.lower(), parts._replace(query="&".join(pairs)).geturl())
    return None
