"""End the sessions that have been idle longest: a client that opens one for each question must not fill the memory."""

from __future__ import annotations

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webrag_core.application.reach import Reach
from webrag_core.application.refusals import Refusal

_SESSION = "mcp-session-id"
_UNKNOWN = Refusal(404, "unknown_session", "there is no such session: open a new one")


def reach_of(context: Context[Any, Any] | None) -> Reach:
    """The reach of a call: that of the HTTP request that brings it."""
    return Reach() if context is None else reach_of_message(context.request_context)


def reach_of_message(message: ServerRequestContext[Any]) -> Reach:
    """The reach of a message of the protocol, as of a call."""
    return Reach() if message.request is None else Reach.of(message.request.scope)


class LimitIdleSessions:
    """ASGI middleware around the SDK's application, which by itself ends idle sessions after half an hour only.

    A session is idle without an unanswered request and without an open stream. It is open to requests of the reach that
    it was opened with alone: its stream carries the answers to all of them.
    """

    def __init__(self, app: ASGIApp, most_idle: int) -> None:
        self._app = app
        self._most_idle = most_idle
        self._requests: dict[str, int] = {}  # unanswered requests of each session, the one used last at the end
        self._reach: dict[str, Reach] = {}  # of the sessions that do not reach everything

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI event; lifespan events pass."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        own_scope = dict(scope)  # routers write into the scope
        session = Headers(scope=scope).get(_SESSION)
        opens = session is None
        reach = Reach.of(scope)
        if session is not None and self._reach.get(session, Reach()) != reach:
            await _UNKNOWN.response()(scope, receive, send)
            return
        if session in self._requests:
            self._requests[session] += 1

        async def watched(message: Message) -> None:
            nonlocal session
            if message["type"] == "http.response.start" and message["status"] < 400:
                if opens:
                    session = Headers(raw=message["headers"]).get(_SESSION)
                    if session is not None:
                        self._requests[session] = 1
                        if not reach.is_everything:
                            self._reach[session] = reach
                elif scope["method"] == "DELETE" and session is not None:
                    self._requests.pop(session, None)
                    self._reach.pop(session, None)
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            if session in self._requests:
                self._requests[session] = self._requests.pop(session) - 1
        await self._end_longest_idle(own_scope)

    async def _end_longest_idle(self, scope: Scope) -> None:
        idle = [session for session, requests in self._requests.items() if not requests]
        for session in idle[: max(len(idle) - self._most_idle, 0)]:
            self._reach.pop(session, None)
            if self._requests.pop(session, None) is not None:
                # as a client ends its session
                headers = [(_SESSION.encode(), session.encode())]
                await self._app({**scope, "method": "DELETE", "headers": headers}, _no_body, _discard)


async def _no_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _discard(message: Message) -> None:
    pass
