"""Every response of the servers that is no success has one body: an `ErrorReply`, or for a browser a page."""

from __future__ import annotations

import asyncio
import pkgutil
import re
from collections.abc import Awaitable, Callable, Iterator
from importlib import import_module
from typing import Any

import httpx2
import pytest
from jsonschema import Draft202012Validator
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

import webrag_core.web
from tests.web.serving import BROWSER
from webrag_core.application.refusals import MEANINGS
from webrag_core.application.services import Services
from webrag_core.config import Settings
from webrag_core.errors import FetchError, Reason, StoreError, WebragError
from webrag_core.http_server import HEALTH
from webrag_core.mcp_server.http import http_app
from webrag_core.web import asking, running, signing_in
from webrag_core.web.api.app import BASE, OPERATIONS, api_app
from webrag_core.web.app import STATIC, web_app
from webrag_core.web.login import TOOLS
from webrag_core.web.turns import TakeTurns

TOKEN = "a-token-that-is-long-enough"
HOST = "127.0.0.1:8765"
FORM = "application/x-www-form-urlencoded"
PLACES = {"number": "1", "quote": "1", "version": "1", "suffix": "md", "key": "tea.example"}
BODIES: dict[str, object] = {
    "ask": {"question": "Which tea is green?"},
    "answer": {"question": "Which tea is green?", "urls": ["https://tea.example/"]},
    "search": {"question": "green tea"},
    "feedback": {"answer": 1, "kind": "helpful"},
    "watch": {"question": "Which tea is green?"},
    "preview": {"url": "https://tea.example/"},
    "attach": {"url": "https://tea.example/"},
    "refresh": {"source": "tea.example"},
    "stop": {"source": "tea.example"},
    "pause": {"name": "tea.example"},
    "golden_gap": {"answers": [1]},
    "read_pages": {"urls": ["https://tea.example/"]},
    "share": {"answer": 1},
}
QUERIES = {
    "history": {"url": "https://tea.example/"},
    "changes": {"target": "tea.example"},
    "latest_changes": {"source": "tea.example"},
    "reading": {"source": "tea.example"},
    "detach": {"key": "tea.example", "by": "a test"},
}

Case = tuple[str, str, dict[str, Any]]
Work = Callable[[httpx2.AsyncClient], Awaitable[None]]


def settings(**given: object) -> Settings:
    """The defaults with these."""
    return Settings(**given)  # type: ignore[arg-type]


def page_routes() -> Iterator[tuple[str, str]]:
    """Method and path of every page."""
    for module in pkgutil.iter_modules(webrag_core.web.__path__, "webrag_core.web."):
        for route in getattr(import_module(module.name), "ROUTES", ()):
            path = re.sub(r"{(\w+)(:\w+)?}", lambda place: PLACES[place[1]], route.path)
            yield from ((method, path) for method in sorted(route.methods - {"HEAD"}))


def page_cases() -> list[Case]:
    """A request for each page."""
    return [
        (method, path, {"data": {"question": "Which tea is green?"}} if method == "POST" else {})
        for method, path in page_routes()
    ]


def endpoint_cases() -> list[Case]:
    """A request for each endpoint that is what it takes."""
    return [
        (
            operation.method,
            BASE + operation.path.format_map(PLACES),
            {"json": BODIES[operation.name]}
            if operation.method == "POST"
            else {"params": QUERIES.get(operation.name, {})},
        )
        for operation in OPERATIONS
    ]


@pytest.fixture(scope="module")
def reply() -> Draft202012Validator:
    """The schema of a refusal, as the description of REST has it."""
    document: dict[str, Any] = {}

    async def read(client: httpx2.AsyncClient) -> None:
        document.update((await client.get(f"{BASE}/openapi.json")).json())

    on(web_app(settings()), read)
    for operation in OPERATIONS:
        declared = document["paths"][operation.path][operation.method.lower()]["responses"]
        common = {"400", "401", "403", "414", "421", "500", "503", "504"}
        assert common | ({"413", "415"} if operation.method == "POST" else set()) <= declared.keys()
        for status in declared.keys() - {str(operation.status)}:
            assert declared[status]["content"] == declared["default"]["content"]
    return Draft202012Validator({"$ref": "#/components/schemas/ErrorReply", "components": document["components"]})


