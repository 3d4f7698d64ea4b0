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
from typing import TYPE_CHECKING, cast

from mcp.server.stdio import stdio_server

if TYPE_CHECKING:
    import anyio

    from webrag_core.mcp_server.server import WebragServer

_LONGEST_LINE = 64 * 1024 * 1024  # one message is one line


class _Lines:
    """Async iterator over the lines of a descriptor, for the SDK."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        try:
            line = await self._reader.readline()
        except ValueError:  # over the limit: the data read so far is discarded
            return "\n"
        if not line:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")


def serve(server: WebragServer) -> int:
    """Serve until end of input or a signal; return the exit code."""
    return asyncio.run(_serve(server))


async def _serve(server: WebragServer) -> int:
    loop = asyncio.get_running_loop()
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
    reader = asyncio.StreamReader(limit=_LONGEST_LINE)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(_own_descriptor(sys.stdin.fileno()), "rb")
    )
    try:
        lines = cast("anyio.AsyncFile[str]", _Lines(reader))
        async with stdio_server(stdin=lines) as (incoming, outgoing):
            await server.run_on(incoming, outgoing)
    finally:
        transport.close()


def _can_be_waited_for(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


def _own_descriptor(descriptor: int) -> int:
    """Duplicate the descriptor and point the original to /dev/null, so that children cannot read stdin."""
    own = os.dup(descriptor)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)
    return own
