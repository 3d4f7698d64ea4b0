"""What clients that come and never go cost the MCP server over HTTP: sessions without end, requests without end.

The server is the installed `webrag mcp --http`, allowed 1,024 descriptors, on an empty corpus. First `--sessions`
clients open a session and leave; `growth_mb` is what the server's memory (RSS) has grown by then, in megabytes. Then
`--half-sent` connections each send half a head and wait; meanwhile the server is asked for its health and for one tool
call, in ms. One JSON object; exit code 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil
from mcp import Client

TARGETS = {"growth_mb": 10.0, "refused_sessions": 0.0, "health_ms": 1_000.0, "tool_ms": 2_000.0, "descriptors": 1_000.0}
_DESCRIPTORS = 1_024
_AT_ONCE = 8
_HALF = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "
_OPEN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}


@contextmanager
def serving(home: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Base URL and process of a server that is ready."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    with subprocess.Popen(
        [Path(sys.executable).with_name("webrag"), "mcp", "--http", "--port", str(port)],
        env={**os.environ, "WEBRAG_HOME": str(home), "MCP_LOG_LEVEL": "ERROR", "WEBRAG_SERVE_OPEN": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (_DESCRIPTORS, _DESCRIPTORS)),
    ) as process:
        try:
            while not _is_healthy(base):
                if process.poll() is not None:
                    raise SystemExit("the server did not start")
                time.sleep(0.1)
            yield base, psutil.Process(process.pid)
        finally:
            process.terminate()


def _is_healthy(base: str) -> bool:
    try:
        return httpx2.get(f"{base}/health").status_code == 200
    except httpx2.TransportError:
        return False


async def measure(base: str, server: psutil.Process, sessions: int, half_sent: int) -> dict[str, Any]:
    """All figures."""
    await _tool_ms(base)  # loads what the first call loads
    before = server.memory_info().rss
    refused = await _leave_sessions(base, sessions)
    growth = server.memory_info().rss - before
    streams = [await _half_sent(base) for _ in range(half_sent)]
    began = time.perf_counter()
    healthy = await asyncio.to_thread(_is_healthy, base)
    figures = {
        "sessions": sessions,
        "refused_sessions": refused,
        "growth_mb": round(growth / 1e6, 1),
        "half_sent": half_sent,
        "health_ms": round((time.perf_counter() - began) * 1000, 1) if healthy else None,
        "tool_ms": await _tool_ms(base),
        "descriptors": server.num_fds(),
    }
    for writer in streams:
        writer.close()
    return figures


async def _leave_sessions(base: str, number: int) -> int:
    """Open sessions and leave; return how many were refused."""
    waiting = asyncio.Semaphore(_AT_ONCE)
    headers = {"accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as client:

        async def leave() -> bool:
            async with waiting:
                return (await client.post(f"{base}/mcp", json=_OPEN)).status_code != 200

        return sum(await asyncio.gather(*(leave() for _ in range(number))))


async def _half_sent(base: str) -> asyncio.StreamWriter:
    _, writer = await asyncio.open_connection("127.0.0.1", int(base.rpartition(":")[2]))
    writer.write(_HALF)
    return writer


async def _tool_ms(base: str) -> float:
    began = time.perf_counter()
    async with Client(f"{base}/mcp", mode="legacy") as client:
        await client.call_tool("status", {})
    return round((time.perf_counter() - began) * 1000, 1)


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=3_400)
    parser.add_argument("--half-sent", type=int, default=1_500)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as home, serving(Path(home)) as (base, server):
        figures = asyncio.run(measure(base, server, options.sessions, options.half_sent))
    missed = [name for name, target in TARGETS.items() if figures[name] is None or figures[name] > target]
    print(json.dumps({**figures, "missed": missed}, indent=2))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
