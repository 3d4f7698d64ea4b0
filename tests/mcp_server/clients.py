"""The SDK's own client on every way to the server, and what its results say."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mcp import Client
from mcp.client import ClientRequestContext
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult

from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.config import Settings
from webrag_core.mcp_server.tools import make_server

MODES = ("legacy", "auto")
_HEADER = re.compile(r"^\[([A-Z -]+)\]$", re.MULTILINE)


def stdio(database_url: str, folder: Path, **environment: str) -> StdioServerParameters:
    """The installed `webrag mcp` on this database, with two previews a round and no reading model."""
    bytecode = {name: value for name, value in os.environ.items() if name == "PYTHONPYCACHEPREFIX"}
    return StdioServerParameters(
        command=str(Path(sys.executable).with_name("webrag")),
        args=["mcp"],
        env={**bytecode, "DATABASE_URL": database_url, "WEBRAG_PREVIEWS": "2", "WEBRAG_READER": "none", **environment},
        cwd=folder,
    )


@dataclass(slots=True)
class Person:
    """Answers every question that a server asks through the client in the same way."""

    action: Literal["accept", "decline", "cancel"] = "accept"
    questions: list[str] = field(default_factory=list)

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        """As the SDK's elicitation callback."""
        self.questions.append(params.message)
        return ElicitResult(action=self.action)


@asynccontextmanager
async def connected(
    settings: Settings, acquirer: Acquirer | None = None, *, mode: str = "legacy", person: Person | None = None
) -> AsyncIterator[Client]:
    """A client of a server in this process."""
    async with Client(make_server(settings, acquirer), mode=mode, elicitation_callback=person) as client:
        yield client


async def called(client: Client, name: str, **arguments: Any) -> CallToolResult:
    """What a tool answers."""
    return await client.call_tool(name, arguments)


def text_of(result: CallToolResult) -> str:
    """Its one block of text."""
    (block,) = result.content
    assert block.type == "text"
    return block.text


def sections_of(text: str) -> dict[str, str]:
    """Header -> what stands below it; no header twice."""
    found = list(_HEADER.finditer(text))
    names = [match[1] for match in found]
    assert len(set(names)) == len(names), names
    ends = [match.start() for match in found[1:]] + [len(text)]
    return {match[1]: text[match.end() : end].strip() for match, end in zip(found, ends, strict=True)}
