"""`POST /commands/run`: the server runs a command of `webrag` for another process of this machine, line by line."""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from webrag_core.application.command_calls import CommandCall, CommandRunner, NotServedError, Turn
from webrag_core.application.failure_words import defect_words
from webrag_core.application.inputs import explained
from webrag_core.application.refusals import Refusal, RefusedError
from webrag_core.application.services import Services, run_apart
from webrag_core.errors import InvalidInputError, WebragError
from webrag_core.trace import traced
from webrag_core.web.api.operations import Api
from webrag_core.web.limits import LimitBody, hung_up

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

PATH = "/commands"
_JSON = "application/json"
_LINES = "application/x-ndjson"
_MOST_BYTES = 1024 * 1024
_MOST_CALLS = 64  # at work and waiting, each in a thread
_SIGN_OF_LIFE_SECONDS = 2.0


def commands_app(api: Api, run: CommandRunner) -> Starlette:
    """Create the application; who may call is checked around it."""
    app = Starlette(
        routes=[Route("/run", _Calls(api, run).serve, methods=["POST"])],
        middleware=[Middleware(LimitBody, most=_MOST_BYTES, forms=False)],
        exception_handlers={RefusedError: _refused, WebragError: _refused, ClientDisconnect: hung_up},
    )
    app.router.redirect_slashes = False
    return app


async def _refused(request: Request, error: Exception) -> Response:
    return Refusal.of(error).response()


class _Calls:
    """The calls that are at work."""

    def __init__(self, api: Api, run: CommandRunner) -> None:
        self._api = api
        self._run = run
        self._number = 0

    async def serve(self, request: Request) -> Response:
        """Run a command; what it prints is the body. Raises InvalidInputError, RefusedError."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
            raise RefusedError(Refusal(415, "unsupported_media_type", f"the body must be {_JSON}"))
        try:
            call = CommandCall.model_validate_json(await request.body(), strict=True)
        except ValidationError as error:
            raise InvalidInputError(explained(error)) from None
        if self._number >= _MOST_CALLS:
            raise RefusedError(Refusal(503, "busy", f"{_MOST_CALLS} commands are at work or waiting"))
        return StreamingResponse(self._lines(call), media_type=_LINES)

    async def _lines(self, call: CommandCall) -> AsyncIterator[bytes]:
        work = _Work(self._api, asyncio.get_running_loop())
        self._number += 1
        try:
            work.begin(self._run, call)
            while True:
                try:
                    line = await asyncio.wait_for(work.lines.get(), _SIGN_OF_LIFE_SECONDS)
                except TimeoutError:
                    yield b"\n"
                    continue
                yield json.dumps(line).encode() + b"\n"
                if "end" in line or "not_served" in line:
                    return
        finally:
            self._number -= 1
            work.cancel()


class _Work:
    """One command in its thread, and what of it runs in the loop."""

    def __init__(self, api: Api, loop: asyncio.AbstractEventLoop) -> None:
        self.lines: asyncio.Queue[dict[str, str | int]] = asyncio.Queue()
        self._api = api
        self._loop = loop
        self._running: set[Future[Any]] = set()
        self._is_cancelled = False

    def begin(self, run: CommandRunner, call: CommandCall) -> None:
        """Start the thread."""
        target = contextvars.copy_context().run
        threading.Thread(target=target, args=(self._work, run, call), daemon=True, name="webrag-command").start()

    def cancel(self) -> None:
        """Nobody reads what it prints any more."""
        self._is_cancelled = True
        for future in list(self._running):
            future.cancel()

    def _work(self, run: CommandRunner, call: CommandCall) -> None:
        last: dict[str, str | int]
        with traced(call.traceparent):
            try:
                last = {"end": run(call, self._emit, self._opened)}
            except NotServedError as error:
                last = {"not_served": str(error)}
            except CancelledError:
                return
            except Exception:
                logger.exception("a command failed")
                last = {"not_served": f"the server failed at it: {defect_words()}"}
        self._emit(last)

    def _emit(self, line: dict[str, str | int]) -> None:
        if not self._is_cancelled:
            self._loop.call_soon_threadsafe(self.lines.put_nowait, line)

    def _opened(self, work: Callable[[Services], Coroutine[Any, Any, Result]], turn: Turn) -> Result:
        """The result of work in the loop, in the context of this thread."""
        future = asyncio.run_coroutine_threadsafe(self._in_turn(work, turn), self._loop)
        self._running.add(future)
        if self._is_cancelled:
            future.cancel()
        try:
            return future.result()
        finally:
            self._running.discard(future)

    async def _in_turn(self, work: Callable[[Services], Coroutine[Any, Any, Result]], turn: Turn) -> Result:
        if turn == "read":
            return await self._api.read(work)
        async with self._api.running.turn() as services:
            return await run_apart(work(services))
