"""Pages that lead on by themselves: by a Refresh header, <meta http-equiv=refresh>, or a script that does only that."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from webrag_core.acquisition.charset import page_encoding
from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError

MAX_SECONDS = 5.0
"""A page that shows itself longer than this is meant to be read."""

MAX_WORDS = 40
_MAX_LETTERS = 300  # of languages without blanks between words

_READ_BYTES = 64 * 1024
_MAX_TAGS = 200
_MAY_STATE = re.compile(rb"http-equiv[\s=\"']{1,9}refresh")
_MAY_SCRIPT = re.compile(rb"location[\s.=]")
_SCRIPT_PAGE_BYTES = 8 * 1024  # of a page that is only a script that leads on
_META = re.compile(r"<meta\b((?:[^<>\"']|\"[^\"]{0,2000}\"|'[^']{0,2000}'){0,1000})>", re.IGNORECASE)
_BASE = re.compile(r"<base\b([^<>]{0,2000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([a-z-]{1,40})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_CONTENT = re.compile(r"\s*+(\d{1,6})?+(?:\.[\d.]*+)?+(?:\s*+[;,]|(?<=\d)\s)\s*+(.*)", re.DOTALL)
_URL = re.compile(r"url\s*=\s*", re.IGNORECASE)
_PLACE = r"(?:(?:window|document|self|top)\s*\.\s*)?location"
_SCRIPT_LEADS = re.compile(
    rf"{_PLACE}(?:\s*\.\s*href)?\s*=\s*([\"'])([^\"'\\\s<>]{{1,2000}})\1\s*;?"
    rf"|{_PLACE}\s*\.\s*(?:replace|assign)\s*\(\s*([\"'])([^\"'\\\s<>]{{1,2000}})\3\s*\)\s*;?"
)
_TAG = re.compile(r"<[^<>]*>")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Refresh:
    """Where a page leads by itself, a canonical URL, and after how many seconds. `is_redirect`: it is there for nothing
    else.
    """

    url: str
    seconds: float
    is_redirect: bool


def refresh_of(url: str, headers: Mapping[str, str], body: bytes, charset: str | None) -> Refresh | None:
    """Where the HTML page at canonical `url` leads; None where it stays, or leads to itself or to no address.

    `charset` is that of the HTTP header. Pure.
    """
    beginning = body[:_READ_BYTES]
    lower = beginning.lower()  # some ten times as fast as a search in any case
    states = "refresh" in headers or _MAY_STATE.search(lower) is not None
    scripted = len(body) <= _SCRIPT_PAGE_BYTES and _MAY_SCRIPT.search(lower) is not None
    if not states and not scripted:
        return None
    marked, scripts = _parted(beginning.decode(page_encoding(body, charset), "replace"))
    result = _stated(headers.get("refresh", "")) or next(_of_metas(marked), None)
    if result is None and scripted and len(scripts) == 1 and (leads := _SCRIPT_LEADS.fullmatch(scripts[0])):
        result = (0.0, leads.group(2) or leads.group(4))
    if result is None:
        return None
    seconds, target = result
    base = next((value for tag in _BASE.finditer(marked) if (value := _attributes(tag.group(1)).get("href"))), None)
    try:
        address = canonicalise(target, canonicalise(base, url) if base else url)
    except FetchError:
        return None
    is_redirect = seconds <= MAX_SECONDS and len(body) <= _READ_BYTES and _is_short(marked)
    return None if address == url else Refresh(address, seconds, is_redirect)


def _parted(text: str) -> tuple[str, list[str]]:
    """The page without comments, scripts, styles and title, and the scripts that have text, without blanks around."""
    scripts: list[str] = []
    text, _ = _without(text, "<!--", "-->")
    for name in ("script", "style", "title"):
        text, taken = _without(text, f"<{name}", f"</{name}")
        if name == "script":
            scripts = [script for piece in taken if (script := piece.partition(">")[2].strip())]
    return text, scripts


def _without(text: str, start: str, end: str) -> tuple[str, list[str]]:
    lower = text.lower()
    if len(lower) != len(text):  # letters that are longer in lower case: offsets would be wrong
        lower = text
    kept: list[str] = []
    taken: list[str] = []
    position = 0
    while (begin := lower.find(start, position)) >= 0:
        close = lower.find(end, begin + len(start))
        kept.append(text[position:begin])
        if close < 0:
            return "".join(kept), [*taken, text[begin:]]
        taken.append(text[begin:close])
        position = close + len(end)
    return "".join((*kept, text[position:])), taken


def _of_metas(marked: str) -> Iterator[tuple[float, str]]:
    for at, tag in enumerate(_META.finditer(marked)):
        if at == _MAX_TAGS:
            return
        attributes = _attributes(tag.group(1))
        if attributes.get("http-equiv", "").strip().lower() == "refresh":
            stated = _stated(attributes.get("content", ""))
            if stated is not None:
                yield stated


def _attributes(tag: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(tag):
        attributes.setdefault(name.lower(), html.unescape(double or single or bare))
    return attributes


def _stated(content: str) -> tuple[float, str] | None:
    """Seconds and target of a content such as `0; url='/new'`; None without a target."""
    match = _CONTENT.match(content)
    if match is None:
        return None
    target = match.group(2)
    named = _URL.match(target)
    if named is not None:
        target = target[named.end() :]
    if target[:1] in ("'", '"'):
        target = target[1:].partition(target[0])[0]
    return (float(match.group(1) or 0), target.strip()) if target.strip() else None


def _is_short(marked: str) -> bool:
    words = _WORD.findall(html.unescape(_TAG.sub(" ", marked)))
    return len(words) < MAX_WORDS and sum(map(len, words)) < _MAX_LETTERS
