"""The texts of stored versions, by id."""

from __future__ import annotations

from collections.abc import Iterable

from psycopg import AsyncConnection


async def version_texts(connection: AsyncConnection, version_ids: Iterable[int]) -> dict[int, str]:
    """Markdown by version id, of those that are kept."""
    cursor = await connection.execute(
        "SELECT id, markdown FROM document_versions WHERE id = ANY(%s) AND markdown IS NOT NULL",
        (sorted(set(version_ids)),),
    )
    return dict(await cursor.fetchall())
