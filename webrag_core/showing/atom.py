"""Feeds as Atom (RFC 4287): all text escaped, what XML cannot hold left out."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree import ElementTree

from webrag_core.page_text import one_line

MEDIA_TYPE = "application/atom+xml"
_NAMESPACE = "http://www.w3.org/2005/Atom"
_AUTHOR = "WebRAG"
_LONGEST_TITLE = 300


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """What happened. `subject` names it for good, `link` is the absolute address of its page here, `about` that of the
    page of the web that it is about."""

    subject: str
    title: str
    summary: str
    updated: datetime
    link: str
    about: str | None = None


def render_feed(*, subject: str, title: str, link: str, feed: str, entries: Sequence[FeedEntry]) -> str:
    """The document. `link` is the absolute address of the page that shows the same, `feed` that of the feed itself. One
    without entries is of the beginning of this day."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    root = ElementTree.Element("feed", {"xmlns": _NAMESPACE})
    _text(root, "id", _identifier(subject))
    _text(root, "title", one_line(title)[:_LONGEST_TITLE])
    _text(root, "updated", _stamp(max((entry.updated for entry in entries), default=today)))
    _text(ElementTree.SubElement(root, "author"), "name", _AUTHOR)
    ElementTree.SubElement(root, "link", {"rel": "self", "type": MEDIA_TYPE, "href": one_line(feed)})
    ElementTree.SubElement(root, "link", {"rel": "alternate", "type": "text/html", "href": one_line(link)})
    for entry in entries:
        element = ElementTree.SubElement(root, "entry")
        _text(element, "id", _identifier(entry.subject))
        _text(element, "title", one_line(entry.title)[:_LONGEST_TITLE])
        _text(element, "updated", _stamp(entry.updated))
        ElementTree.SubElement(element, "link", {"rel": "alternate", "type": "text/html", "href": one_line(entry.link)})
        if entry.about is not None:
            ElementTree.SubElement(element, "link", {"rel": "related", "href": one_line(entry.about)})
        _text(element, "summary", one_line(entry.summary))
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _text(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, name).text = text


def _identifier(subject: str) -> str:
    """The same for the same subject, whatever the address of the server (RFC 4122, version 5)."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"webrag:{subject}").urn


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
