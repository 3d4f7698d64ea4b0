"""Stream the records of an XML sitemap or feed: no tree, no entities, no network."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from lxml import etree

from webrag_core.acquisition.charset import decode_page
from webrag_core.errors import FetchError, Reason

_RECORDS = {"urlset": "url", "sitemapindex": "sitemap", "rss": "item", "RDF": "item", "feed": "entry"}
_MAX_RECORD_DEPTH = 3
_MAX_FIELDS = 1_000
_MAX_TEXT_CHARS = 20_000
_CHUNK = 64 * 1024
_MAX_REPAIRED = 1_000_000
_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_WIDE = {b"<\0": "utf-16-le", b"\0<": "utf-16-be", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})")
_CDATA = b"<![CDATA["
_ELEMENT = re.compile(rb"<[A-Za-z_]")
_DOCTYPE_END = re.compile(rb"\]\s*>")
_BARE_AMPERSAND = re.compile(rb"&(?!#?[A-Za-z0-9]{1,32};)")
_SURROGATE = re.compile(
    rb"&#(?:[xX]0*[dD][89a-fA-F][0-9a-fA-F]{2}"
    rb"|0*(?:5529[6-9]|55[3-9][0-9]{2}|56[0-9]{3}|57[0-2][0-9]{2}|573[0-3][0-9]|5734[0-3]));"
)


@dataclass(slots=True)
class Field:
    """One child of a record, with all text below it."""

    namespace: str
    name: str
    attributes: Mapping[str, str]
    pieces: list[str] = field(default_factory=list)
    size: int = 0

    @property
    def text(self) -> str:
        """At most some 20,000 characters."""
        return "".join(self.pieces)


@dataclass(slots=True)
class Record:
    """One url, sitemap, item or entry. `bases` are the xml:base values around it, outermost first."""

    root: str
    fields: list[Field]
    bases: list[str]


def read_records(body: bytes, take: Callable[[Record], bool], deadline: float) -> str | None:
    """Pass every record of `body` to `take` until it returns False. Return why reading stopped early, or None.

    `deadline` is a time.monotonic() in seconds.

    Raises FetchError: SOFT_404 for an HTML page, BAD_RESPONSE for neither a sitemap nor a feed.
    """
    body = _repaired(body)
    target = _Target(take)
    parser = etree.XMLParser(
        target=cast(Any, target),  # the stubs require more than a target for text needs
        encoding="utf-8",
        recover=True,  # one stray character in 50,000 entries loses that entry, not the file
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
    )
    problem: str | None = None
    try:
        for start in range(0, len(body), _CHUNK):
            parser.feed(body[start : start + _CHUNK])
            if target.over or (target.depth and not target.known):
                break
            if time.monotonic() > deadline:
                problem = "reading it took too long"
                break
        else:
            parser.close()
    except (etree.LxmlError, UnicodeError, ValueError):
        problem = "it is broken XML"
    if target.root.lower() == "html":
        raise FetchError(Reason.SOFT_404, "an HTML page came instead of the file")
    if not target.known:
        raise FetchError(Reason.BAD_RESPONSE, "it is neither a sitemap nor a feed")
    return problem or (None if target.over or target.closed else "it breaks off before its end")


class _Target:
    """Collects one record at a time. Called by the parser for every tag and piece of text."""

    def __init__(self, take: Callable[[Record], bool]) -> None:
        self.root = ""
        self.known = False
        self.over = False
        self.closed = False
        self.depth = 0
        self._take = take
        self._wanted = ""
        self._base = ""
        self._record: Record | None = None
        self._record_depth = 0
        self._field: Field | None = None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.depth += 1
        if self._record is not None:
            if self.depth == self._record_depth + 1 and len(self._record.fields) < _MAX_FIELDS:
                namespace, name = _split(tag)
                self._field = Field(namespace, name, dict(attributes))
                self._record.fields.append(self._field)
            elif self._field is not None:
                self.data(" ")  # blocks within XHTML text are words apart
            return
        name = _split(tag)[1]
        if self.depth == 1:
            self.root, self._wanted = name, _RECORDS.get(name, "")
            self.known = bool(self._wanted)
            self._base = attributes.get(_BASE, "")
        elif name == self._wanted and self.depth <= _MAX_RECORD_DEPTH:
            bases = [base for base in (self._base, attributes.get(_BASE, "")) if base]
            self._record, self._record_depth = Record(self.root, [], bases), self.depth

    def data(self, text: str) -> None:
        if self._field is not None and self._field.size < _MAX_TEXT_CHARS:
            self._field.pieces.append(text[:_MAX_TEXT_CHARS])
            self._field.size += len(text)

    def end(self, tag: str) -> None:
        if self._record is not None and self.depth == self._record_depth:
            if not self.over:
                self.over = not self._take(self._record)
            self._record = None
        if self._record is None or self.depth == self._record_depth + 1:
            self._field = None
        self.depth -= 1
        self.closed = self.closed or self.depth == 0

    def close(self) -> None:
        """Do nothing; the parser requires the method."""


def _split(tag: str) -> tuple[str, str]:
    namespace, mark, name = tag.rpartition("}")
    return (namespace[1:], name) if mark else ("", tag)


def _repaired(body: bytes) -> bytes:
    """Return `body` in UTF-8, without DOCTYPE (and so without entities), with common mistakes repaired."""
    wide = _WIDE.get(body[:2])
    if wide is not None:
        body = body.decode(wide, "replace").encode("utf-8", "replace")
    else:
        try:
            body.decode()
        except UnicodeDecodeError:
            declared = _DECLARED.search(body, 0, 1_000)
            label = declared.group(1).decode("ascii", "replace").lower() if declared else "utf-8"
            if declared is not None:
                body = body[declared.end() :].partition(b"?>")[2]
            # detect the encoding from the bytes where the declaration is missing or wrong
            body = decode_page(body, None if label.startswith("utf") else label).encode("utf-8", "replace")
    body = _without_doctype(body.removeprefix(b"\xef\xbb\xbf").lstrip())
    if not 0 < body.count(b"&") <= _MAX_REPAIRED:
        return body
    before, *sections = body.split(_CDATA)
    pieces = [_mended(before)]
    for section in sections:
        verbatim, end, after = section.partition(b"]]>")
        pieces += [_CDATA, verbatim, end, _mended(after)]
    return b"".join(pieces)


def _mended(markup: bytes) -> bytes:
    return _SURROGATE.sub(b"\xef\xbf\xbd", _BARE_AMPERSAND.sub(b"&amp;", markup))


def _without_doctype(body: bytes) -> bytes:
    start = body.find(b"<!DOCTYPE")
    element = _ELEMENT.search(body)
    if start < 0 or (element is not None and element.start() < start):
        return body
    end = body.find(b">", start)
    opened = body.find(b"[", start, end)
    if opened >= 0:
        closing = _DOCTYPE_END.search(body, opened)
        end = closing.end() - 1 if closing else -1
    if end < 0:
        raise FetchError(Reason.BAD_RESPONSE, "it breaks off within its DOCTYPE")
    return body[:start] + body[end + 1 :]
