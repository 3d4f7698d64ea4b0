"""Lists of which the pages show a part at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode


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
