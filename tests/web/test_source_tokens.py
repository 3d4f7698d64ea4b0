"""A token of some sources: what it reads, and that nothing of another source comes through any route or tool."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount, Route

from tests.command_line import Webrag, webrag_here
from tests.conftest import fresh_database
from tests.dagster.small_warc import write_site
from tests.mcp_server.clients import MODES
from tests.web.serving import ask, web_server
from tests.web.tea_corpus import FIRST, SECOND, page, settings
from webrag_core.application.command_calls import CommandCall, Emit, Opened
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.source_tokens import FILE, SourceTokens
from webrag_core.web.api.app import OPERATIONS
from webrag_core.web.app import web_app

__all__ = ["webrag_here"]

TOKEN = "t" * 32
FULL = {"authorization": f"Bearer {TOKEN}"}
OWN, OTHER = "tea.example", "vault.example"
PAGE, SECRET = f"https://{OWN}/green", f"https://{OTHER}/quillwort"
WORD, TYPO, TITLE = "nimbusfen", "nimbusfem", "quillwort"
PLANTED = (WORD, TITLE, OTHER)


def _secret(degrees: int) -> str:
    rooms = (f"<h2>Room {room}</h2><p>The {WORD} of room {room} is kept at {degrees} degrees.</p>" for room in "ABC")
    return page("Quillwort", f'{"".join(rooms)}<p>See <a href="/second">more of the {WORD}</a>.</p>')


_PAGES = {
    FIRST: {PAGE: page("Green tea", "<h2>Brewing</h2><p>Green tea is brewed at 80 degrees.</p>"), SECRET: _secret(3)},
    SECOND: {
        PAGE: page("Green tea", "<h2>Brewing</h2><p>Green tea is brewed at 75 degrees.</p>"),
        SECRET: _secret(5),
        f"https://{OTHER}/second": page("Second", f"<p>The {WORD} is aired each morning by its keeper.</p>"),
    },
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def database(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with fresh_database(server_url) as url:

        async def store() -> None:
            for day, pages in _PAGES.items():
                warc = write_site(tmp_path_factory.mktemp("warc") / "site.warc.gz", pages, day=day)
                async with Corpus.open(settings(url, webrag_warc=warc)) as corpus:
                    for address in pages:
                        await corpus.add(address, refresh=True)

        asyncio.run(store())
        yield url


def _command(call: CommandCall, emit: Emit, opened: Opened) -> int:
    raise AssertionError("a command was run")


@pytest.fixture(scope="module")
def served(database: str, home: Path) -> Iterator[tuple[httpx2.Client, Settings]]:
    """A client without a token, of a server whose corpus has answers, a watch, a gap and feedback about the other
    source."""
    chosen = settings(database, mcp_auth_token=SecretStr(TOKEN), webrag_home=home, mcp_feedback=True)
    with web_server(chosen, commands=_command) as client:
        client.headers.update(FULL)
        answer = ask(client, f"At how many degrees is the {WORD} of room A kept?", source=OTHER)
        ask(client, f"How is {TITLE} or {WORD} painted blue?", source=OTHER)
        assert client.post(f"{answer}/feedback", data={"kind": "wrong", "text": f"no {WORD}"}).status_code == 303
        assert client.post("/watches", data={"url": SECRET}).status_code == 303
        assert client.post("/api/shares", json={"answer": int(answer.rpartition("/")[2])}).status_code == 201
        del client.headers["authorization"]
        yield client, chosen


@pytest.fixture(scope="module")
def narrow(served: tuple[httpx2.Client, Settings]) -> dict[str, str]:
    """Headers with a token that reads one of the two sources."""
    return {"authorization": f"Bearer {SourceTokens(served[1].webrag_home).add('reader', [OWN])}"}


def _routes(routes: Sequence[BaseRoute], base: str = "") -> Iterator[tuple[str, str, str]]:
    """(method, path, name) of all."""
    for route in routes:
        if isinstance(route, Mount):
            yield from _routes(route.routes, base + route.path)
        elif isinstance(route, Route):
            for method in (route.methods or {"GET", "POST"}) - {"HEAD"}:
                yield method, base + route.path, route.name


def _all_routes(chosen: Settings) -> list[tuple[str, str, str]]:
    app: Any = web_app(chosen, commands=_command)
    while not isinstance(app, Starlette):
        app = app._app
    return sorted(set(_routes(app.routes)))


def _paths(path: str, values: Mapping[str, Sequence[object]]) -> Iterator[str]:
    names = re.findall(r"\{(\w+)[:}]", path)
    for chosen in itertools.product(*(values[name] for name in names)):
        filled = path
        for name, value in zip(names, chosen, strict=True):
            filled = re.sub(rf"\{{{name}(:\w+)?\}}", str(value), filled)
        yield filled


_FIELDS: tuple[dict[str, Any], ...] = (
    {},
    {"url": SECRET, "at": "now", "before": "1", "after": "2", "target": SECRET, "question": f"{TYPO} room", "page": 1},
    {"url": SECRET, "from": "1", "to": "2", "key": SECRET, "source": OTHER, "target": OTHER, "q": f"{TYPO} room"},
    {"q": f"{TYPO} room", "every": "1", "language": "de", "question": "kept at degrees", "urls": [f"https://{OTHER}"]},
    {"q": "kept at degrees", "source": OTHER, "question": "kept at degrees", "sources": [OTHER], "words": "q"},
    {"q": "degrees", "at": "2023-06", "question": "degrees", "urls": [OTHER], "answer": 1, "kind": "helpful"},
    {"q": "degrees", "below": OTHER, "question": "degrees", "languages": ["de"], "pattern": "graph", "limit": 20},
)
_TAKES = {f"{operation.method} /api{operation.path}": operation.takes for operation in OPERATIONS}


def _requests(chosen: Settings, database: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(method, path, further arguments) of requests to every route, about the other source."""
    with psycopg.connect(database) as connection:
        answers = [row[0] for row in connection.execute("SELECT id FROM answer_runs ORDER BY id").fetchall()]
        versions = [row[0] for row in connection.execute("SELECT id FROM document_versions").fetchall()]
    assert len(answers) >= 2
    values: dict[str, Sequence[object]] = {
        **{"number": answers, "version": versions, "key": [OTHER, f"{OTHER}/second", f"{OWN}/../{OTHER}"]},
        **{"suffix": ["md", "json", "html", "txt"], "quote": [1], "token": ["x" * 43], "path": ["style.css"]},
    }
    for method, pattern, _ in _all_routes(chosen):
        if pattern == "/mcp":
            continue
        takes = _TAKES.get(f"{method} {pattern}")
        for path, given in itertools.product(_paths(pattern, values), _FIELDS):
            fields = {name: value for name, value in given.items() if takes is None or name in takes.model_fields}
            if method == "POST" and (takes is not None or pattern.startswith(("/api", "/commands"))):
                yield method, path, {"json": fields}
            elif method == "POST":
                yield method, path, {"data": fields}
            else:
                yield method, path, {"params": fields}


