"""Addresses as people type them."""

from __future__ import annotations

from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError


def typed_url(url: str) -> str:
    """The canonical address that a person means, without a scheme one of https. Raises FetchError for what is none."""
    try:
        return canonicalise(url if "://" in url else f"https://{url}")
    except FetchError as error:
        raise FetchError(error.reason, f"{url}: {error.message}") from error
