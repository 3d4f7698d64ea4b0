"""The stdio transport of a process that can be told to stop: its client hangs up, or a signal comes.

The SDK reads stdin in a thread, which no signal ends; a read that the event loop waits for can be cancelled, and then
calls end as cancelled ones do and the database is left in order.
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
    """Lines of a descriptor, as the SDK iterates over them."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        try:
            line = await self._reader.readline()
        except ValueError:  # longer than the limit: what was read of it is gone
            return "\n"
        if not line:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")


def serve(server: WebragServer) -> int:
    """Serve until the client hangs up or a signal comes; the exit code."""
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
    """A copy for the protocol; whatever else reads stdin, as a child may, finds nothing."""
    own = os.dup(descriptor)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)
    return own
