"""What the adapters of paid or self-hosted models share: packages, keys, reasons that give no secret away."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pydantic import SecretStr

from webrag_core.errors import InvalidInputError

# SDKs insist on a key, also for a server that wants none
_NO_KEY = "unused"
_HEADERS = frozenset(
    ["accept", "accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding"]
)


def require_package(package: str, wanted_by: str) -> None:
    """Raises InvalidInputError when `package`, which the setting `wanted_by` needs, is not installed."""
    if find_spec(package) is None:
        raise InvalidInputError(f"{wanted_by} needs the package {package}: install webrag[providers]")


async def load_package(package: str) -> None:
    """Import an SDK, which takes up to a second, before a request's time limit begins."""
    if package not in sys.modules:
        await asyncio.to_thread(import_module, package)


def key_or_dummy(key: SecretStr | None) -> str:
    """The key's text, or a placeholder for servers that want none."""
    return _NO_KEY if key is None else key.get_secret_value()


def http_reason(status: int | None, prefix: str) -> str:
    """An HTTP status and which of the settings `<prefix>_…` to look at.

    The body is left out on purpose: providers repeat the key they were given, or a part of it.
    """
    settings = {
        400: f"{prefix}_MODEL",
        401: f"{prefix}_API_KEY",
        403: f"{prefix}_API_KEY",
        404: f"{prefix}_BASE_URL and {prefix}_MODEL",
        422: f"{prefix}_MODEL",
    }
    if status == 429:
        return "HTTP 429 (rate limit or quota)"
    return f"HTTP {status} (check {settings[status]})" if status in settings else f"HTTP {status}"


def only_our_headers(key: SecretStr | None) -> Callable[[Any], Awaitable[None]]:
    """For the `request` hook of a client of httpx: what an SDK adds by itself does not leave.

    The SDK of OpenAI reads headers, organisation and project from the environment, describes the machine, and would
    send all of it to whatever server is configured here.
    """

    async def strip(request: Any) -> None:
        for name in set(request.headers.keys()) - _HEADERS:
            del request.headers[name]
        if key is not None:
            request.headers["authorization"] = f"Bearer {key.get_secret_value()}"

    return strip
