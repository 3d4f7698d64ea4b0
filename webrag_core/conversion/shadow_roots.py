"""Declarative shadow roots: what a browser shows of an element is its shadow root, with its children in the slots."""

from __future__ import annotations

from collections.abc import Iterable

import lxml.html
from lxml.html import HtmlElement

_ROOTS = "descendant::template[@shadowrootmode or @shadowroot]"


def show_shadow_roots(document: HtmlElement) -> None:
    """Put the content of each shadow root into its host, and the host's own content into the slots.

    A slot that gets no content shows its own. Content without a slot stays behind the shadow root: sites keep text
    there for readers that know no shadow roots.
    """
    if next(document.iter("template"), None) is None:
        return
    shown: set[HtmlElement] = set()
    slots: dict[HtmlElement | None, list[HtmlElement]] = {}  # by the root that they stand in
    for slot in document.iter("slot"):
        slots.setdefault(next(slot.iterancestors("template"), None), []).append(slot)
    for template in document.xpath(_ROOTS):
        host = template.getparent()
        if host is not None and host not in shown:  # of several roots of a host the first one counts
            shown.add(host)
            _show(host, template, slots.get(template, ()))


def _show(host: HtmlElement, template: HtmlElement, slots: Iterable[HtmlElement]) -> None:
    by_slot = _take_content(host, template)
    host.text = template.text
    host.extend(list(template))
    for slot in slots:
        content = by_slot.pop(slot.get("name") or "", None)
        slot.tag = "span"
        if content:
            del slot[:]
            slot.text = None
            slot.extend(content)
    for rest in by_slot.values():
        host.extend(rest)


def _take_content(host: HtmlElement, template: HtmlElement) -> dict[str, list[HtmlElement]]:
    """Take everything but the shadow root out of a host, by the name of the slot that it is for ("" = the unnamed)."""
    content: dict[str, list[HtmlElement]] = {}
    _add_text(content, host.text)
    for child in list(host):
        tail, child.tail = child.tail, None
        host.remove(child)
        if child is not template and isinstance(child.tag, str):
            content.setdefault(child.get("slot") or "", []).append(child)
        _add_text(content, tail)
    return content


def _add_text(content: dict[str, list[HtmlElement]], text: str | None) -> None:
    if text and text.strip():
        span = lxml.html.Element("span")
        span.text = text
        content.setdefault("", []).append(span)
