"""Shared helpers of model adapters: packages, keys, error reasons without secrets."""

from __future__ import annotations

import asyncio
import ssl
import sys
from collections.abc import Awaitable, Callable
from functools import cache
from importlib import import_module
from typing import Any

from pydantic import SecretStr

from webrag_core.trace import traceparent

# SDKs require a key even for servers without authentication
_NO_KEY = "unused"
_HEADERS = frozenset(
    ["accept", "accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding"]
)


async def load_package(package: str) -> None:
    """Import an SDK, which takes up to a second, before a request's time limit begins."""
    if package not in sys.modules:
        await asyncio.to_thread(import_module, package)


@cache
def trust_store(library: str) -> ssl.SSLContext:
    """The certificates that an HTTP library (`httpx` or `httpx2`) trusts, read once: that takes 30 ms."""
    context: ssl.SSLContext = import_module(library).create_ssl_context()
    return context


@cache
def mail_trust() -> ssl.SSLContext:
    """The same certificates for mail servers. Not the same object: HTTP libraries write their protocols into theirs."""
    context: ssl.SSLContext = import_module("httpx2").create_ssl_context()
    return context


def key_or_dummy(key: SecretStr | None) -> str:
    """Return the key, or a placeholder for servers without authentication."""
    return _NO_KEY if key is None else key.get_secret_value()


def http_reason(status: int | None, prefix: str) -> str:
    """Describe an HTTP status with the `<prefix>_…` setting to check.

    The body is omitted: some providers repeat the key in it.
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


async def add_trace(request: Any) -> None:
    """An httpx `request` hook: the server is told which trace the request belongs to."""
    if (parent := traceparent()) is not None:
        request.headers["traceparent"] = parent


def without_version(url: str) -> tuple[str, dict[str, str]]:
    """The base URL without its query, and the query: `api-version` of a dated API, as Azure has, or nothing."""
    base, _, query = url.partition("?")
    name, _, version = query.partition("=")
    return base.rstrip("/"), {name: version} if version else {}


def only_our_headers(key: SecretStr | None, *, dated: bool = False) -> Callable[[Any], Awaitable[None]]:
    """Return an httpx `request` hook that strips headers added by an SDK.

    The SDK of OpenAI reads headers, organisation and project from the environment, describes the machine, and would
    send all of it to whatever server is configured here. A `dated` API has its key in `api-key`.
    """

    async def strip(request: Any) -> None:
        for name in set(request.headers.keys()) - _HEADERS:
            del request.headers[name]
        await add_trace(request)
        if key is not None:
            name, prefix = ("api-key", "") if dated else ("authorization", "Bearer ")
            request.headers[name] = f"{prefix}{key.get_secret_value()}"

    return strip
