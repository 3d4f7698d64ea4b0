"""A local server that speaks Firecrawl's wire format, or as badly as a test says. GET, POST and DELETE."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from tests.provider_server import Provider, serving

KEY = "fc-secret-1234567890"
TEXT = "<h1>Queues</h1><p>Queues are not thread-safe, see <a href='/x'>this</a>.</p>"
PAGE = f"<html><body><main>{TEXT}</main></body></html>"


def document(source: str, html: str | None = PAGE, **metadata: Any) -> dict[str, Any]:
    """One document as the API sends it; `metadata` in camelCase, over what a plain page has."""
    said = {"sourceURL": source, "url": source, "statusCode": 200, "proxyUsed": "basic", "cacheState": "miss"}
    return {"markdown": "# Queues\n\nQueues are not thread-safe.", "html": html, "metadata": {**said, **metadata}}


def scraped(source: str, html: str | None = PAGE, **metadata: Any) -> dict[str, Any]:
    """The reply to a successful scrape."""
    return {"success": True, "data": document(source, html, **metadata)}


def firecrawl(*script: Any) -> AbstractContextManager[Provider]:
    """A server that answers each request with the next of `script`; the last one answers everything that follows."""
    return serving(script[-1], *script[:-1])
