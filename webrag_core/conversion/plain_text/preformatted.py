"""Replace every <pre> that holds prose by what its layout means."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from webrag_core.conversion.code_blocks import declared_language
from webrag_core.conversion.code_text import code_text
from webrag_core.conversion.plain_text.elements import TextElements
from webrag_core.conversion.plain_text.verdict import prose_of

# no page has them: `definition_lists.strip_placeholder_marks` took both signs out of its text
_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_MIN_LETTERS = 200  # of less the shape says nothing


def unfold_prose(main: HtmlElement) -> None:
    """Make headings, paragraphs, lists and terms of every <pre> whose text is prose; code in it stays a <pre>."""
    _join_pages(main)
    level = 0
    for element in list(main.iter("pre", *_HEADINGS)):
        if element.tag != "pre":
            level = int(element.tag[1])
        elif element.getparent() is not None and element is not main:
            _unfold(element, level)


def _join_pages(main: HtmlElement) -> None:
    """Make one <pre> of those that are the pages of one text, as archives of RFCs have them."""
    first: HtmlElement | None = None
    for pre in list(main.iter("pre")):
        rules = []
        before = pre.getprevious()
        while before is not None and before.tag == "hr" and not (before.tail or "").strip():
            rules.append(before)
            before = before.getprevious()
        follows = first is not None and before is first and not (first.tail or "").strip()
        if not follows or "newpage" not in (pre.get("class") or "").split():
            first = pre
            continue
        assert first is not None
        for rule in rules:
            rule.drop_tree()
        last = first[-1] if len(first) else None
        if last is None:
            first.text = f"{first.text or ''}\n{pre.text or ''}"
        else:
            last.tail = f"{last.tail or ''}\n{pre.text or ''}"
        first.tail = pre.tail
        first.extend(list(pre))
        pre.tail = None
        pre.drop_tree()


def _unfold(pre: HtmlElement, level: int) -> None:
    text = code_text(pre)
    if len(text) < _MIN_LETTERS or declared_language(pre) or next(pre.iterancestors("td", "th"), None) is not None:
        return
    prose = prose_of(text, is_marked_code=pre.find("code") is not None)
    if prose is None:
        return
    box = TextElements(*prose, _anchors(pre), level=level).build()
    box.tail = pre.tail
    if pre.get("id"):
        box.set("id", pre.get("id") or "")
    parent = pre.getparent()
    assert parent is not None
    parent.replace(pre, box)


def _anchors(pre: HtmlElement) -> dict[int, list[str]]:
    """The ids in a <pre> by the line that they stand on."""
    names: list[str] = []
    for element in pre.iterdescendants():
        name = element.get("id") or (element.get("name") if element.tag == "a" else None)
        if name:
            element.text = f"{_OPEN}{len(names)}{_CLOSE}{element.text or ''}"
            names.append(name)
    anchors: dict[int, list[str]] = {}
    if names:
        for number, line in enumerate(code_text(pre).split("\n")):
            for mark in _MARK.finditer(line):
                anchors.setdefault(number, []).append(names[int(mark[1])])
    return anchors
