"""Who may use the server: a token in an address opens a session, programs send it, one that reads starts nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr

from tests.web.serving import web_server
from webrag_core.access_token import SERVE_TOKEN
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.http_server import check_bind, closed_to_others

TOKEN, READING = "t" * 32, "r" * 32
QUESTION = {"question": "How is tea made?"}


@pytest.fixture
def client(settings: Settings) -> Iterator[httpx2.Client]:
    tokens = {"mcp_auth_token": SecretStr(TOKEN), "mcp_read_token": SecretStr(READING)}
    with web_server(settings.model_copy(update=tokens)) as client:
        yield client


def initialise(client: httpx2.Client, path: str, **headers: str) -> int:
    body = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    accept = {"accept": "application/json, text/event-stream"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": body}
    return client.post(path, json=message, headers=accept | headers).status_code


def test_a_token_opens_what_it_is_for(client: httpx2.Client) -> None:
    assert client.get("/").headers["location"].startswith("/login")
    wrong = client.get(f"/search?words=tea&token={TOKEN}x")
    assert (wrong.status_code, wrong.headers["location"]) == (303, "/search?words=tea")
    assert "set-cookie" not in wrong.headers
    assert "set-cookie" not in client.get(f"/?token={TOKEN}&token={TOKEN}").headers
    assert client.get(f"{client.base_url}//evil.example/?token={TOKEN}").headers["location"].startswith("/evil.example")
    client.cookies.clear()
    for path in ("/api/status", f"/api/status?token={TOKEN}"):
        assert client.get(path).status_code == 401, path
    assert initialise(client, "/mcp") == 401
    assert initialise(client, f"/mcp?token={TOKEN}") == 200
    assert initialise(client, f"/mcp?token={TOKEN}", authorization="Bearer wrong") == 401
    assert initialise(client, "/mcp", authorization=f"Bearer {TOKEN}") == 200

    visit = client.get(f"/search?words=tea&token={TOKEN}")
    assert (visit.status_code, visit.headers["location"]) == (303, "/search?words=tea")
    assert "HttpOnly" in visit.headers["set-cookie"]
    assert client.get("/search?words=tea").status_code == 200
    assert client.post("/ask", data=QUESTION).headers["location"].startswith("/running/")


def test_a_token_that_reads_starts_and_stores_nothing(client: httpx2.Client) -> None:
    reading = {"authorization": f"Bearer {READING}"}
    for path in ("/", "/answers", "/sources", "/api/status", "/api/answers"):
        assert client.get(path, headers=reading).status_code == 200, path
    assert client.post("/api/search", json={"question": "tea"}, headers=reading).status_code == 200
    for path in ("/api/ask", "/api/answer", "/api/feedback", "/ask", "/answers/1/rating"):
        refused = client.post(path, json=QUESTION, headers=reading)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "read_only"), path
    assert initialise(client, "/mcp", **reading) == 403
    assert initialise(client, f"/mcp?token={READING}") == 403
    assert client.get(f"/?token={READING}").status_code == 303
    assert client.get("/answers").status_code == 200
    assert client.post("/ask", data=QUESTION).status_code == 403


def test_loopback_without_a_token_takes_that_of_the_home(tmp_path: Path) -> None:
    bare = Settings(webrag_home=tmp_path)
    closed = closed_to_others(bare)
    assert closed.mcp_auth_token is not None
    assert (tmp_path / SERVE_TOKEN).read_text().strip() == closed.mcp_auth_token.get_secret_value()
    for settings in (
        bare.model_copy(update={"mcp_auth_token": SecretStr(TOKEN)}),
        bare.model_copy(update={"webrag_serve_open": True}),
        bare.model_copy(update={"mcp_host": "0.0.0.0"}),
    ):
        assert closed_to_others(settings) is settings
    for update in ({"mcp_read_token": SecretStr("short")}, {"mcp_read_token": SecretStr(READING)}):
        with pytest.raises(InvalidInputError, match="MCP_READ_TOKEN"):
            check_bind(bare.model_copy(update=update))
