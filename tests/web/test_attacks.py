"""Attacks on the web application that need no page and no answer; `make bench-security` has all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import httpx2
import pytest

from benchmarks.security.web_attacks import TOKEN, Attack, Watch, cross_site, redirects, tokens
from benchmarks.security.web_markup import PAYLOADS, markup_problems
from tests.web.serving import BROWSER
from webrag_core.config import Settings
from webrag_core.web import signing_in
from webrag_core.web.app import web_app

Group = Callable[[httpx2.AsyncClient], Awaitable[list[Attack]]]


def held(group: Group, **settings: object) -> int:
    """Attack the application within this process; the number of attacks, none of which came through."""
    watch = Watch(secrets=(TOKEN, "webrag_core/"))

    async def work() -> list[Attack]:
        app = web_app(Settings(**settings))  # type: ignore[arg-type]
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app),
            base_url="http://127.0.0.1:8765",
            headers=BROWSER,
            event_hooks={"response": [watch]},
        ) as client:
            return await group(client)

    attacks = asyncio.run(work())
    assert [f"{one.name}: {one.through}" for one in attacks if one.through] == []
    assert watch.problems == []
    return len(attacks)


def test_foreign_pages_start_and_read_nothing() -> None:
    assert held(cross_site) > 400


@pytest.mark.slow
def test_without_the_token_nothing_is_open_but_the_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signing_in, "_WRONG_SECONDS", 0.0)
    assert held(tokens, mcp_auth_token=TOKEN, mcp_allowed_hosts="rag.example") > 300


def test_logging_in_leads_to_no_other_server() -> None:
    assert held(redirects, mcp_auth_token=TOKEN) > 150


async def _oversized(client: httpx2.AsyncClient) -> list[Attack]:
    """Requests that are refused by their head or while they are read."""

    async def pieces() -> object:
        for _ in range(100):
            yield b"a" * 20_000

    form = {"content-type": "application/x-www-form-urlencoded"}
    statuses = {
        "with length": (await client.post("/login", content=b"a" * 100_000, headers=form)).status_code,
        "without length": (await client.post("/login", content=pieces(), headers=form)).status_code,  # type: ignore[arg-type]
        "to REST": (
            await client.post("/api/search", content=b" " * 2_000_000, headers={"content-type": "application/json"})
        ).status_code,
    }
    attacks = [Attack("size", name, "" if status == 413 else f"status {status}") for name, status in statuses.items()]
    multipart = {"content-type": "multipart/form-data; boundary=x; charset=unicode_escape"}
    response = await client.post("/login", content=b"--x--", headers=multipart)
    attacks.append(Attack("size", "multipart", "" if response.status_code == 415 else f"status {response.status_code}"))
    for path in (f"/answers/{'9' * 5_000}", f"/static/{'a' * 3_000}"):
        status = (await client.get(path)).status_code
        attacks.append(Attack("size", path[:20], "" if status == 414 else f"status {status}"))
    for path in (
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/%00",
        "/static//etc/passwd",
    ):
        status = (await client.get(path)).status_code
        attacks.append(Attack("paths", path, "" if status == 404 else f"status {status}"))
    return attacks


def test_requests_that_are_too_large_or_leave_their_folder() -> None:
    assert held(_oversized) == 11


def test_forms_show_what_came_in_as_text() -> None:
    async def login(client: httpx2.AsyncClient) -> list[Attack]:
        attacks = []
        for number, payload in enumerate(PAYLOADS):
            for response in (
                await client.get("/login", params={"next": payload}),
                await client.get("/login", params={"next": f"/{payload}"}),
                await client.get(f"/static/nowhere{number}", params={"q": payload}),
            ):
                problems = markup_problems(response.text) if response.status_code != 303 else []
                attacks.append(Attack("markup", f"payload {number}", "; ".join(problems)))
        return attacks

    assert held(login, mcp_auth_token=TOKEN) == 3 * len(PAYLOADS)
