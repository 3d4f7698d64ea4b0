"""List the stored pages, and tell which URLs and sites are known from them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from psycopg import AsyncConnection, sql
from psycopg.rows import class_row
from pydantic import BaseModel

from webrag_core.corpus.places import AT_OR_BELOW, Places

LINKS_TO = (
    "left(target_url, 500) = ANY(SELECT left(u, 500) FROM unnest(%(urls)s::text[]) u) AND target_url = ANY(%(urls)s)"
)
"""Condition on `link_candidates` that their target is one of these URLs, as the index on its first part serves it."""
_BELOW = sql.SQL("SELECT d.id FROM documents d WHERE d.current_version IS NOT NULL AND {}").format(AT_OR_BELOW)
_PAGES = (
    "FROM documents d JOIN document_versions v ON v.id = d.current_version"
    " LEFT JOIN document_sizes z ON z.document_id = d.id"
    " WHERE %(ids)s::integer[] IS NULL OR d.id = ANY(%(ids)s::integer[])"
)


class StoredPage(BaseModel):
    """A searchable page. `chunks` and `tokens` are those of its parents."""

    url: str
    title: str | None
    chunks: int
    tokens: int
    fetched_at: datetime


class StoredPages(BaseModel):
    """The newest pages, with the totals of all of them."""

    pages: list[StoredPage]
    total: int
    chunks: int
    tokens: int


async def stored_pages(connection: AsyncConnection, *, ids: Sequence[int] | None, limit: int) -> StoredPages:
    """List the last `limit` pages fetched among these documents (None = all)."""
    parameters = {"ids": None if ids is None else list(ids), "limit": limit}
    cursor = await connection.execute(
        f"SELECT count(*), coalesce(sum(z.parents), 0), coalesce(sum(z.tokens), 0) {_PAGES}".encode(), parameters
    )
    row = await cursor.fetchone()
    assert row is not None
    async with connection.cursor(row_factory=class_row(StoredPage)) as typed:
        await typed.execute(
            "SELECT d.canonical_url AS url, v.title, coalesce(z.parents, 0) AS chunks,"
            " coalesce(z.tokens, 0) AS tokens, v.fetched_at"
            f" {_PAGES} ORDER BY v.fetched_at DESC, d.canonical_url LIMIT %(limit)s".encode(),
            parameters,
        )
        pages = await typed.fetchall()
    return StoredPages(pages=pages, total=int(row[0]), chunks=int(row[1]), tokens=int(row[2]))


async def pages_below(connection: AsyncConnection, address: str) -> list[int]:
    """Return ids of the searchable documents at or below `address`, as `Places.typed` reads it.

    Raises FetchError(INVALID_URL).
    """
    cursor = await connection.execute(_BELOW, Places.typed([address]).parameters)
    return [int(row[0]) for row in await cursor.fetchall()]


async def known_sites(connection: AsyncConnection) -> list[str]:
    """Hosts of the sources that hold pages or are attached."""
    cursor = await connection.execute(
        "SELECT DISTINCT s.host FROM sources s WHERE s.page_limit IS NOT NULL OR EXISTS (SELECT FROM documents d"
        " JOIN document_versions v ON v.document_id = d.id WHERE d.source_id = s.id) ORDER BY 1"
    )
    return [str(row[0]) for row in await cursor.fetchall()]


async def known_hosts(connection: AsyncConnection, hosts: Sequence[str]) -> dict[str, bool]:
    """Return those of these hosts that hold pages or are attached as sources; True = attached."""
    cursor = await connection.execute(
        "SELECT s.host, bool_or(s.page_limit IS NOT NULL) FROM sources s WHERE s.host = ANY(%s)"
        " AND (s.page_limit IS NOT NULL OR EXISTS (SELECT FROM documents d"
        " JOIN document_versions v ON v.document_id = d.id WHERE d.source_id = s.id)) GROUP BY s.host",
        (list(hosts),),
    )
    return {str(host): bool(attached) for host, attached in await cursor.fetchall()}


async def known_urls(connection: AsyncConnection, urls: Sequence[str]) -> set[str]:
    """Return those of these canonical URLs that are stored, in a stored site map, or linked by a stored page."""
    cursor = await connection.execute(
        sql.SQL(
            "SELECT canonical_url FROM documents WHERE canonical_url = ANY(%(urls)s)"
            " UNION SELECT url FROM url_aliases WHERE url = ANY(%(urls)s)"
            " UNION SELECT url FROM site_map_pages WHERE url = ANY(%(urls)s)"
            " UNION SELECT target_url FROM link_candidates WHERE {}"
        ).format(sql.SQL(LINKS_TO)),
        {"urls": list(urls)},
    )
    return {str(row[0]) for row in await cursor.fetchall()}