def on(app: ASGIApp, work: Work) -> None:
    """Work with a client of an application in this process, whose corpus is not open."""

    async def run() -> None:
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
            await work(client)

    asyncio.run(run())


def check(reply: Draft202012Validator, response: httpx2.Response, status: int, code: str) -> None:
    """Check one refusal."""
    place = f"{response.request.method} {response.request.url}: {response.status_code} {response.text[:200]}"
    assert (response.status_code, response.headers["content-type"]) == (status, "application/json"), place
    reply.validate(response.json())
    assert response.json()["error"]["code"] == code, place
    assert ("retry-after" in response.headers) == (status == 503), place
    assert ("www-authenticate" in response.headers) == (status == 401), place


def test_every_route_refuses_in_one_shape(reply: Draft202012Validator) -> None:
    app = web_app(settings())
    machines = [*endpoint_cases(), ("POST", TOOLS, {"json": {}})]

    async def work(client: httpx2.AsyncClient) -> None:
        for method, path, content in [*page_cases(), *machines, ("GET", f"{STATIC}/style.css", {})]:
            request = client.build_request(method, path, **content)
            foreign = {"host": "evil.example"}
            check(reply, await client.request(method, path, headers=foreign), 421, "refused")
            foreign = {"origin": "https://evil.example"}
            check(reply, await client.request(method, path, headers=foreign), 403, "refused")
            longer = f"{path.rstrip('/')}/{'a' * 2_048}"
            check(reply, await client.request(method, longer, **content), 414, "path_too_long")
            if path != TOOLS:
                check(reply, await client.request("PROPFIND", path, **content), 405, "method_not_allowed")
            if method == "POST" and path not in (TOOLS, "/logout", "/running/tea.example/stop"):  # they read no body
                kind = request.headers["content-type"]
                large = b" " * 2_000_000
                check(
                    reply,
                    await client.request(method, path, content=large, headers={"content-type": kind}),
                    413,
                    "too_large",
                )
                check(
                    reply,
                    await client.request(
                        method, path, content=b"x", headers={"content-type": "multipart/form-data; boundary=x"}
                    ),
                    415,
                    "unsupported_media_type",
                )
        for path in ("/nothing", f"{BASE}/nothing", f"{STATIC}/nothing"):
            check(reply, await client.get(path), 404, "unknown_path")
        check(reply, await client.get("/running/tea.example"), 404, "not_stored")
        check(reply, await client.get(HEALTH), 503, "starting")
        check(reply, await client.delete(HEALTH), 405, "method_not_allowed")
        for path in ("/", "/search", "/sources", "/answers", f"{BASE}/status", f"{BASE}/answers/1"):
            check(reply, await client.get(path), 503, "database_unavailable")

    on(app, work)


def test_who_lacks_the_token_is_refused_in_one_shape(
    reply: Draft202012Validator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signing_in, "_WRONG_SECONDS", 0.0)
    closed = settings(mcp_auth_token=TOKEN)

    async def work(client: httpx2.AsyncClient) -> None:
        machines = [*endpoint_cases(), ("GET", f"{BASE}/openapi.json", {}), ("POST", TOOLS, {"json": {}})]
        posted = [case for case in page_cases() if case[0] == "POST" and case[1] != "/login"]
        for method, path, content in [*machines, *posted]:
            check(reply, await client.request(method, path, **content), 401, "unauthorized")
        check(reply, await client.post("/login", data={"token": "wrong"}), 401, "unauthorized")

    on(web_app(closed), work)

    async def tools(client: httpx2.AsyncClient) -> None:
        check(reply, await client.post(TOOLS, json={}), 401, "unauthorized")
        client.headers["authorization"] = f"Bearer {TOKEN}"
        check(reply, await client.post(TOOLS, json={}, headers={"host": "evil.example"}), 421, "refused")
        check(reply, await client.post(TOOLS, json={}, headers={"origin": "https://evil.example"}), 403, "refused")
        check(reply, await client.get("/nothing"), 404, "unknown_path")
        check(reply, await client.post(HEALTH), 405, "method_not_allowed")
        check(reply, await client.get(HEALTH), 503, "starting")

    on(http_app(closed), tools)


