"""Pages that read the database take turns, so that many requests at once cost nobody else a connection."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webrag_core.application.refusals import Refusal
from webrag_core.errors import WebragError
from webrag_core.web.rendering import refused

_MOST = 64  # at work and waiting


class TakeTurns:
    """ASGI middleware of the pages: what reads (GET, and HEAD, which costs the same) takes turns with the searches of
    `/mcp` and `/api`, and has `seconds` (504). When too many wait, further ones are refused (503). What matches one of
    `streams` passes, as it stays open and reads no more than its own events; so does what begins with an `open_paths`.
    """

    def __init__(
        self, app: ASGIApp, seconds: float, open_paths: tuple[str, ...], streams: Sequence[re.Pattern[str]]
    ) -> None:
        self._app = app
        self._seconds = seconds
        self._open_paths = open_paths
        self._streams = streams
        self._readers = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI event."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or self._is_open(scope["path"]):
            await self._app(scope, receive, send)
        elif self._readers >= _MOST:
            refusal = Refusal(503, "busy", "too many requests are waiting")
            await refused(Request(scope), refusal)(scope, receive, send)
        else:
            self._readers += 1
            try:
                await self._in_turn(scope, receive, send)
            finally:
                self._readers -= 1

    def _is_open(self, path: str) -> bool:
        return any(stream.fullmatch(path) for stream in self._streams) or path.startswith(self._open_paths)

    async def _in_turn(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_started = False

        async def noted(message: Message) -> None:
            nonlocal is_started
            is_started = True
            await send(message)

        try:
            async with asyncio.timeout(self._seconds), AsyncExitStack() as turn:
                try:
                    services = await scope["app"].state.services()
                except WebragError:
                    services = None  # the page itself says so
                if services is not None:
                    await turn.enter_async_context(services.searches)
                await self._app(scope, receive, noted)
        except TimeoutError:
            if is_started:
                raise
            refusal = Refusal(504, "timeout", f"not done within {self._seconds:g} s")
            await refused(Request(scope), refusal)(scope, receive, send)
