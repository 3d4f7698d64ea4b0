"""Frames: those of a frameset, and those of the same site within a page, are links to follow."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import lxml.html
from lxml.html import HtmlElement

from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError

_FRAMESET = re.compile(r"<frameset[\s>]", re.IGNORECASE)
_FRAMESET_TAGS = re.compile(r"</?(?:frameset|noframes)(?:\s[^<>]*)?>", re.IGNORECASE)
_NO_SIZE = re.compile(r"\s*[01](?:px)?\s*\Z")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def without_framesets(html: str) -> str:
    """Take the tags of framesets out of a page that has some: the parser takes `noframes` for text, mark-up and all."""
    return _FRAMESET_TAGS.sub(" ", html) if _FRAMESET.search(html) else html


def link_frames(document: HtmlElement, base_url: str, page_url: str) -> None:
    """Make links of the frames that show another page of the same host, and drop text that no browser shows.

    The words of a link are the frame's title, its name, or the last part of its address.
    """
    for element in list(document.iter("noframes")):
        element.drop_tree()
    frames = list(document.iter("frame", "iframe"))
    body = document.find("body")
    if body is None and frames:
        body = lxml.html.Element("body")
        document.append(body)
    outside = [frame for frame in frames if frame.getparent() is document]  # of a frameset
    if body is not None and outside:
        body[:0] = outside
        body[len(outside) - 1].tail, body.text = body.text, None
    for frame in frames:
        address = _address(frame, base_url)
        parent = frame.getparent()
        if parent is None or address is None or (frame.tag == "iframe" and not _is_shown(frame, address, page_url)):
            continue
        box, link = lxml.html.Element("div"), lxml.html.Element("a", href=address)
        link.text = _name(frame, address)
        box.append(link)
        box.tail = frame.tail
        parent.replace(frame, box)


def _address(frame: HtmlElement, base_url: str) -> str | None:
    try:
        return canonicalise((frame.get("src") or "").strip(), base_url) if frame.get("src") else None
    except FetchError:  # about:blank, a script, malformed
        return None


def _is_shown(frame: HtmlElement, address: str, page_url: str) -> bool:
    """Whether a frame within a page is of the same host and has a size."""
    if urlsplit(address).netloc != urlsplit(page_url).netloc or address == page_url:
        return False
    if any(_NO_SIZE.match(frame.get(side) or "") for side in ("width", "height")):
        return False
    is_hidden = frame.get("hidden") is not None or frame.get("aria-hidden") == "true"
    return not is_hidden and _HIDDEN.search(frame.get("style") or "") is None


def _name(frame: HtmlElement, address: str) -> str:
    for written in (frame.get("title"), frame.get("name")):
        if written and written.strip():
            return " ".join(written.split())
    return urlsplit(address).path.rstrip("/").rpartition("/")[2] or address