def _leaks(response: httpx2.Response, sent: str) -> list[str]:
    """The planted words of a response that the request did not hold itself."""
    text = f"{response.text} {response.headers}".lower()
    return [word for word in PLANTED if word in text and word not in sent.lower()]


@pytest.mark.slow
def test_no_route_shows_a_word_of_another_source(
    served: tuple[httpx2.Client, Settings], narrow: dict[str, str], database: str
) -> None:
    client, chosen = served
    leaks, shown, passed = [], set(), set()
    for method, path, arguments in _requests(chosen, database):
        sent = f"{path} {arguments}"
        if "/login" in path or "/logout" in path:
            continue
        response = client.request(method, path, headers=narrow, **arguments)
        assert response.status_code < 500, (method, sent, response.text)
        leaks += [(method, sent, word) for word in _leaks(response, sent)]
        if response.status_code < 300:
            passed.add(f"{method} {path}")
        if method == "GET" and "at" not in arguments["params"] and not path.endswith("/events"):  # nor is it hidden
            shown |= {path for _ in _leaks(client.get(path, headers=FULL, **arguments), sent)}
    assert leaks == []
    assert passed == {
        *(
            "GET /api/openapi.json",
            "GET /api/sources",
            "GET /health",
            "GET /search",
            "GET /sources",
            "POST /api/search",
        ),
        *(request for request in passed if request.startswith("GET /pages/")),
    }
    assert len(shown) > 20, shown
    with psycopg.connect(database) as connection:
        [(watches, shares)] = connection.execute(
            "SELECT (SELECT count(*) FROM watches), (SELECT count(*) FROM answer_shares)"
        ).fetchall()
    assert (watches, shares) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_no_tool_shows_a_word_of_another_source(
    served: tuple[httpx2.Client, Settings], narrow: dict[str, str], mode: str
) -> None:
    base = str(served[0].base_url).rstrip("/")
    urls, question = [SECRET, f"https://{OTHER}"], f"{TYPO} room degrees"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("answer", {"urls": urls, "question": question}),
        ("answer", {"urls": urls, "question": question, "at": "2023-06"}),
        ("answer", {"urls": urls, "question": question, "style": "prose", "follows": 1}),
        *(("search", {"question": question, **more}) for more in ({}, {"urls": urls}, {"at": "2023-06"})),
        *(
            ("search", {"question": question, **more})
            for more in ({"sources": [OTHER]}, {"urls": ["https://nowhere.example"]})
        ),
        *(("search", {"question": "degrees", "output": "data", "retrieval_mode": kind}) for kind in ("auto", "chunk")),
        *(("history", more) for more in ({"url": SECRET}, {"url": SECRET, "at": "now"}, {"answer": 1})),
        *(("history", more) for more in ({"conversation": 1}, {"url": f"https://{OTHER}/nothing"})),
        *(("status", more) for more in ({}, {"url": OTHER}, {"include_urls": False})),
        ("ingest", {"urls": urls}),
        ("attach", {"url": SECRET, "look": True}),
        ("feedback", {"answer": 1, "kind": "helpful"}),
        ("no_such_tool", {}),
    ]

    async def replies(headers: Mapping[str, str]) -> tuple[set[str], list[str]]:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{base}/mcp", http_client=http), mode=mode) as client,
        ):
            tools = (await client.list_tools()).tools
            names = {tool.name for tool in tools}
            offered = str([client.instructions, *(tool.model_dump() for tool in tools)])
            assert {name for name, _ in calls if f"`{name}`" in offered} <= names
            return names, [str(await client.call_tool(name, given)).lower() for name, given in calls]

    names, texts = asyncio.run(replies(narrow))
    assert names == {"search", "history"}
    for (name, given), text in zip(calls, texts, strict=True):
        assert [word for word in PLANTED if word in text and word not in str(given)] == [], (name, given)
        if name not in ("search", "history", "no_such_tool"):
            assert "out_of_reach" in text
    assert any("75 degrees" in text for text in texts)
    with_all = [call for call in calls if call[0] in ("search", "status", "history")]
    calls[:] = with_all
    assert "valid: history, search" in texts[-1]
    names, texts = asyncio.run(replies(FULL))
    assert {"answer", "ingest", "status"} < names
    assert sum(WORD in text or OTHER in text for text in texts) > 6


