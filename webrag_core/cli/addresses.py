"""URLs as people type them: without a scheme, twice, or malformed among good ones."""

from __future__ import annotations

from collections.abc import Sequence

from webrag_core.cli.output import complain
from webrag_core.errors import FetchError, Reason


def with_scheme(url: str) -> str:
    """Return `url`, with https:// (and a notice) where it has no scheme."""
    if "://" in url:
        return url
    complain(f"no scheme given: https://{url} is assumed")
    return f"https://{url}"


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
