"""What every response of the pages says to the browser, and how large a request may be."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webrag_core.application.refusals import Refusal, RefusedError

MOST_BYTES = 64 * 1024
MOST_PATH = 2_048
HUNG_UP = 499
_FORM = "application/x-www-form-urlencoded"
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_PRIVATE = "no-store"
_REFERRER = "same-origin"  # with `no-referrer` browsers send `Origin: null` with forms, which is refused


class SafeHeaders:
    """ASGI middleware: a strict content policy with every response; nothing is cached unless its route says so."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI event."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Referrer-Policy", _REFERRER)
                headers.setdefault("Cache-Control", _PRIVATE)
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


class LimitBody:
    """ASGI middleware of a Starlette application, whose handler of RefusedError sends the refusal: bodies of more than
    `most` bytes (413), whether their length is declared or not, and with `forms` those that are no plain form (415)."""

    def __init__(self, app: ASGIApp, most: int = MOST_BYTES, *, forms: bool = True) -> None:
        self._app = app
        self._most = most
        self._forms = forms

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI event."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        size = 0

        async def measured() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._most:
                raise self._too_large()
            return message

        await self._app(scope, self._refused(scope) or measured, send)

    def _refused(self, scope: Scope) -> Receive | None:
        """A body that cannot be read, where the head says already that the request is refused."""
        headers = Headers(scope=scope)
        length = headers.get("content-length", "0")
        kind = headers.get("content-type", _FORM).partition(";")[0].strip().lower()
        if length.isascii() and length.isdigit() and (len(length) > 15 or int(length) > self._most):
            return _raising(self._too_large())
        if self._forms and kind != _FORM:
            # the parser of multipart forms decodes with whatever codec the client names
            return _raising(RefusedError(Refusal(415, "unsupported_media_type", "Only plain forms are read")))
        return None

    def _too_large(self) -> RefusedError:
        return RefusedError(Refusal(413, "too_large", f"A request may have {self._most:,} bytes"))


def _raising(error: RefusedError) -> Receive:
    async def receive() -> Message:
        raise error

    return receive


class LimitPath:
    """ASGI middleware: refuse paths of more than `MOST_PATH` bytes (414)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI event."""
        if scope["type"] == "http" and len(scope.get("raw_path", b"")) > MOST_PATH:
            # numbers of so many digits would be an error in the router
            refusal = Refusal(414, "path_too_long", f"a path may have {MOST_PATH:,} bytes")
            await refusal.response()(scope, receive, send)
            return
        await self._app(scope, receive, send)


async def hung_up(request: Request, error: Exception) -> Response:
    """The handler of ClientDisconnect: nobody reads the response, and it is no defect."""
    return Response(status_code=HUNG_UP)
