"""URLs as people type them: without a scheme, twice, or malformed among good ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextvars import ContextVar

from webrag_core.cli.output import complain
from webrag_core.errors import FetchError, Reason

_typed: ContextVar[dict[str, str] | None] = ContextVar("webrag_typed", default=None)
"""The addresses that the user typed, as opposed to those that pages hold, and what each means."""


def with_scheme(text: str) -> str:
    """The URL that a typed address means, with a notice where the scheme is assumed, once for each address. Raises
    FetchError(INVALID_URL)."""
    from webrag_core.acquisition.typed_address import typed_address

    typed = _typed.get()
    if typed is None:
        _typed.set(typed := {})
    if text in typed:
        return typed[text]
    typed[text] = url = typed_address(text)
    if url != text.strip():
        complain(f"{text.strip()} means {url}")
    return url


def canonical_urls(urls: Sequence[str], failed: dict[str, str]) -> list[str]:
    """Canonicalise `urls` and remove duplicates. Malformed ones are reported and added to `failed`.

    Raises FetchError(INVALID_URL) when all are malformed.
    """
    from webrag_core.acquisition.urls import canonicalise

    canonical: dict[str, None] = {}
    for url in urls:
        try:
            canonical[canonicalise(with_scheme(url))] = None
        except FetchError as error:
            if len(urls) == 1:
                raise
            failed[url] = error.reason.value
            complain(f"{url}: {error.message}")
    if not canonical:
        raise FetchError(Reason.INVALID_URL, "none of the arguments is a URL")
    return list(canonical)


def begin() -> None:
    """Forget the addresses of an earlier command in this process."""
    _typed.set({})


def way_out(code: str) -> str:
    """What the user can do about an error with this code, to stand after its message; "" where nothing is known.

    Only addresses that were typed are named: a page must not suggest what to open.
    """
    if code in (Reason.NOT_FOUND, Reason.NOT_ARCHIVED) and (warc := os.environ.get("WEBRAG_WARC")):
        return f"; pages come from WEBRAG_WARC={warc}: unset it to read the web"
    if code == Reason.BLOCKED_ADDRESS:
        typed = (_typed.get() or {}).values()
        if places := dict.fromkeys(filter(None, map(_closed_place, typed))):
            hosts = filter(None, os.environ.get("WEBRAG_ALLOW_HOSTS", "").split(","))
            return f", here WEBRAG_ALLOW_HOSTS={','.join((*hosts, *places))}"
    return ""


def _closed_place(url: str) -> str | None:
    """host:port of an address that the gate refuses for its port or its literal host."""
    from ada_url import URL

    from webrag_core.acquisition.typed_address import is_local

    try:
        parsed = URL(url)
    except ValueError:
        return None
    port = parsed.port or ("80" if parsed.protocol == "http:" else "443")
    return f"{parsed.hostname}:{port}" if is_local(parsed.hostname) or port not in ("80", "443") else None
