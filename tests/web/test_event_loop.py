"""No page keeps the server's loop from others: whatever is stored, shown, compared or asked of hostile pages."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
import uvicorn

from tests.conftest import fresh_database
from tests.dagster.small_warc import write_site
from tests.loop_beats import beating
from tests.web.serving import BROWSER
from webrag_core.config import Settings
from webrag_core.http_server import DEFAULT_LIMITS, server_config
from webrag_core.indexing.pipeline import Corpus
from webrag_core.web.app import web_app

pytestmark = pytest.mark.slow

LONGEST = 0.1  # processor seconds of the loop's thread
HOST = "https://tea.example"
FACT = "<p>Green tea is brewed at 80 degrees for two minutes in a pot of clay.</p>"
BODIES = {
    "pipes": "<pre>a" + "|" * 100_000 + "b</pre>",
    "brackets": "<p>" + "](" * 30_000 + "</p><p>" + "![[](" * 12_000 + "</p>",
    "ticks": "<pre>" + "`" * 60_000 + "</pre><p>" + "`" * 30_000 + "</p>",
    "address": '<p><a href="http://user@[::g]/">This link</a> leads nowhere at all.</p>',
    "definitions": "<dl>" + "<dt>a<dd>b" * 4_000 + "</dl>",
    "table": "<table>" + "<tr>" + "<td>x" * 300 + "</tr>" + "<tr><td>y</tr>" * 300 + "</table>",
    "words": "<p>" + "tea " * 50_000 + "</p>",
    "letters": "<p>" + "a" * 150_000 + "</p>",
    "sentences": "<p>" + "Tea is hot. " * 12_000 + "</p>",
    "digits": "<p>" + "1" * 80_000 + "</p><p>" + "1 " * 40_000 + "</p>",
}
QUESTION = {"question": "At how many degrees is green tea brewed?", "expansion_budget": 0}
FEW = ("brackets", "address")


def site(folder: Path, names: tuple[str, ...], *, degrees: int) -> Path:
    pages = {
        f"{HOST}/{name}": f"<title>Tea</title><main><h1>Tea</h1>{FACT.replace('80', str(degrees))}{BODIES[name]}</main>"
        for name in names
    }
    return write_site(folder / f"{degrees}.warc.gz", pages)


async def store(settings: Settings, names: tuple[str, ...]) -> dict[str, float]:
    """Store the pages, one after the other; the longest stretches."""
    longest = {}
    async with Corpus.open(settings) as corpus:
        for name in names:
            async with beating(LONGEST) as beats:
                await corpus.add(f"{HOST}/{name}", refresh=True)
            longest[f"{name}: {beats.where()}"] = beats.longest
    return longest


class _Server:
    """The application in this loop, with a client in another thread."""

    def __init__(self, settings: Settings) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._server = uvicorn.Server(server_config(web_app(settings), settings, DEFAULT_LIMITS))
        base = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._client = httpx2.Client(base_url=base, timeout=None, headers=BROWSER)
        self._serving: asyncio.Task[None] | None = None
        self.longest: dict[str, float] = {}

    async def __aenter__(self) -> _Server:
        self._serving = asyncio.create_task(self._server.serve([self._listening]))
        while not self._server.started:  # noqa: ASYNC110 (the server sets no event)
            await asyncio.sleep(0.01)
        for path in ("/", "/search?query=tea", "/history"):  # what is loaded once
            await self._sent("GET", path)
        # links are compared with the words of a question once for each question, which costs the same for every page
        await self._sent("POST", "/api/answer", {**QUESTION, "urls": [f"{HOST}/address"]})
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.should_exit = True
        assert self._serving is not None
        await self._serving
        self._client.close()

    async def _sent(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> httpx2.Response:
        return await asyncio.to_thread(lambda: self._client.request(method, path, json=body))

    async def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> httpx2.Response:
        """Send a request and note how long it held the loop."""
        async with beating(LONGEST) as beats:
            response = await self._sent(method, path, body)
        assert response.status_code < 500, (path, response.text[:300])
        what = f"{method} {path}: {beats.where()}"
        self.longest[what] = max(beats.longest, self.longest.get(what, 0.0))
        return response


async def visit(settings: Settings, names: tuple[str, ...]) -> dict[str, float]:
    """Ask for everything that shows or reads these pages."""
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url) as connection:
        versions = connection.execute("SELECT id, length(markdown) FROM document_versions ORDER BY id").fetchall()
    async with _Server(settings) as server:
        for version, length in versions:
            for query in ("", f"?start=100&end={length}", f"?from={length // 2}", "?start=0&end=99999999999999999999"):
                await server.call("GET", f"/pages/{version}{query}")
        for url in (f"{HOST}/{name}" for name in names):
            for path in ("/history", "/history/at", "/history/diff", "/api/history"):
                await server.call("GET", f"{path}?url={url}")
            number = (await server.call("POST", "/api/answer", {**QUESTION, "urls": [url]})).json()["answer_id"]
            asked = {"question": QUESTION["question"], "urls": [url], "expansion_budget": 0}
            prose = (await server.call("POST", "/api/ask", asked)).json()["answer_id"]
            for path in (f"/answers/{prose}", f"/answers/{prose}.html", f"/answers/{prose}.md"):
                await server.call("GET", path)
            for path in (f"/answers/{number}", f"/answers/{number}?quote={'1' * 5_000}", f"/api/answers/{number}"):
                await server.call("GET", path)
        for path in ("/", "/answers", "/sources", "/history/changes", "/graph", "/search?query=green+tea"):
            await server.call("GET", path)
    return server.longest


def check(longest: Mapping[str, float]) -> None:
    assert {what: round(seconds, 3) for what, seconds in longest.items() if seconds > LONGEST} == {}


@pytest.fixture
def corpus(server_url: str, tmp_path: Path) -> Iterator[Settings]:
    with fresh_database(server_url) as url:
        warc = site(tmp_path, tuple(BODIES), degrees=80)
        yield Settings(database_url=url, webrag_warc=warc, webrag_reader="none", webrag_home=tmp_path)


def test_hostile_pages_keep_nobody_waiting(corpus: Settings) -> None:
    asyncio.run(store(corpus, FEW))  # the first loads models
    check(asyncio.run(visit(corpus, FEW)))


@pytest.mark.slow
def test_no_hostile_page_keeps_anybody_waiting_when_it_is_stored_shown_or_asked(
    corpus: Settings, tmp_path: Path
) -> None:
    asyncio.run(store(corpus, FEW))
    check(asyncio.run(store(corpus, tuple(BODIES))))
    later = corpus.model_copy(update={"webrag_warc": site(tmp_path, tuple(BODIES), degrees=75)})
    check(asyncio.run(store(later, tuple(BODIES))))
    check(asyncio.run(visit(later, tuple(BODIES))))