@pytest.mark.slow
def test_a_session_of_the_tools_is_open_to_its_token_alone(
    served: tuple[httpx2.Client, Settings], narrow: dict[str, str]
) -> None:
    client, _ = served
    accept = {"accept": "application/json, text/event-stream"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    for mine, others in ((FULL, narrow), (narrow, FULL)):
        opened = client.post("/mcp", json=hello, headers=accept | mine)
        session = {"mcp-session-id": opened.headers["mcp-session-id"]}
        assert client.post("/mcp", json=ping, headers=accept | mine | session).status_code == 200
        for method in ("POST", "GET", "DELETE"):
            response = client.request(method, "/mcp", json=ping, headers=accept | others | session)
            assert response.status_code == 404, method
        assert client.delete("/mcp", headers=accept | mine | session).status_code == 200


@pytest.mark.slow
def test_what_it_reads(served: tuple[httpx2.Client, Settings], narrow: dict[str, str]) -> None:
    client, _ = served
    feed = f"/sources/{OWN}/feed.atom"
    for path in (
        *("/search?q=green+tea", f"/search?q=tea&source={OWN}&language=en", "/search?q=tea&at=2023-06", "/sources"),
        *(f"/sources/{OWN}", feed, f"/history?url={PAGE}", f"/history/at?url={PAGE}&at=now"),
        *(f"/history/diff?url={PAGE}", f"/history/changes?source={OWN}", f"/api/history?url={PAGE}"),
        *(f"/api/changes?target={OWN}", f"/api/changes/latest?source={OWN}"),
    ):
        response = client.get(path, headers=narrow)
        assert response.status_code == 200, path
        assert "tea" in response.text.lower(), path
        assert _leaks(response, path) == []
    listed = client.get("/api/sources", headers=narrow).json()
    assert ([source["key"] for source in listed["sources"]], listed["total"]) == ([OWN], 1)
    for given in ({}, {"sources": [OWN]}, {"urls": [OWN]}):
        found = client.post("/api/search", json={"question": "green tea", **given}, headers=narrow).json()
        assert {citation["source_url"] for citation in found["citations"]} == {PAGE}
    refused = client.post("/api/search", json={"question": "tea", "sources": [OTHER]}, headers=narrow)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "out_of_reach")
    assert client.post("/api/ask", json={"question": "tea"}, headers=narrow).json()["error"]["code"] == "read_only"

    token = narrow["authorization"].removeprefix("Bearer ")
    assert client.get(f"{feed}?token={token}").status_code == 200
    visit = client.get(f"/?token={token}")
    assert (visit.status_code, client.get("/").headers["location"]) == (303, "/search")
    page_shown = client.get("/search?q=green+tea").text
    assert "green tea" in page_shown.lower()
    assert 'href="/answers"' not in page_shown
    assert client.get("/answers").status_code == 403
    assert "Search" in page_shown
    client.cookies.clear()


