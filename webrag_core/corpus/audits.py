"""Audits of a site's validators: a few pages of each refresh are asked whole, though ETag or Last-Modified is known.

A server that always answers 304 hides every change. Only a full answer shows whether validators move with texts.
"""

from __future__ import annotations

from collections.abc import Collection

from psycopg import AsyncConnection

SHARE = 20
"""One page in so many is asked whole in each refresh, at least one."""


async def choose_audits(connection: AsyncConnection, source_id: int, urls: Collection[str], run_id: str) -> list[str]:
    """Choose and mark the pages among `urls` that a refresh asks whole; return them, in no order that lasts.

    Besides the share, these are pages whose ETag another page of the source has for another text.
    """
    cursor = await connection.execute(
        "WITH known AS (SELECT d.id, d.canonical_url, d.etag, d.newest_version FROM documents d"
        "  WHERE d.source_id = %(source)s AND d.status <> 'gone'"
        "  AND (d.etag IS NOT NULL OR d.last_modified IS NOT NULL)),"
        " shared AS (SELECT k.etag FROM known k JOIN document_versions v ON v.id = k.newest_version"
        "  WHERE k.etag IS NOT NULL GROUP BY k.etag HAVING count(DISTINCT v.sha256) > 1),"
        " asked AS (SELECT id, etag, row_number() OVER (ORDER BY md5(%(run)s || canonical_url)) AS place,"
        "  count(*) OVER () AS pages FROM known WHERE canonical_url = ANY(%(urls)s))"
        " UPDATE documents d SET ask_whole = coalesce(d.ask_whole, 'audit') FROM asked a WHERE d.id = a.id"
        " AND (%(share)s * (a.place - 1) < a.pages OR a.etag IN (SELECT etag FROM shared)) RETURNING d.canonical_url",
        {"source": source_id, "run": run_id, "urls": list(urls), "share": SHARE},
    )
    return [str(row[0]) for row in await cursor.fetchall()]


async def note_audit(connection: AsyncConnection, document_id: int, *, moved: bool, changed: bool) -> None:
    """Note what a full answer said of a page's validators. One whose text changed alone lies, until both change."""
    await connection.execute(
        "UPDATE documents SET ask_whole = CASE WHEN %(changed)s AND NOT %(moved)s THEN 'lies'"
        " WHEN NOT %(changed)s AND ask_whole = 'lies' THEN 'lies' END WHERE id = %(id)s",
        {"moved": moved, "changed": changed, "id": document_id},
    )
