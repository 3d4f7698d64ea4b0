"""The address of a page of this server: its fields, the pages of a long list, and addresses that were typed into it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from webrag_core.acquisition.typed_address import typed_address
from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError
from webrag_core.page_text import visible

_LONGEST = 2_000


def field(query: Mapping[str, str], name: str) -> str:
    """The text of a field, without blanks around it; "" where it is not there."""
    return visible(query.get(name, "")).strip()[:_LONGEST]


def page_number(query: Mapping[str, str]) -> int:
    """The number of the page that the query of an address names, from 1."""
    text = query.get("page", "")
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 6 else 1


@dataclass(frozen=True, slots=True)
class Pager:
    """Where one page of a list stands: numbers `first` to `last` of its rows, and the addresses of the pages beside it,
    None where there is none."""

    first: int
    last: int
    before: str | None
    after: str | None


def pager(path: str, pairs: Mapping[str, str], *, page: int, size: int, rows: int) -> Pager:
    """The pager below page number `page` of a list, which has up to `size` rows a page. `rows` is how many of up to
    `size` + 1 rows were there from this page's first one on; `pairs` are what else stands in the query."""

    def address(number: int) -> str:
        query = {name: value for name, value in pairs.items() if value}
        return f"{path}?{urlencode({**query, **({'page': number} if number > 1 else {})})}"

    first = size * (page - 1)
    return Pager(
        first=first + 1,
        last=first + min(rows, size),
        before=address(page - 1) if page > 1 else None,
        after=address(page + 1) if rows > size else None,
    )


def typed_url(url: str) -> str:
    """The canonical address that a person means. Raises FetchError, which names it, for what is none."""
    address = typed_address(url)
    try:
        return canonicalise(address)
    except FetchError as error:
        raise FetchError(error.reason, f"{url}: {error.message}") from error
