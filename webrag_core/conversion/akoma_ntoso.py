"""Akoma Ntoso (OASIS LegalDocML 3.0) to HTML, which is then converted as any other page.

Parts of the hierarchy that have a heading, and articles and sections, become headings; numbers of smaller parts stand
before their text. What the document states about itself (identifiers, dates, what it changes) becomes JSON-LD of
schema.org's `Legislation`. Tables of contents and metadata of the mark-up are left out, notes stand in brackets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lxml import etree
from lxml.etree import _Element as Element

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.legal_xml import LANGUAGES
from webrag_core.errors import FetchError, Reason

MAX_BYTES = 20_000_000
"""Of one document."""

_HEADED = frozenset(["article", "book", "chapter", "part", "section", "title", "tome"])
_HIERARCHY = _HEADED | frozenset(
    re.findall(
        r"\w+",
        """
    alinea clause division hcontainer indent level list paragraph point proviso rule subchapter subclause
    subdivision sublist subparagraph subpart subrule subsection subtitle transitional item recital citation
    """,
    )
)
_INLINE = frozenset(
    re.findall(
        r"\w+",
        """
    a abbr affectedDocument argument b change concept courtType date decoration def del docAuthority docCommittee
    docDate docIntroducer docJurisdiction docNumber docProponent docPurpose docStage docStatus docTitle docType
    docketNumber embeddedText entity event fillIn i inline ins judge lawyer legislature location mmod mod mref
    neutralCitation object omissis opinion organization outcome party person placeholder process quantity
    quotedText recordedTime ref relatedDocument remark rmod role rref session shortTitle signature span sub sup
    term time u vote witness
    """,
    )
)
_MARKS = frozenset(["b", "i", "sub", "sup"])
_LEFT_OUT = frozenset(["img", "marker", "meta", "noteRef", "toc", "tocItem"])
_COPIED = frozenset(["caption", "li", "ol", "table", "td", "th", "tr", "ul"])
_BREAKS = frozenset(["br", "eol", "eop"])
_LEGISLATION = frozenset(["act", "amendment", "bill", "documentCollection", "portion"])
_SPACE = re.compile(r"\s+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_IN_FORCE = re.compile(r"force|commencement|vigore|vigueur|efficacy", re.IGNORECASE)
_REPEAL = re.compile(r"repeal|abrogat|expir", re.IGNORECASE)
_MOST_CHANGES = 400


def to_html(page: AcquiredPage) -> bytes:
    """A plugin of the group `webrag.formats`. Raises FetchError as `akoma_ntoso_to_html`."""
    return akoma_ntoso_to_html(page.body)


def akoma_ntoso_to_html(body: bytes) -> bytes:
    """The document as one HTML page in UTF-8. Raises FetchError(PARSE_FAILURE) for what is no Akoma Ntoso, for
    malformed XML and for what is nested too deeply, FetchError(TOO_LARGE) for more than `MAX_BYTES`."""
    root, document = _document(body)
    title = _title(document)
    writer = _Writer()
    try:
        writer.content(root)
    except RecursionError:
        raise FetchError(Reason.PARSE_FAILURE, "the document is nested too deeply") from None
    writer.end_paragraph()
    statements = json.dumps(_legislation(document, title), ensure_ascii=True).replace("<", "\\u003c")
    page = _element("html", lang=_language(document))
    head = _element("head", within=page)
    _element("title", title, within=head)
    _element("script", statements, within=head, type="application/ld+json")
    main = _element("main", within=_element("body", within=page))
    _element("h1", title, within=main)
    main.extend(writer.root)
    html: bytes = etree.tostring(page, encoding="utf-8", method="html", doctype="<!doctype html>")
    return html


def _document(body: bytes) -> tuple[Element, Element]:
    """The root element, and the act, bill, judgment, … that comes first in it; components may follow. No entity is
    resolved, nothing is loaded."""
    if len(body) > MAX_BYTES:
        raise FetchError(Reason.TOO_LARGE, f"the document has more than {MAX_BYTES // 1_000_000} MB")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(body, parser)
    except etree.XMLSyntaxError as error:
        raise FetchError(Reason.PARSE_FAILURE, f"the document is no well-formed XML: {error.msg}") from error
    document = next((child for child in root if isinstance(child.tag, str)), None)
    if _name(root) != "akomaNtoso" or document is None:
        raise FetchError(Reason.PARSE_FAILURE, "the document is no Akoma Ntoso")
    return root, document


@dataclass(slots=True)
class _Writer:
    """Writes HTML in the order of the document. A paragraph is open while its text comes; a block ends it."""

    root: list[Element] = field(default_factory=list)
    _containers: list[Element] = field(default_factory=list)
    _inline: list[Element] = field(default_factory=list)  # the open paragraph and the marks open in it
    _number: str = ""  # that stands before the next text
    _level: int = 1

    def content(self, element: Element) -> None:
        """What is in the element."""
        self.text(element.text)
        for child in element:
            if isinstance(child.tag, str):
                self.element(child)
            self.text(child.tail)

    def element(self, element: Element) -> None:
        """One element."""
        name = _name(element)
        if name in _LEFT_OUT:
            return
        if name in _BREAKS:
            self.text(" ")
        elif name == "authorialNote":
            self.text(f" [{_text(element)}] ")
        elif name == "num":
            self._number = f"{self._number} {_text(element)}".strip()
        elif name in ("heading", "subheading"):
            self._paragraph(element, "b")
        elif name in ("ref", "a") and element.get("href"):
            self._mark(element, _element("a", href=element.get("href", "")))
        elif name in _MARKS:
            self._mark(element, _element(name))
        elif name in ("quotedText", "quotedStructure"):
            self._quoted(element, block=name == "quotedStructure")
        elif name in _INLINE:
            self.content(element)
        elif name in _COPIED:
            self._block(element, etree.Element(name, _spans(element)))
        elif name in _HIERARCHY:
            self._part(element, name)
        else:
            self._paragraph(element)

    def text(self, text: str | None) -> None:
        """Text of the document; white space alone opens no paragraph."""
        text = _SPACE.sub(" ", text or "")
        if not self._inline and not text.strip():
            return
        self._open()
        at = self._inline[-1]
        if len(at):
            at[-1].tail = (at[-1].tail or "") + text
        else:
            at.text = (at.text or "") + text

    def end_paragraph(self) -> None:
        """Close the open paragraph, if any; a number without a text becomes one."""
        if self._number:
            self._open()
        self._inline = []

    def _open(self) -> None:
        """A paragraph, if none is open; it begins with the number that waits for it."""
        if not self._inline:
            self._inline = [self._append(_element("p"))]
        if self._number:
            number, self._number = f"{self._number} ", ""
            self.text(number)

    def _append(self, element: Element) -> Element:
        if self._containers:
            self._containers[-1].append(element)
        else:
            self.root.append(element)
        return element

    def _paragraph(self, element: Element, mark: str | None = None) -> None:
        """What comes before and behind it are paragraphs of their own; a number that waits opens its text."""
        self._inline = []
        if mark is None:
            self.content(element)
        else:
            self._mark(element, _element(mark))
        self._inline = []

    def _mark(self, element: Element, mark: Element) -> None:
        if not _text(element):
            return
        self._open()
        self._inline[-1].append(mark)
        self._inline.append(mark)
        self.content(element)
        if self._inline and self._inline[-1] is mark:
            self._inline.pop()

    def _quoted(self, element: Element, *, block: bool) -> None:
        if block:
            self.end_paragraph()
            self._containers.append(self._append(_element("blockquote")))
        self.text(element.get("startQuote"))
        self.content(element)
        self.text(element.get("endQuote"))
        if block:
            self.end_paragraph()
            self._containers.pop()

    def _block(self, element: Element, block: Element) -> None:
        self.end_paragraph()
        self._containers.append(self._append(block))
        self.content(element)
        self.end_paragraph()
        self._containers.pop()

    def _part(self, element: Element, name: str) -> None:
        """A part of the hierarchy, under its heading or behind its number."""
        self._inline = []
        heading = _child(element, "heading")
        number = _child(element, "num")
        headed = heading is not None or (name in _HEADED and number is not None)
        quoted = any(container.tag == "blockquote" for container in self._containers)
        if not headed or quoted:
            self.content(element)
            self.end_paragraph()
            return
        self.end_paragraph()
        self._level += 1
        title = " ".join(_text(item) for item in (number, heading) if item is not None)
        head = _element(f"h{min(self._level, 6)}", title)
        if element.get("eId"):
            head.set("id", element.get("eId", ""))
        self._append(head)
        for child in element:
            if isinstance(child.tag, str) and child not in (number, heading):
                self.element(child)
            self.text(child.tail)
        self.end_paragraph()
        self._level -= 1


def _name(element: Element) -> str:
    name: str = etree.QName(element).localname
    return name


def _text(element: Element) -> str:
    """All text inside, notes and mark-up left out."""
    return _SPACE.sub(" ", "".join(_texts(element))).strip()


def _texts(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if isinstance(child.tag, str):
            name = _name(child)
            if name in _BREAKS:
                yield " "
            elif name != "authorialNote" or _name(element) == "authorialNote":
                yield from _texts(child)
        yield child.tail or ""


def _element(tag: str, text: str | None = None, *, within: Element | None = None, **attributes: str) -> Element:
    """A new element, in another one where `within` is given."""
    element = etree.Element(tag, attributes) if within is None else etree.SubElement(within, tag, attributes)
    element.text = text
    return element


def _spans(element: Element) -> dict[str, str]:
    return {key: element.get(key, "") for key in ("colspan", "rowspan") if element.get(key, "").isdigit()}


def _child(element: Element, name: str) -> Element | None:
    return next((child for child in element if isinstance(child.tag, str) and _name(child) == name), None)


def _descendants(element: Element, *names: str) -> Iterator[Element]:
    return (item for item in element.iter() if isinstance(item.tag, str) and _name(item) in names)


def _title(document: Element) -> str:
    for name in ("shortTitle", "docTitle"):
        title = next((text for descendant in _descendants(document, name) if (text := _text(descendant))), "")
        if title:
            return title
    work = next(_descendants(document, "FRBRWork"), None)
    if work is None:
        return _name(document)
    names = dict.fromkeys([_value(work, "FRBRname"), _value(work, "FRBRnumber")])
    return " ".join(filter(None, names)) or _value(work, "FRBRuri") or _name(document)


def _language(document: Element) -> str:
    stated: str = next((descendant.get("language", "") for descendant in _descendants(document, "FRBRlanguage")), "")
    return str(LANGUAGES.get(stated.casefold(), stated))


def _value(within: Element, name: str) -> str:
    child = _child(within, name)
    return "" if child is None else (child.get("value") or child.get("date") or "").strip()


def _legislation(document: Element, title: str) -> dict[str, Any]:
    """What the document states about itself, in the words of schema.org; of judgments, debates and the like only their
    names and dates."""
    is_law = _name(document) in _LEGISLATION
    kind = "Legislation" if is_law else "CreativeWork"
    statements: dict[str, Any] = {"@context": "https://schema.org", "@type": kind, "name": title}
    work = next(_descendants(document, "FRBRWork"), None)
    if work is not None:
        aliases = [item.get("value", "") for item in work if isinstance(item.tag, str) and _name(item) == "FRBRalias"]
        identifiers = [text for text in dict.fromkeys([_value(work, "FRBRuri"), *aliases]) if text]
        statements["legislationIdentifier" if is_law else "identifier"] = identifiers
        statements |= {"legislationDate": _date(work)} if is_law else {}
    expression = next(_descendants(document, "FRBRExpression"), None)
    if expression is not None:
        statements["@id"] = _value(expression, "FRBRuri")
        statements["legislationDateVersion" if is_law else "dateCreated"] = _date(expression)
    published = next((descendant.get("date", "") for descendant in _descendants(document, "publication")), "")
    statements["datePublished"] = published if _DATE.fullmatch(published) else None
    statements |= _force_and_changes(document) if is_law else {}
    return {key: value for key, value in statements.items() if value}


def _force_and_changes(document: Element) -> dict[str, Any]:
    """When a law begins and ends to hold, and which others it changes."""
    events = [(descendant.get("date", "")[:10], _what(descendant)) for descendant in _descendants(document, "eventRef")]
    dated = [(date, what) for date, what in events if _DATE.fullmatch(date)]
    targets = (
        descendant.get("href", "").partition("#")[0]
        for changes in _descendants(document, "activeModifications")
        for descendant in _descendants(changes, "destination")
    )
    works = list(dict.fromkeys(f"/{work}" if work.startswith("akn/") else work for work in targets if work))
    return {
        "validFrom": next((date for date, what in dated if _IN_FORCE.search(what)), None),
        "validThrough": next((date for date, what in dated if _REPEAL.search(what)), None),
        "legislationChanges": [{"@type": "Legislation", "@id": work} for work in works[:_MOST_CHANGES]],
    }


def _what(event: Element) -> str:
    return f"{event.get('type', '')} {event.get('refersTo', '')}"


def _date(within: Element) -> str | None:
    date: str = next((descendant.get("date", "")[:10] for descendant in _descendants(within, "FRBRdate")), "")
    return date if _DATE.fullmatch(date) else None
