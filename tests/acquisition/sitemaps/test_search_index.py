"""Search indexes that documentation generators ship: where a page says they are, and what is taken from them."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from typing import Any

import pytest

from evals.walks.goldens import DEFAULT_SITE
from tests.acquisition.local_server import reply
from tests.acquisition.served_map import HOST, inventory, mapped
from webrag_core.acquisition.sitemaps import search_index
from webrag_core.acquisition.sitemaps.listing import Listing
from webrag_core.acquisition.sitemaps.search_index import find_search_index, read_search_index
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.errors import FetchError, Reason

PAGE = "https://h.example/docs/guide/page.html"

SPHINX = {
    "docnames": ["index", "guide/first", "guide/index"],
    "filenames": ["index.rst", "guide/first.rst", "guide/index.rst"],
    "titles": ["Manual", "First <em>steps</em>", "Guide"],
    "titleterms": {"manual": 0, "first": 1, "step": 1, "guid": 2},
    "terms": {"brew": [0, 1], "tea": 1, "oolong": [1, 7, -1, "x"]},
}
MKDOCS = {
    "config": {"lang": ["en"]},
    "docs": [
        {"location": "", "title": "Home", "text": "<p>Tea house</p>"},
        {"location": "oolong/", "title": "Oolong", "text": "About the leaves"},
        {"location": "oolong/#brewing", "title": "Brewing", "text": "<p>Three <b>minutes</b></p>"},
    ],
}
MDBOOK = {
    "doc_urls": ["index.html#tea", "oolong.html#oolong", "oolong.html#brewing"],
    "index": {
        "documentStore": {
            "docs": {
                "0": {"body": "Tea house", "breadcrumbs": "Tea", "id": "0", "title": "Tea"},
                "1": {"body": "About the leaves", "breadcrumbs": "Oolong", "id": "1", "title": "Oolong"},
                "2": {"body": "Three minutes", "breadcrumbs": "Oolong » Brewing", "id": "2", "title": "Brewing"},
            }
        }
    },
}
LIST = [{"title": "Oolong", "permalink": "/oolong/", "content": "Three minutes"}, {"title": "No address"}]


@pytest.mark.parametrize(
    ("html", "url"),
    [
        ('<script src="../_static/documentation_options.js?v=1"></script>', "/docs/searchindex.js"),
        ("<script data-url_root='./' src='/_static/documentation_options.js'></script>", "/searchindex.js"),
        ('<script src="_static/documentation_options.js"></script>', "/docs/guide/searchindex.js"),
        ('<script>var path_to_root = "../";</script>', "/docs/searchindex.json"),
        ('<script>const path_to_root = "";</script>', "/docs/guide/searchindex.json"),
        (
            """<script>const path_to_root = "../"; window.path_to_searchindex_js = "searchindex-1f.js";</script>""",
            "/docs/searchindex-1f.js",
        ),
        (
            '<meta name="generator" content="mkdocs-1.6.1, mkdocs-material-9.7.7">'
            '<script id="__config" type="application/json">{"annotate": null, "base": "..", "features": []}</script>',
            "/docs/search/search_index.json",
        ),
        (
            '<meta name="generator" content="mkdocs-1.5"><script>var base_url = ".";</script>',
            "/docs/guide/search/search_index.json",
        ),
        ('<meta data-rh="true" name=generator content="Docusaurus v3.1">', "/search-index.json"),
        ('<meta name="generator" content="Hugo 0.120.4">', "/index.json"),
        ("<html><head><title>A page</title></head></html>", None),
        ('<meta name="generator" content="mkdocs-1.5"><script id="__config">{"base": [</script>', None),
        ('<meta name="generator" content="WordPress 6.4">', None),
        ('<script src="https://other.example:99999/_static/documentation_options.js"></script>', None),
    ],
)
def test_a_page_says_by_its_generator_where_the_index_is(html: str, url: str | None) -> None:
    place = find_search_index(html, PAGE)
    assert (None if place is None else place.url.removeprefix("https://h.example")) == url


def test_a_sphinx_page_says_what_the_urls_of_its_documents_end_in() -> None:
    options = '<script src="../_static/documentation_options.js"></script><link rel="index" href="../genindex{}">'
    suffixes = []
    for end in (".html", "/"):
        place = find_search_index(options.format(end), PAGE)
        assert place is not None
        assert place.root == "https://h.example/docs/"
        suffixes.append(place.suffix)
    assert suffixes == [".html", "/"]


def read(data: Any, suffix: str = ".html") -> Listing:
    body = data if isinstance(data, bytes) else (data if isinstance(data, str) else json.dumps(data)).encode()
    return read_search_index(body, suffix, time.monotonic() + 60)


def shown(listing: Listing) -> dict[str, tuple[str | None, set[str]]]:
    return {page.url: (page.title, set(page.words.split())) for page in listing.pages}


@pytest.mark.parametrize(
    "text",
    [
        f"Search.setIndex({json.dumps(SPHINX)})",
        f"Search.setIndex({{docnames:{json.dumps(SPHINX['docnames'])},titles:{json.dumps(SPHINX['titles'])},"
        "titleterms:{manual:0,first:1,step:1,guid:2},terms:{brew:[0,1],tea:1,oolong:[1]}})",
    ],
)
def test_sphinx(text: str) -> None:
    pages = shown(read(text))
    assert pages["guide/first.html"] == ("First steps", {"first", "step", "brew", "tea", "oolong"})
    assert pages["index.html"] == ("Manual", {"manual", "brew"})
    assert set(shown(read(text, "/"))) == {"", "guide/first/", "guide/"}


@pytest.mark.parametrize(
    ("data", "home", "page"),
    [
        (MKDOCS, "../", "../oolong/"),
        (MDBOOK, "index.html", "oolong.html"),
        (f"Object.assign(window.search, {json.dumps(MDBOOK)});", "index.html", "oolong.html"),
        (f"window.search = {json.dumps(MDBOOK)};", "index.html", "oolong.html"),
        (
            f"window.search = Object.assign(window.search, JSON.parse('{json.dumps(MDBOOK)}'));",
            "index.html",
            "oolong.html",
        ),
    ],
)
def test_the_sections_of_a_page_are_read_together(data: Any, home: str, page: str) -> None:
    listing = read(data)
    pages = shown(listing)
    assert set(pages) == {home, page}
    words = pages[page][1]
    assert {"oolong", "about", "leaves", "brewing", "three", "minutes"} <= words
    assert not words & {"<p>three", "b"}
    assert {one.description for one in listing.pages} == {"Tea house", "About the leaves"}


def test_lists_of_records() -> None:
    listing = read(LIST)
    assert shown(listing) == {"/oolong/": ("Oolong", {"oolong", "three", "minutes"})}
    assert listing.invalid == 1
    parts = [{"documents": [{"i": 1, "t": "Oolong", "u": "/oolong", "b": ["Tea"]}], "index": {}}]
    assert set(shown(read(parts))) == {"/oolong"}
    assert set(shown(read({"0": LIST[0]}))) == {"/oolong/"}


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{}", b"[]", b"null", b"7", b"alert(1)", b'{"docnames": [', b"[" * 200_000,
        b'{"docnames": [null, 3, ""]}',         b'{"docs": [7, {"location": 7}]}',
        b'{"doc_urls": ["a"], "index": {"documentStore": {"docs": {"9": {}}}}}',
        b'{"docs": [{"location": "' + b"a" * 9_000 + b'"}]}', "﻿<!doctype html>".encode(),
    ],
)  # fmt: skip
def test_what_is_no_index_is_refused_with_a_reason(body: bytes) -> None:
    with pytest.raises(FetchError) as caught:
        read(body)
    assert caught.value.reason is Reason.BAD_RESPONSE


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        '{"a' + '\\"' * 2_000_000,
        "JSON.parse('" * 400_000,
        "{" + ", " * 2_000_000 + "x",
        '{"docnames": ["a"], "terms": {"w": [' + "0," * 3_000_000 + "0]}, x: 1}",
        '{"doc_urls": ["a"], "index": {"documentStore": {"docs": {"' + "9" * 5_000 + '": {}}}}}',
        '{"docnames": ["a"], "terms": {"w": ' + "9" * 5_000 + "}}",
    ],
    ids=["escaped quotes", "calls", "commas", "one document", "long number", "long integer"],
)
def test_an_index_made_to_be_slow_ends_soon(text: str) -> None:
    """Quadratic reading would take hours."""
    with suppress(FetchError):
        assert len(read(text).pages) == 1


@pytest.mark.parametrize(
    "part",
    ["<script ", '<script src="', "<meta ", "<meta generator ", "<meta generator generator content="],
)
def test_a_page_made_to_be_slow_is_searched_soon(part: str) -> None:
    assert find_search_index(part * (300_000 // len(part)), PAGE) is None
    assert find_search_index((part + " src=" * 80 + "generator" * 20) * 400, PAGE) is None


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FetchError) as caught:
        read(b" " * 20_000_001)
    assert caught.value.reason is Reason.TOO_LARGE
    monkeypatch.setattr(search_index, "MAX_ENTRIES", 3)
    monkeypatch.setattr(search_index, "MAX_PAGE_WORDS", 2)
    many = [{"url": f"/{number}", "title": "", "text": f"one two three {'x' * 50}"} for number in range(5)]
    listing = read(many)
    assert listing.cut
    assert len(listing.pages) == 3
    assert {page.words for page in listing.pages} == {"one two"}
    late = read_search_index(json.dumps(SPHINX).encode(), ".html", time.monotonic() - 1)
    assert late.problem == "the time was over"


SPHINX_PAGE = '<html><script src="../_static/documentation_options.js"></script></html>'
PAGES = {
    "/robots.txt": "User-agent: *\nAllow: /\nSitemap: /all.xml",
    "/docs/a/": SPHINX_PAGE,
    "/docs/searchindex.js": reply(f"Search.setIndex({json.dumps(SPHINX)})".encode(), "content-type: text/javascript"),
    "/docs/objects.inv": reply(inventory("guide/first std:doc -1 guide/first.html First steps")),
}


def test_the_index_of_a_site_is_part_of_its_map() -> None:
    found, requests = asyncio.run(mapped(PAGES, "/docs/a/"))
    entries = {entry.url.removeprefix(HOST): entry for entry in found.entries}
    assert entries["/docs/guide/first.html"].words == "first step brew tea oolong"
    assert entries["/docs/guide/first.html"].listed_in == "inventory"
    assert entries["/docs/index.html"].listed_in == "search_index"
    assert requests[2:4] == ["/docs/searchindex.js", "/docs/objects.inv"]


def test_a_brief_reading_requests_only_what_is_named() -> None:
    found, requests = asyncio.run(mapped(PAGES, "/docs/a/", brief=True))
    assert requests == ["/robots.txt", "/docs/a/", "/docs/searchindex.js", "/all.xml"]
    assert len(found.entries) == 3
    found, requests = asyncio.run(mapped({**PAGES, "/docs/searchindex.js": "{"}, "/docs/a/", brief=True))
    assert requests[2:4] == ["/docs/searchindex.js", "/docs/objects.inv"]
    assert [entry.title for entry in found.entries] == ["First steps"]
    found, requests = asyncio.run(mapped({"/robots.txt": "User-agent: *\nAllow: /"}, brief=True))
    assert requests == ["/robots.txt", "/"]
    assert (found.entries, found.warnings) == ((), ())


def test_an_index_that_names_other_hosts_and_one_that_is_broken_are_said() -> None:
    lies = [{"url": "https://evil.example/a", "text": "tea"}, {"url": "/tea", "text": "tea"}]
    hugo = {"/": '<meta name="generator" content="Hugo 0.1">', "/index.json": json.dumps(lies)}
    found, _ = asyncio.run(mapped(hugo))
    assert [entry.url for entry in found.entries] == [f"{HOST}/tea"]
    assert found.warnings == ("sitemap: 1 URLs of other hosts were dropped (evil.example)",)
    found, _ = asyncio.run(mapped({**hugo, "/index.json": "[{"}))
    assert [one for one in found.warnings if one.startswith(f"{HOST}/index.json: ")] != []


def test_the_index_of_a_real_site() -> None:
    site_map = asyncio.run(WarcAcquirer(DEFAULT_SITE).site_map("https://docs.python.org/3.11/", brief=True))
    pages = {entry.url: entry for entry in site_map.entries}
    assert len(pages) > 490
    heap = pages["https://docs.python.org/3.11/library/heapq.html"]
    assert heap.title == "heapq — Heap queue algorithm"
    assert {"heappushpop", "queue"} <= set(heap.words.split())
