"""JSON-LD of a page (`<script type=application/ld+json>`): plain JSON, no context is ever fetched or applied."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lxml.html import HtmlElement

from webrag_core.conversion.markup.builder import MarkupBuilder
from webrag_core.conversion.markup.models import MAX_CHARS, MAX_DEPTH

_MOST_DIGITS = 20
_CONTAINERS = ("@list", "@set", "@graph")


def read_scripts(document: HtmlElement) -> list[tuple[int, Any]]:
    """(characters, parsed value) of each script; the value is None where it is no JSON. NaN and huge numbers are
    None."""
    return [(len(text), _parsed(text)) for text in _texts(document)]


def take_json_ld(scripts: list[tuple[int, Any]], builder: MarkupBuilder) -> None:
    """Add the nodes of the scripts, up to MAX_CHARS of JSON in all: a script that goes beyond is left out whole."""
    room = MAX_CHARS
    for characters, value in scripts:
        if characters > room:
            builder.note("too_large")
        elif value is None:
            builder.note("not_json")
        else:
            room -= characters
            _take_top(value, builder)


def _texts(document: HtmlElement) -> Iterator[str]:
    for script in document.iter("script"):
        kind = (script.get("type") or "").partition(";")[0].strip().lower()
        if kind == "application/ld+json" and (text := (script.text or "").strip()):
            yield text


def _parsed(text: str) -> Any:
    try:
        # line breaks within strings are forbidden, and common
        return json.loads(text, strict=False, parse_int=_number, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None


def _number(digits: str) -> int | None:
    return int(digits) if len(digits) <= _MOST_DIGITS else None


def _take_top(value: Any, builder: MarkupBuilder) -> None:
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, dict):
            continue
        graph = each.get("@graph")
        for node in graph if isinstance(graph, list) else [each]:
            if isinstance(node, dict):
                _take_node(node, builder, depth=0)


def _take_node(value: dict[str, Any], builder: MarkupBuilder, depth: int) -> int | None:
    """Add an object of JSON; return the place of its node."""
    written = value.get("@id")
    types = value.get("@type")
    place = builder.node(
        "JSON-LD",
        written if isinstance(written, str) else None,
        [kind for kind in (types if isinstance(types, list) else [types]) if isinstance(kind, str)],
        top=depth == 0,
    )
    if place is None:
        return None
    for name, inner in value.items():
        if name.startswith("@"):
            continue
        for each in _values(inner):
            if isinstance(each, str):
                builder.add(place, name, each)
            elif isinstance(each, int) and not isinstance(each, bool):
                builder.add(place, name, str(each))
            elif isinstance(each, dict):
                if depth + 1 >= MAX_DEPTH:
                    builder.note("nested_too_deeply")
                elif (other := _take_node(each, builder, depth + 1)) is not None:
                    builder.add(place, name, other)
    return place


def _values(value: Any) -> Iterator[Any]:
    """The values of a property, without the boxes that JSON-LD puts around them."""
    for each in value if isinstance(value, list) else [value]:
        box = next((name for name in _CONTAINERS if isinstance(each, dict) and name in each), None)
        if box is not None:
            yield from (inner for inner in (each[box] if isinstance(each[box], list) else [each[box]]))
        elif isinstance(each, dict) and "@value" in each:
            yield each["@value"]
        else:
            yield each
