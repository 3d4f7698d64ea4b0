"""A peer's process, seen from the bench."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from benchmarks.peers import lines
from webrag_core.errors import InvalidInputError

REPOSITORY = Path(__file__).parents[2]
PYTHON = REPOSITORY / ".venv-peers" / "bin" / "python"
_LONGEST_LINE = 64 * 2**20  # bytes
_STORED = TypeAdapter(lines.Stored)
_ANSWER = TypeAdapter(lines.Answer)


@dataclass(frozen=True, slots=True)
class PeerProcess:
    """A peer that runs and waits for pages, then questions."""

    process: asyncio.subprocess.Process

    async def store(self, pages: Iterable[lines.Page]) -> lines.Stored:
        """Send all pages and wait until they are stored."""
        for page in pages:
            await self._send(page)
        return _STORED.validate_json(await self._reply_to("store"))

    async def ask(self, question: str) -> lines.Answer:
        """The first passages for a question."""
        return _ANSWER.validate_json(await self._reply_to(question))

    async def _reply_to(self, message: str) -> bytes:
        await self._send(message)
        assert self.process.stdout is not None
        reply = await self.process.stdout.readline()
        if not reply:
            raise InvalidInputError(
                f"the peer ended with exit code {await self.process.wait()}; its messages stand above"
            )
        return reply

    async def _send(self, message: lines.Page | str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        await self.process.stdin.drain()


@asynccontextmanager
async def peer_process(module: str, arguments: Sequence[str]) -> AsyncIterator[PeerProcess]:
    """A peer from this package, in the environment of the peers, which ends with the block.

    Raises InvalidInputError where there is no such environment.
    """
    if not PYTHON.exists():
        raise InvalidInputError(f"{PYTHON} is missing: `make bench-peers` makes the environment of the peers")
    process = await asyncio.create_subprocess_exec(
        *(str(PYTHON), "-m", f"benchmarks.peers.{module}", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_LONGEST_LINE,
        cwd=REPOSITORY,
        env={**os.environ, "DISABLE_TQDM": "1"},
    )
    try:
        yield PeerProcess(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()
