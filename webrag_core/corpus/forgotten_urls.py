"""Which URLs were removed on request."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import AsyncConnection, AsyncCursor


async def ask_forgotten_of(connection: AsyncConnection, urls: Sequence[str]) -> AsyncCursor:
    """Ask which of these URLs were removed on request: a row for each. May be part of a pipeline."""
    return await connection.execute("SELECT u FROM unnest(%s::text[]) u WHERE is_forgotten(u)", (list(urls),))
