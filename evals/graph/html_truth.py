"""What the HTML of Sphinx and DocBook pages says about structure: ids, nesting, link targets, "see also" boxes.

The Markdown has none of it: ids and boxes are dropped by the conversion, so nothing here comes from what extraction
reads.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import lxml.html
from lxml.html import HtmlElement

from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError
from webrag_core.indexing.graph.relations import MENTIONS_PER_SECTION

_SPACE = re.compile(r"\s+")
_AROUND = ("navheader", "navfooter")  # of DocBook: no text of the page
_SECTION = re.compile(r"sect[1-5]|refsect[1-3]")


@dataclass(slots=True)
class PageTruth:
    """Structure of one page: sections as (title, titles of the sections in it), symbols (id) with their members,
    targets of links in the text, those that name a fragment as code (in sections with so few names in code that all are
    mentions), and those of its "see also" boxes."""

    url: str
    sections: list[tuple[str, list[str]]] = field(default_factory=list)
    members: dict[str, list[str]] = field(default_factory=dict)
    links: set[str] = field(default_factory=set)
    code_links: set[tuple[str, str]] = field(default_factory=set)
    see_also: set[str] = field(default_factory=set)


def read_truth(url: str, body: bytes) -> PageTruth:
    """Read the structure of a page of Sphinx (`div role=main`) or DocBook."""
    document = lxml.html.document_fromstring(body)
    mains = [box for box in document.iter("div") if box.get("role") == "main" or box.get("id") == "docContent"]
    truth = PageTruth(url)
    main = mains[0] if mains else document
    for element in main.iter("section", "div"):
        if _is_section(element):
            truth.sections.append((_title(element), [_title(child) for child in _inner_sections(element)]))
    for name, members in _symbols(main):
        truth.members[name] = members
    names: dict[HtmlElement | None, set[str]] = defaultdict(set)
    for code in main.iter("code"):
        names[_section_of(code)].add("".join(str(text) for text in code.itertext()))
    for anchor in main.iter("a"):
        if "headerlink" in (anchor.get("class") or "") or not "".join(str(text) for text in anchor.itertext()).strip():
            continue
        if any((above.get("class") or "") in _AROUND for above in anchor.iterancestors("div")):
            continue
        target, fragment = _target(url, anchor)
        if target is None or target == url:
            continue
        truth.links.add(target)
        if fragment and anchor.find("code") is not None and len(names[_section_of(anchor)]) <= MENTIONS_PER_SECTION:
            truth.code_links.add((target, fragment))
        if any("seealso" in (above.get("class") or "").split() for above in anchor.iterancestors("div")):
            truth.see_also.add(target)
    return truth


def _is_section(element: HtmlElement) -> bool:
    if element.tag == "section":
        return element.get("id") is not None
    return bool(_SECTION.fullmatch(element.get("class") or ""))


def _section_of(element: HtmlElement) -> HtmlElement | None:
    return next((above for above in element.iterancestors() if _is_section(above)), None)


def _inner_sections(element: HtmlElement) -> Iterator[HtmlElement]:
    """Sections within `element` that lie in no other section within it."""
    for child in element:
        if not isinstance(child.tag, str):
            continue
        if _is_section(child):
            yield child
        elif child.tag == "div":
            yield from _inner_sections(child)


def _title(section: HtmlElement) -> str:
    for heading in section.iter("h1", "h2", "h3", "h4", "h5", "h6"):
        for link in list(heading.iter("a")):
            if "headerlink" in (link.get("class") or ""):
                link.text = ""
        return _SPACE.sub(" ", "".join(str(text) for text in heading.itertext())).strip()
    return ""


def _symbols(main: HtmlElement) -> Iterator[tuple[str, list[str]]]:
    """(id, ids of its members) of every description of an object of the Python domain."""
    for listing in main.iter("dl"):
        classes = (listing.get("class") or "").split()
        if "py" not in classes:
            continue
        names = [term.get("id") for term in listing.findall("dt") if term.get("id")]
        inner = listing.xpath("dd/dl[contains(concat(' ', @class, ' '), ' py ')]/dt/@id")
        for name in names:
            yield name, [str(member) for member in inner] if name == names[0] else []


def _target(url: str, anchor: HtmlElement) -> tuple[str | None, str]:
    try:
        address, _, fragment = (anchor.get("href") or "").partition("#")
        return (canonicalise(address, url) if address else url), fragment
    except FetchError:
        return None, ""
