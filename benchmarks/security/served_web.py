"""An MCP server over HTTP with a web in memory, and the person behind its client."""

from __future__ import annotations

import asyncio
import html
import socket
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

import uvicorn
from mcp.client import ClientRequestContext
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult

from benchmarks.security.obedient_forms import SITE
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.sitemaps.models import SiteMap
from webrag_core.acquisition.urls import canonicalise
from webrag_core.config import Settings
from webrag_core.errors import FetchError, Reason
from webrag_core.mcp_server.http import http_app

QUESTION = "At how many degrees is green tea brewed?"
FACT = "Green tea is brewed at eighty degrees, and it is left for two minutes, never longer than that."


@dataclass(slots=True)
class Web:
    """Every page of every host; `texts` are those of the planted site by number. Remembers what it was asked for."""

    texts: tuple[str, ...] = ()
    requests: list[str] = field(default_factory=list)
    name: str = "web"
    frozen: bool = False
    metered: bool = False

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """As the protocol says."""
        address = canonicalise(url)
        self.requests.append(address)
        number = address.removeprefix(f"https://{SITE}/")
        if number.startswith("missing"):
            raise FetchError(Reason.NOT_FOUND, "the page does not exist", status=404)
        text = html.escape(self.texts[int(number)]) if number.isdigit() and self.texts else ""
        links = "".join(f"<p>See <a href='/tea/linked-{n}'>green tea {n}</a>.</p>" for n in range(3))
        body = (
            f"<html><head><title>Green tea</title></head><body><main><h1>Green tea</h1><p>{FACT} {text}</p>{links}"
            f"<p>This page is {html.escape(address)}.</p></main></body></html>"
        ).encode()
        kind = {"content-type": "text/html; charset=utf-8"}
        return AcquiredPage(address, address, 200, kind, body, datetime.now(UTC), len(body))

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """No host has one."""
        return SiteMap()

    async def aclose(self) -> None:
        """Nothing to release."""


@dataclass(slots=True)
class Person:
    """Answers every question of the server in one way, and counts them."""

    action: Literal["accept", "decline"]
    questions: list[str] = field(default_factory=list)

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        """As the SDK's elicitation callback."""
        self.questions.append(params.message)
        return ElicitResult(action=self.action)


@asynccontextmanager
async def serving(settings: Settings, web: Web) -> AsyncIterator[str]:
    """Address of the tools of a server in this process."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(http_app(settings, web), log_level="error"))
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        while not server.started:  # noqa: ASYNC110 (uvicorn has no event for it)
            await asyncio.sleep(0.02)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        await running


def text_of(result: CallToolResult) -> str:
    """The text of a result."""
    return "".join(block.text for block in result.content if block.type == "text")


def is_refused(result: CallToolResult) -> bool:
    """True when the call was refused for its address."""
    return text_of(result).startswith("[ERROR] consent_")
