"""Which requests a local server answers: by host and port, never by spelling."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Scope

from webrag_core.errors import InvalidInputError
from webrag_core.http_guard import Authority, RequireOwnHost, parsed_hosts

PORT = 8765
OWN = "127.0.0.1:8765"
NAMED = "rag.example, tunnel.example:9000, [2001:db8::1]:443"


def status(*headers: tuple[str, str], links: bool = False, loopback: bool = True, **scope: Any) -> int:
    """Status of one request with `headers`."""
    asked: Scope = {
        "type": "http",
        "method": "GET",
        "path": "/mcp",
        "server": ("127.0.0.1", PORT),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
        **scope,
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    hosts = parsed_hosts(NAMED, "HOSTS")
    guard = RequireOwnHost(
        PlainTextResponse("served"),
        hosts,
        setting="HOSTS",
        loopback=loopback,
        links=links,
        unlinked=["/api"],
        open_paths=["/health"],
    )
    asyncio.run(guard(asked, receive, send))
    return int(sent[0].get("status", sent[0].get("code", 0)))


@pytest.mark.parametrize(
    "host",
    [
        OWN,
        "localhost:8765",
        "LOCALHOST:8765",
        "[::1]:8765",
        "[0:0:0:0:0:0:0:1]:8765",
        "rag.example",
        "RAG.example:1",
        "tunnel.example:9000",
        "[2001:db8:0::1]",
        "[2001:db8::1]:443",
    ],
)
def test_own_names_are_answered(host: str) -> None:
    assert status(("host", host)) == 200


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:8766",
        "127.0.0.1:8765.evil.example",
        "127.0.0.1:8765@evil.example",
        "user@127.0.0.1:8765",
        "127.0.0.1.evil.example:8765",
        "127.0.0.1:08765.5",
        "127.0.0.1:",
        "127.0.0.1:-8765",
        "127.0.0.1:0",
        "127.0.0.1:99999",
        "127.0.0.1:8765 ",
        "127.0.0.1:8765, evil.example",
        "127.0.0.1:8765/x",
        "127.0.0.1:8765?x",
        "127.1:8765",
        "2130706433:8765",
        "localhost.:8765",
        "localhost.evil.example:8765",
        "::1",
        "[::1",
        "[::1]evil:8765",
        "[fe80::1%lo]:8765",
        "1２7.0.0.1:8765".encode().decode("latin-1"),
        "rag.example.",
        "rag.example.evil.example",
        "xrag.example",
        "tunnel.example",
        "tunnel.example:9001",
        "[2001:db8::1]:8443",
    ],
)
def test_other_names_are_refused(host: str) -> None:
    assert status(("host", host)) == 421


def test_one_host_header_and_not_two() -> None:
    assert status() == 421
    assert status(("host", OWN), ("host", OWN)) == 421
    assert status(("host", OWN), ("host", "evil.example")) == 421


def test_a_server_beyond_loopback_has_no_loopback_names() -> None:
    assert status(("host", OWN), loopback=False) == 421
    assert status(("host", "rag.example"), loopback=False) == 200


@pytest.mark.parametrize(
    ("host", "origin", "expected"),
    [
        (OWN, f"http://{OWN}", 200),
        ("localhost:8765", "http://localhost:8765", 200),
        ("rag.example", "https://rag.example", 200),
        ("rag.example:443", "https://rag.example", 200),
        ("rag.example", "https://rag.example:8443", 403),
        (OWN, "http://127.0.0.1:3000", 403),
        (OWN, "http://localhost:8765", 403),
        (OWN, "http://127.0.0.1", 403),
        (OWN, f"http://{OWN}/", 403),
        (OWN, f"http://{OWN}.evil.example", 403),
        (OWN, f"http://{OWN}@evil.example", 403),
        (OWN, f"ftp://{OWN}", 403),
        (OWN, OWN, 403),
        (OWN, "null", 403),
        (OWN, "", 403),
        (OWN, "https://rag.example", 403),
        (OWN, "chrome-extension://abcdef", 403),
    ],
)
def test_pages_of_other_origins_are_refused(host: str, origin: str, expected: int) -> None:
    assert status(("host", host), ("origin", origin)) == expected


def test_two_origins_are_refused() -> None:
    assert status(("host", OWN), ("origin", f"http://{OWN}"), ("origin", "http://evil.example")) == 403


def test_what_the_browser_says_about_the_sender() -> None:
    for site, expected in (("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)):
        assert status(("host", OWN), ("sec-fetch-site", site)) == expected


def test_links_open_pages_only_where_wanted() -> None:
    followed = (("host", OWN), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"))
    document = ("sec-fetch-dest", "document")
    assert status(*followed, document) == 403
    assert status(*followed, document, links=True) == 200
    assert status(*followed, ("sec-fetch-dest", "iframe"), links=True) == 403
    assert status(*followed, document, links=True, method="POST") == 403
    assert [status(*followed, document, links=True, path=path) for path in ("/api", "/api/status")] == [403, 403]
    assert status(*followed, document, links=True, path="/apiary") == 200
    assert status(*followed, document, ("origin", "http://evil.example"), links=True) == 403


def test_other_kinds_of_events() -> None:
    assert status(("host", "evil.example"), path="/health") == 200
    assert status(("host", "evil.example"), type="websocket") == 1008
    assert status(("host", OWN), ("origin", "http://evil.example"), type="websocket") == 1008


def test_settings_name_hosts() -> None:
    assert parsed_hosts(" Rag.example ,, [::1]:80 ", "X") == {Authority("rag.example"), Authority("::1", 80)}
    for wrong in ("https://rag.example", "a b", "rag.example:port", "*", "rag.example/x", "bücher.example"):
        with pytest.raises(InvalidInputError, match="X: "):
            parsed_hosts(wrong, "X")
