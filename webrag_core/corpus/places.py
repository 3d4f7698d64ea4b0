"""What "only pages at or below an address" means. The one place for every door: each passes on what was typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import sql

from webrag_core.acquisition.typed_address import typed_address
from webrag_core.acquisition.urls import canonicalise

_SCHEMES = ("https", "http")

AT_OR_BELOW = sql.SQL("""(
d.canonical_url = ANY(%(addresses)s::text[])
OR d.id IN (SELECT a.document_id FROM url_aliases a WHERE a.url = ANY(%(addresses)s::text[]))
OR EXISTS (SELECT FROM unnest(%(beginnings)s::text[]) AS b (beginning)
           WHERE starts_with(d.canonical_url, b.beginning)))
""")
"""Condition on documents `d`, with the parameters of `Places`."""


@dataclass(frozen=True, slots=True)
class Places:
    """Some addresses and all below them: pages with one of the `addresses` (canonical, or an alias), or whose canonical
    URL begins with one of the `beginnings`."""

    addresses: tuple[str, ...]
    beginnings: tuple[str, ...]

    @classmethod
    def typed(cls, texts: Sequence[str]) -> Places:
        """The places that typed addresses mean: each is a host or a URL; without a scheme both https and http.

        A page is below an address when its path goes on from it at a slash: below `h/doc` are `h/doc/a` and `h/doc?a`,
        not `h/docs`. A last slash and a fragment make no difference. An address with a query means that page alone.
        Raises FetchError(INVALID_URL).
        """
        addresses: dict[str, None] = {}
        beginnings: dict[str, None] = {}
        for url in (url for text in texts for url in _spellings(text)):
            if "?" in url:
                addresses[url] = None
                continue
            bare = url.removesuffix("/")
            addresses |= dict.fromkeys((bare, f"{bare}/"))
            beginnings |= dict.fromkeys((f"{bare}/", f"{bare}?"))
        return cls(tuple(addresses), tuple(beginnings))

    @property
    def parameters(self) -> dict[str, list[str]]:
        """Parameters of `AT_OR_BELOW`."""
        return {"addresses": list(self.addresses), "beginnings": list(self.beginnings)}


def _spellings(text: str) -> list[str]:
    """The canonical URLs that a typed address may mean."""
    url = typed_address(text)
    if url == text.strip():
        return [canonicalise(url)]
    rest = url.partition("://")[2]
    return [canonicalise(f"{scheme}://{rest}") for scheme in _SCHEMES]
