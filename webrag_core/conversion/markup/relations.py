"""Relations of a page to others that its head or its Link header states: canonical, latest-version and the like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from lxml.html import HtmlElement

from webrag_core.acquisition.urls import canonicalise
from webrag_core.conversion.markup.models import MAX_IDENTIFIER
from webrag_core.errors import FetchError

RELATIONS = frozenset({"canonical", "latest-version", "successor-version", "predecessor-version"})
"""What is read; RFC 5829 defines those of versions."""
_MOST = 20
# RFC 8288: `<target>; name=value; name="value", <target> …`
_LINK_VALUE = re.compile(r"<([^<>]*)>((?:[^\",<]|\"(?:[^\"\\]|\\.)*\")*)")
_PARAMETER = re.compile(r";\s*([\w!#$&+.^`|~*-]+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;,\"]+))")


def header_relations(headers: Mapping[str, str], final_url: str) -> tuple[tuple[str, str], ...]:
    """(relation, canonical URL) of a `Link` header (RFC 8288); names of headers in lower case."""
    return tuple(_usable(_written(headers.get("link", "")), final_url))


def page_relations(
    document: HtmlElement, base_url: str, from_header: tuple[tuple[str, str], ...] = ()
) -> tuple[tuple[str, str], ...]:
    """(relation, canonical URL) of the page's head, after those of its header; each once, at most 20."""
    links = ((link.get("rel") or "", link.get("href") or "") for link in document.xpath("/html/head/link[@rel][@href]"))
    return tuple(dict.fromkeys((*from_header, *_usable(links, base_url))))[:_MOST]


def _written(header: str) -> Iterator[tuple[str, str]]:
    for target, parameters in _LINK_VALUE.findall(header):
        parameters = {name.lower(): quoted or plain for name, quoted, plain in _PARAMETER.findall(parameters)}
        if "anchor" not in parameters:  # it makes it a statement about another page
            yield parameters.get("rel", ""), target


def _usable(links: Iterator[tuple[str, str]], base_url: str) -> Iterator[tuple[str, str]]:
    for written, target in links:
        for relation in sorted(RELATIONS.intersection(written.lower().split())):
            try:
                url = canonicalise(target.strip(), base_url) if target.strip() else None
            except FetchError:
                url = None
            if url is not None and len(url) <= MAX_IDENTIFIER:
                yield relation, url
