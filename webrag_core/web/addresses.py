"""Addresses as people type them."""

from __future__ import annotations

from webrag_core.acquisition.typed_address import typed_address
from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError


def typed_url(url: str) -> str:
    """The canonical address that a person means. Raises FetchError, which names it, for what is none."""
    address = typed_address(url)
    try:
        return canonicalise(address)
    except FetchError as error:
        raise FetchError(error.reason, f"{url}: {error.message}") from error
