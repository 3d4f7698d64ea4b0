"""Stdio transport that stops cleanly on end of input or a signal.

The SDK reads stdin in a thread, which a signal cannot stop. A read on the event loop can be cancelled, so that running
calls are cancelled and the database is closed properly.
"""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, cast

from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from webrag_core.garbage import collect_rarely_in_loop
from webrag_core.mcp_server.long_messages import END_BYTES, LONGEST_MESSAGE, refusal
from webrag_core.mcp_server.unreadable_lines import read

if TYPE_CHECKING:
    import anyio
    from mcp_types import JSONRPCError

    from webrag_core.mcp_server.server import WebragServer


class _Lines:
    """Async iterator over the lines of a descriptor, for the SDK: one message is one line.

    `refuse` gets the answer to a line that is too long or no message.
    """

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self.refuse: Callable[[JSONRPCError], Awaitable[None]] | None = None

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as end:
                line = end.partial
            except asyncio.LimitOverrunError as overrun:
                head, tail = await self._skip(overrun.consumed)
                await self._refuse(refusal(head, tail))
                continue
            if not line:
                raise StopAsyncIteration
            message = read(line.decode("utf-8", "replace"))
            if isinstance(message, str):
                return message
            if message is not None:
                await self._refuse(message)

    async def _refuse(self, error: JSONRPCError) -> None:
        if self.refuse is not None:
            await self.refuse(error)

    async def _skip(self, waiting: int) -> tuple[bytes, bytes]:
        """Read to the end of the line, of which `waiting` bytes are there. Returns its beginning and end."""
        part = await self._reader.readexactly(waiting)
        head, tail = part[:END_BYTES], part[-END_BYTES:]
        while True:
            try:
                part, is_end = await self._reader.readuntil(b"\n"), True
            except asyncio.IncompleteReadError as end:
                part, is_end = end.partial, True
            except asyncio.LimitOverrunError as overrun:
                part, is_end = await self._reader.readexactly(overrun.consumed), False
            tail = (tail + part[-END_BYTES:])[-END_BYTES:]
            if is_end:
                return head, tail


def serve(server: WebragServer) -> int:
    """Serve until end of input or a signal; return the exit code."""
    return asyncio.run(_serve(server))


async def _serve(server: WebragServer) -> int:
    loop = asyncio.get_running_loop()
    collect_rarely_in_loop()
    serving = asyncio.ensure_future(_answer(server))
    received: list[int] = []

    def leave(number: int) -> None:
        received.append(number)
        serving.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, leave, number)
    try:
        await serving
    except asyncio.CancelledError:
        if not received:
            raise
    return 128 + received[0] if received else 0


async def _answer(server: WebragServer) -> None:
    if not _can_be_waited_for(sys.stdin.fileno()):
        await server.run_stdio_async()
        return
    reader = asyncio.StreamReader(limit=LONGEST_MESSAGE)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(_own_descriptor(sys.stdin.fileno()), "rb")
    )
    try:
        lines = _Lines(reader)
        async with stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (incoming, outgoing):
            lines.refuse = lambda error: outgoing.send(SessionMessage(error))
            await server.run_on(incoming, outgoing)
    finally:
        transport.close()


def _can_be_waited_for(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


def _own_descriptor(descriptor: int) -> int:
    """Duplicate the descriptor and point the original to /dev/null, so that children cannot read stdin."""
    copy = os.dup(descriptor)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)
    return copy
