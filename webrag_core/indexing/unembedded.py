"""Table `texts_without_vector`: texts that are searched by words only, as their vectors cannot be had, yet or at all.

A text `waits` while the model's endpoint cannot be asked, and is `refused` where the endpoint works and takes no part
of it. A page with such texts is complete, and `indexing.state` counts it as settled when none of them waits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import LiteralString

from psycopg import AsyncConnection

WITHOUT_VECTOR: LiteralString = (
    # asked once: else every child is looked up among none
    "(CASE WHEN EXISTS (SELECT FROM texts_without_vector WHERE model_id = %(model)s AND refused) THEN"
    "  (SELECT count(*) FROM chunks n JOIN texts_without_vector t ON t.text_sha256 = n.embed_sha256"
    "  WHERE t.model_id = %(model)s AND t.refused AND n.version_id = v.id AND n.level = 'child') ELSE 0 END)"
)
"""Children of the version `v` whose texts the model refuses."""


@dataclass(frozen=True, slots=True)
class Unembedded:
    """Texts of a page without a vector: digests of those that wait, and of those that are refused; the last reasons."""

    waiting: frozenset[str]
    refused: frozenset[str]
    reasons: tuple[str, ...]


async def mark(connection: AsyncConnection, model_id: int, reasons: Mapping[str, str], *, refused: bool) -> None:
    """Note texts by digest, with the reason. A refused text stays so."""
    async with connection.transaction(), connection.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO texts_without_vector AS t (model_id, text_sha256, refused, reason) VALUES (%s, %s, %s, %s)"
            " ON CONFLICT (model_id, text_sha256) DO UPDATE SET refused = t.refused OR excluded.refused,"
            " reason = excluded.reason",
            [(model_id, digest, refused, reason) for digest, reason in sorted(reasons.items())],
        )


async def unmark(connection: AsyncConnection, model_id: int, digests: Collection[str]) -> None:
    """Forget texts that have a vector now."""
    await connection.execute(
        "DELETE FROM texts_without_vector WHERE model_id = %s AND text_sha256 = ANY(%s)", (model_id, sorted(digests))
    )


async def unembedded(connection: AsyncConnection, model_id: int, digests: Collection[str]) -> Unembedded:
    """Which of these texts are noted."""
    cursor = await connection.execute(
        "SELECT text_sha256, refused, reason FROM texts_without_vector WHERE model_id = %s AND text_sha256 = ANY(%s)",
        (model_id, list(digests)),
    )
    rows = await cursor.fetchall()
    return Unembedded(
        frozenset(digest for digest, refused, _ in rows if not refused),
        frozenset(digest for digest, refused, _ in rows if refused),
        tuple(dict.fromkeys(reason for *_, reason in rows)),
    )


async def any_waits(connection: AsyncConnection, model_id: int) -> bool:
    """Whether a text waits for the model's endpoint."""
    cursor = await connection.execute(
        "SELECT EXISTS (SELECT FROM texts_without_vector WHERE model_id = %s AND NOT refused)", (model_id,)
    )
    row = await cursor.fetchone()
    return bool(row and row[0])