@pytest.mark.slow
def test_a_revoked_token_and_its_sessions_open_nothing(served: tuple[httpx2.Client, Settings]) -> None:
    client, chosen = served
    tokens = SourceTokens(chosen.webrag_home)
    token = tokens.add("gone soon", [OWN])
    headers = {"authorization": f"Bearer {token}"}
    assert client.get("/api/sources", headers=headers).status_code == 200
    assert client.get(f"/?token={token}").status_code == 303
    assert client.get("/sources").status_code == 200
    tokens.remove("gone soon")
    assert client.get("/api/sources", headers=headers).status_code == 401
    assert client.get("/sources").headers["location"].startswith("/login")
    client.cookies.clear()
    nothing = {"authorization": f"Bearer {tokens.add('of a source that is not there', ['nowhere.example'])}"}
    assert client.get("/api/sources", headers=nothing).json() == {"sources": [], "total": 0}
    for given in ({}, {"sources": ["nowhere.example"]}):
        response = client.post("/api/search", json={"question": "degrees", **given}, headers=nothing)
        assert response.json()["citations"] == []
        assert [word for word in (OWN, *PLANTED) if word in response.text] == []


def test_the_commands(webrag_here: Webrag, tmp_path: Path) -> None:
    home = {"WEBRAG_HOME": str(tmp_path / "home")}
    webrag_here("source", "add", "https://docs.example.org/3/", **home)
    unknown = webrag_here("tokens", "add", "a", "--source", "docs.example.org/4", **home)
    assert (unknown.returncode, "did you mean docs.example.org/3?" in unknown.stderr) == (2, True)
    made = json.loads(
        webrag_here("tokens", "add", "a", "--source", "https://docs.example.org/", "--json", **home).stdout
    )
    assert made["sources"] == ["docs.example.org"]
    assert made["token"] not in webrag_here("tokens", "list", **home).stdout
    [listed] = json.loads(webrag_here("tokens", "list", "--json", **home).stdout)["tokens"]
    assert set(listed) == {"name", "sources", "made_at"}
    assert webrag_here("tokens", "remove", "a", **home).returncode == 0
    assert json.loads(webrag_here("tokens", "list", "--json", **home).stdout) == {"tokens": []}


def test_the_file_of_tokens(tmp_path: Path) -> None:
    tokens = SourceTokens(tmp_path / "new")
    assert list(tokens.current()) == []
    token = tokens.add("a", ["tea.example"])
    file = tmp_path / "new" / FILE
    assert (file.stat().st_mode & 0o777, token in file.read_text()) == (0o600, False)
    assert [each.name for each in tokens.current()] == ["a"]
    for name in ("a", "", " ", "x" * 101, "a\x1b[31m"):
        with pytest.raises(InvalidInputError):
            tokens.add(name, ["tea.example"])
    with pytest.raises(InvalidInputError, match="no token b"):
        tokens.remove("b")
    file.chmod(0o640)
    assert tokens.current() == ()
    with pytest.raises(InvalidInputError, match="not yours alone"):
        tokens.listed()
    file.chmod(0o600)
    file.write_text("{")
    assert tokens.current() == ()
    with pytest.raises(InvalidInputError, match="holds no list"):
        tokens.add("b", ["tea.example"])