def test_a_browser_gets_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signing_in, "_WRONG_SECONDS", 0.0)
    app = web_app(settings(mcp_auth_token=TOKEN))

    async def work(client: httpx2.AsyncClient) -> None:
        client.headers |= BROWSER
        wrong = await client.post("/login", data={"token": "wrong"})
        client.headers["authorization"] = f"Bearer {TOKEN}"
        for response, status in (
            (wrong, 401),
            (await client.get("/nothing"), 404),
            (await client.get("/running/tea.example"), 404),
            (await client.get("/search"), 503),
            (await client.post("/ask", content=b" " * 100_000, headers={"content-type": FORM}), 413),
        ):
            assert (response.status_code, response.headers["content-type"]) == (status, "text/html; charset=utf-8")
            assert "<h1>" in response.text
        check_json = await client.get(f"{BASE}/nothing")
        assert check_json.headers["content-type"] == "application/json", "REST has no pages"

    on(app, work)


def kinds(base: type[WebragError]) -> Iterator[type[WebragError]]:
    """The errors that there are."""
    for kind in base.__subclasses__():
        yield from (kind, *kinds(kind))


def errors() -> list[Exception]:
    """One error of each kind, of fetching one for each reason, and a defect."""
    made: list[Exception] = [RuntimeError("/etc/a-path-of-this-machine")]
    made += [FetchError(reason, "it went wrong") for reason in Reason]
    for kind in dict.fromkeys(kinds(WebragError)):
        if kind.__module__.startswith("webrag_core") and kind.__init__ is WebragError.__init__:
            made.append(kind("it went wrong"))
    return made


@pytest.mark.slow
def test_every_error_of_the_core_is_told_in_one_shape(reply: Draft202012Validator) -> None:
    codes = set()
    failures = errors()

    async def failing() -> Services:
        raise failures[0]

    allowed = settings(mcp_feedback=True)
    app = Starlette()
    app.mount(BASE, api_app(allowed, failing, running.RunningAnswers(failing, 10, 60.0)))

    async def work(client: httpx2.AsyncClient) -> None:
        while failures:
            for method, path, content in endpoint_cases():
                response = await client.request(method, path, **content)
                code = str(response.json()["error"]["code"])
                assert response.status_code in MEANINGS
                check(reply, response, response.status_code, code)
                assert "/etc/" not in response.text
                codes.add((response.status_code, code))
            del failures[0]

    on(app, work)
    assert {status for status, _ in codes} >= {400, 403, 404, 422, 500, 502, 503, 504}
    assert {(503, "busy"), (504, "timeout"), (500, "internal_error"), (404, "not_stored")} <= codes


def test_pages_that_wait_too_long_or_are_too_many(reply: Draft202012Validator) -> None:
    def slow_app(seconds: float) -> Starlette:
        async def never(request: Request) -> Response:
            await asyncio.Event().wait()
            raise AssertionError("nobody sets it")

        async def closed() -> Services:
            raise StoreError("the server is not open")

        turns = Middleware(TakeTurns, seconds=seconds, open_paths=(), streams=[asking.EVENTS])
        app = Starlette(routes=[Route("/slow", never), Route("/slow/events", never)], middleware=[turns])
        app.state.services, app.state.sessions = closed, None
        return app

    async def late(client: httpx2.AsyncClient) -> None:
        check(reply, await client.get("/slow"), 504, "timeout")
        page = await client.get("/slow", headers=BROWSER)
        assert (page.status_code, "not done within" in page.text.lower()) == (504, True)
        assert "<h1>" in page.text

    async def crowded(client: httpx2.AsyncClient, method: str = "GET", path: str = "/slow") -> None:
        waiting = [asyncio.create_task(client.request(method, path)) for _ in range(65)]
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if method == "GET":
            check(reply, done.pop().result(), 503, "busy")
        else:
            assert done.pop().result().status_code == 503
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)

    on(slow_app(0.01), late)
    on(slow_app(3_600.0), crowded)
    on(slow_app(3_600.0), lambda client: crowded(client, "HEAD"))
    on(slow_app(3_600.0), lambda client: crowded(client, path="/slow/events"))
