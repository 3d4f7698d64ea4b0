"""A server of hostile answers, one port for each case so that each is a host with a robots.txt of its own.

    python -m benchmarks.corpus.hostile_server

prints one JSON object {case: port} (with the port of the well-behaved neighbour as "neighbour") and serves until its
stdin ends. `CASES` says for each case how it may end.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from functools import partial

from benchmarks.corpus.hostile_reading import READING
from benchmarks.corpus.hostile_wire import HTML, PLAIN_BODY, WIRE, Case, head

NEIGHBOUR = "neighbour"
CASES = WIRE | READING


def _neighbour(path: str) -> list[bytes]:
    body = PLAIN_BODY.replace(b"Plain page", b"Neighbour " + path.encode())
    return [head(f"content-type: {HTML}", f"content-length: {len(body)}"), body]


async def _serve(case: Case, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        path = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split(" ", 2)[1]
        answer = case.answer
        if path == "/robots.txt":
            answer = case.robots or (lambda path: [head("content-length: 0", status="404 Not Found")])
        pieces = iter(answer(path))
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:  # some take long to make
            if isinstance(piece, bytes):
                writer.write(piece)
                await writer.drain()
            else:
                await asyncio.sleep(piece)
    except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass  # whoever asked has seen enough
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def _main() -> None:
    ports = {}
    for name, case in {NEIGHBOUR: Case(_neighbour), **CASES}.items():
        server = await asyncio.start_server(partial(_serve, case), "127.0.0.1", 0)
        ports[name] = server.sockets[0].getsockname()[1]
    print(json.dumps(ports), flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_main())
