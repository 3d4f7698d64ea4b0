"""Only pages at or below an address: whatever way it is typed, every door finds the same pages."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from html import unescape

import httpx2
import pytest
from mcp import Client

from tests.acquisition.served_pages import ServedPages, html
from tests.command_line import Webrag, webrag_here
from tests.mcp_server.clients import called, connected, text_of
from tests.mcp_server.tea_site import tea_settings
from tests.web.serving import web_server
from webrag_core.config import Settings
from webrag_core.history.as_of import AsOf
from webrag_core.history.past_search import search_at
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.request import ScopeFilter, SearchRequest
from webrag_core.retrieval.search import CorpusSearch, search
from webrag_core.sync import WebRAG

__all__ = ["webrag_here"]

QUERY = "Where does the lighthouse stand?"
PAGES = {
    "/doc": "The lighthouse stands beside the old harbour. Its keeper lights the lamp when evening comes.",
    "/doc/a": "The lighthouse stands on a rock in the strait. A boat brings bread twice a week.",
    "/doc?page=2": "The lighthouse stands at the end of the pier. The lens was ground in Paris.",
    "/docs-old": "The lighthouse stands empty above the dunes. Nobody has lived there for forty years.",
    "/Doc/": "The lighthouse stands behind the village church. Painters like its red and white.",
    "/new": "The lighthouse stands next to the shop. Tickets are sold there.",
    "http:/doc/b": "The lighthouse stands by the foghorn. Both were built after a wreck.",
    "org/doc": "The lighthouse stands in a lake. No salt ever harms its iron.",
    "8443/doc": "The lighthouse stands in a yard. Engineers test lamps in it.",
}
MOVED = "/old"
"""Redirects to /new."""
HTTPS = {"/doc", "/doc/a", "/doc?page=2", "/docs-old", "/Doc/", "/new"}
DOC = {"/doc", "/doc/a", "/doc?page=2"}
EXPECTED: dict[str, set[str]] = {
    "site.example": {*HTTPS, "http:/doc/b"},
    "https://site.example/": HTTPS,
    "http://site.example": {"http:/doc/b"},
    "site.example/doc": {*DOC, "http:/doc/b"},
    "//Site.Example/doc/": {*DOC, "http:/doc/b"},
    "https://SITE.example/doc": DOC,
    "HTTPS://site.example/x/../doc/#part": DOC,
    "https://site.example/doc?page=2&utm_source=x": {"/doc?page=2"},
    "site.example/old": {"/new"},
    "https://site.example/old/": {"/new"},
    "site.example/Doc": {"/Doc/"},
    "site.example/do": set(),
    "site.example:8443": {"8443/doc"},
}
SITES = {
    "site.example": HTTPS,
    "//Site.Example": HTTPS,
    "HTTPS://site.example/x": HTTPS,
    "http://site.example": {"http:/doc/b"},
    "site.example.org": {"org/doc"},
}
"""The pages of the site that a typed address lies on: what an answer about the past is looked for in."""
Door = Callable[[str], set[str]]


def address(name: str) -> str:
    """The URL of a page of the table."""
    for short, site in (("http:", "http://site.example"), ("org", "https://site.example.org")):
        if name.startswith(short):
            return site + name.removeprefix(short)
    return f"https://site.example:{name}" if name.startswith("8443") else f"https://site.example{name}"


NAMES = {address(name): name for name in PAGES}


def named(result: CorpusSearch) -> set[str]:
    return {NAMES[one.chunk.source_url] for one in result.chunks}


def request(typed: str) -> SearchRequest:
    return SearchRequest(query=QUERY, filters=ScopeFilter(url_prefixes=[typed]), top_k=50)


async def core_and_models(settings: Settings, site: ServedPages) -> dict[str, dict[str, set[str]]]:
    """What the core and the tools for models find, live and as of now, by door and typed address."""

    async def tool(client: Client, typed: str, **more: str) -> set[str]:
        result = await called(client, "search", question=QUERY, urls=[typed], top_k=50, output="data", **more)
        if result.is_error:
            assert "nothing is stored at" in text_of(result)
            return set()
        assert result.structured_content is not None
        return {NAMES[one["url"]] for one in result.structured_content["sources"]}

    async with Corpus.open(settings, site) as corpus:
        for url in NAMES:
            await corpus.add(url)
        await corpus.add(address(MOVED), refresh=True)
        core = {typed: named(await search(corpus, request(typed))) for typed in EXPECTED}
        past = {typed: named(await search_at(corpus, request(typed), AsOf.now())) for typed in EXPECTED}

    async def sources_of_answer(client: Client, typed: str) -> set[str]:
        result = await called(client, "answer", urls=f"{typed}/doc", question=QUERY, at="now", output="data")
        assert result.structured_content is not None, text_of(result)
        return {NAMES[one["url"]] for one in result.structured_content["sources"]}

    async with connected(settings) as client:
        for typed, pages in SITES.items():
            assert await sources_of_answer(client, typed) == pages, typed
        return {
            "core": core,
            "core, in the past": past,
            "MCP": {typed: await tool(client, typed) for typed in EXPECTED},
            "MCP, in the past": {typed: await tool(client, typed, at="now") for typed in EXPECTED},
        }


def rest(client: httpx2.Client, typed: str) -> set[str]:
    response = client.post("/api/search", json={"question": QUERY, "urls": [typed], "top_k": 50}).raise_for_status()
    return {NAMES[one["chunk"]["source_url"]] for one in response.json()["chunks"]}


def form(client: httpx2.Client, typed: str) -> set[str]:
    fields = {"q": QUERY, "below": typed, "n": "50", "every": "1"}
    shown = client.get("/search", params=fields).raise_for_status().text
    return {NAMES[unescape(url)] for url in re.findall(r'<span class="address">([^<]+)</span>', shown)}


@pytest.mark.slow
def test_an_address_means_the_same_pages_at_every_door(database_url: str, webrag_here: Webrag) -> None:
    settings = tea_settings(database_url)
    site = ServedPages(
        {url: html(f"Page {name}", PAGES[name]) for url, name in NAMES.items()},
        redirects={address(MOVED): address("/new")},
    )
    found = asyncio.run(core_and_models(settings, site))
    with web_server(settings) as client:
        found["REST"] = {typed: rest(client, typed) for typed in EXPECTED}
        found["form"] = {typed: form(client, typed) for typed in EXPECTED}
    with WebRAG(settings) as rag:
        found["library"] = {typed: named(rag.search(request(typed))) for typed in EXPECTED}

    def command(typed: str) -> set[str]:
        done = webrag_here("search", QUERY, "--url", typed, "--top-k", "50", "--json", WEBRAG_READER="none")
        assert done.returncode == 0, done.stderr
        return {NAMES[one["chunk"]["source_url"]] for one in json.loads(done.stdout)["chunks"]}

    found["command line"] = {typed: command(typed) for typed in EXPECTED}
    wrong: dict[tuple[str, str], set[str]] = {
        (door, typed): pages
        for door, by_address in found.items()
        for typed, pages in by_address.items()
        if pages != EXPECTED[typed]
    }
    assert wrong == {}


def test_what_is_no_address_is_refused_at_every_door(database_url: str, webrag_here: Webrag) -> None:
    settings = tea_settings(database_url)
    with web_server(settings) as client:
        response = client.post("/api/search", json={"question": QUERY, "urls": ["notes.html"]})
        assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_url")
        shown = client.get("/search", params={"q": QUERY, "below": "notes.html"})
        assert (shown.status_code, "is no web address" in shown.text) == (400, True)
    done = webrag_here("search", QUERY, "--url", "notes.html")
    assert (done.returncode, "is no web address" in done.stderr) == (2, True)
