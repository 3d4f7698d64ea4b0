"""URLs as people type them: without a scheme, twice, or malformed among good ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from webrag_core.cli.output import complain
from webrag_core.errors import FetchError, Reason


@cache  # an address is said once
def with_scheme(text: str) -> str:
    """The URL that a typed address means, with a notice where the scheme is assumed. Raises FetchError(INVALID_URL)."""
    from webrag_core.acquisition.typed_address import typed_address

    url = typed_address(text)
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
