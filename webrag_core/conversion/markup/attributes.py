"""Microdata and RDFa Lite: nodes that attributes of the page's own elements describe."""

from __future__ import annotations

from dataclasses import dataclass

from lxml.html import HtmlElement

from webrag_core.conversion.markup.builder import MarkupBuilder, resolve_identifier
from webrag_core.conversion.markup.models import MAX_DEPTH, MAX_TEXT, Syntax

_MOST_PROPERTIES = 5_000
_LINKS = frozenset({"a", "area", "link"})
_NAMES = frozenset({"name", "headline"})  # of a link the words, not the address
_NO_VALUE = frozenset({"img", "audio", "video", "source", "iframe", "embed", "object", "script", "style"})


@dataclass(frozen=True, slots=True)
class _Attributes:
    """Names of the attributes of one syntax: that make an element a node, name its types, its property, its id."""

    syntax: Syntax
    scope: str
    types: str
    property: str
    identifier: str


_SYNTAXES = (
    _Attributes("microdata", "itemscope", "itemtype", "itemprop", "itemid"),
    _Attributes("RDFa", "typeof", "typeof", "property", "resource"),
)


def take_attributes(document: HtmlElement, builder: MarkupBuilder) -> None:
    """Add the nodes of both syntaxes. `itemref`, `rel` and prefixes other than in names are not read."""
    for names in _SYNTAXES:
        if document.xpath(f"boolean(descendant-or-self::*[@{names.scope}])"):
            _take(document, names, builder)


def _take(document: HtmlElement, names: _Attributes, builder: MarkupBuilder) -> None:
    places: dict[HtmlElement, tuple[int, int]] = {}  # of elements that are nodes: place, depth
    properties = 0
    for element in document.xpath(f"descendant-or-self::*[@{names.scope} or @{names.property}]"):
        types = (element.get(names.types) or "").split()
        is_node = element.get(names.scope) is not None and not any(kind.startswith("mw:") for kind in types)
        written = (element.get(names.property) or "").split()
        outer = _enclosing(element, places) if written or is_node else None
        if is_node:
            depth = outer[1] + 1 if outer is not None and written else 0
            if depth >= MAX_DEPTH:
                builder.note("nested_too_deeply")
                continue
            place = builder.node(names.syntax, element.get(names.identifier), types, top=depth == 0)
            if place is None:
                return
            places[element] = (place, depth)
            value: str | int | None = place
        else:
            value = None
        if outer is None or not written:
            continue
        properties += len(written)
        if properties > _MOST_PROPERTIES:
            builder.note("too_large")
            return
        for name in written:
            content = value if value is not None else _value(element, name, builder.base_url)
            if content is not None:
                builder.add(outer[0], name, content)


def _enclosing(element: HtmlElement, places: dict[HtmlElement, tuple[int, int]]) -> tuple[int, int] | None:
    return next((places[above] for above in element.iterancestors() if above in places), None)


def _value(element: HtmlElement, name: str, base_url: str) -> str | None:
    written: str | None = element.get("content")
    if written is not None:
        return written
    if element.tag in _NO_VALUE:
        return None
    if element.tag in _LINKS and name not in _NAMES:
        return resolve_identifier(element.get("href") or "", base_url)
    attribute = {"time": "datetime", "data": "value", "meter": "value"}.get(str(element.tag))
    written = element.get(attribute) if attribute is not None else None
    return written or _text(element)


def _text(element: HtmlElement) -> str | None:
    """Its text; None for one that is too long for a name, of which no more than needed is read."""
    pieces: list[str] = []
    length = 0
    for piece in element.itertext():
        pieces.append(str(piece))
        length += len(piece)
        if length > 4 * MAX_TEXT:
            return None
    return "".join(pieces)
