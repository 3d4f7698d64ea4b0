"""Links that show one answer: made, listed, revoked, and followed. Of a token only its digest is stored."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import datetime, timedelta

from psycopg import AsyncConnection
from psycopg.rows import class_row
from pydantic import BaseModel

from webrag_core.errors import InvalidInputError, NotStoredError
from webrag_core.foreign_values import LARGEST_NUMBER

MOST_OF_AN_ANSWER = 20
"""Links of one answer that are in force at a time."""
_TOKEN_BYTES = 32
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
_NOTHING = bytes(32)


class Share(BaseModel):
    """A link to answer `answer_id`, without its token."""

    share_id: int
    answer_id: int
    created_at: datetime
    expires_at: datetime


async def add_share(connection: AsyncConnection, answer_id: int, *, days: float) -> tuple[Share, str]:
    """Make a link; with the token, which nobody can read later. Raises NotStoredError where there is no such answer in
    prose, InvalidInputError where it has too many links."""
    cursor = await connection.execute(
        "SELECT (SELECT count(*) FROM answer_shares s WHERE s.answer_id = a.id AND s.expires_at > now())"
        " FROM answer_runs a WHERE a.id = %s AND a.kind = 'prose' AND a.state = 'done' FOR UPDATE",
        (_within(answer_id),),
    )
    row = await cursor.fetchone()
    if row is None:
        raise NotStoredError(
            f"there is no answer {answer_id} in prose: `webrag answers list` names those that there are"
        )
    if row[0] >= MOST_OF_AN_ANSWER:
        raise InvalidInputError(f"answer {answer_id} has {MOST_OF_AN_ANSWER} links: revoke some first")
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    async with connection.cursor(row_factory=class_row(Share)) as rows:
        await rows.execute(
            "INSERT INTO answer_shares (answer_id, token_sha256, expires_at) VALUES (%s, %s, now() + %s)"
            " RETURNING id AS share_id, answer_id, created_at, expires_at",
            (answer_id, _digest(token), timedelta(days=days)),
        )
        share = await rows.fetchone()
    assert share is not None
    return share, token


async def list_shares(connection: AsyncConnection, answer_id: int | None = None) -> list[Share]:
    """Links that are in force, the latest first, of one answer or of all."""
    async with connection.cursor(row_factory=class_row(Share)) as rows:
        await rows.execute(
            "SELECT id AS share_id, answer_id, created_at, expires_at FROM answer_shares WHERE expires_at > now()"
            " AND (%(answer)s::bigint IS NULL OR answer_id = %(answer)s) ORDER BY id DESC LIMIT 1000",
            {"answer": None if answer_id is None else _within(answer_id)},
        )
        return await rows.fetchall()


async def remove_share(connection: AsyncConnection, share_id: int) -> Share:
    """Revoke a link. Raises NotStoredError where there is none of this number."""
    async with connection.cursor(row_factory=class_row(Share)) as rows:
        await rows.execute(
            "DELETE FROM answer_shares WHERE id = %s RETURNING id AS share_id, answer_id, created_at, expires_at",
            (_within(share_id),),
        )
        share = await rows.fetchone()
    if share is None:
        raise NotStoredError(f"there is no link {share_id}")
    return share


async def remove_all_shares(connection: AsyncConnection) -> int:
    """Revoke every link. Returns how many were in force: nobody knows which of them were revoked since a backup."""
    cursor = await connection.execute("DELETE FROM answer_shares RETURNING expires_at > now()")
    return sum(row[0] for row in await cursor.fetchall())


async def answer_of_token(connection: AsyncConnection, token: str) -> int | None:
    """The number of the answer that a token shows now; None for every other text. The token is compared by its digest,
    in constant time."""
    wanted = _digest(token) if _TOKEN.fullmatch(token) else _NOTHING
    cursor = await connection.execute(
        "SELECT answer_id, token_sha256 FROM answer_shares WHERE token_sha256 = %s AND expires_at > now()", (wanted,)
    )
    number, stored = await cursor.fetchone() or (None, _NOTHING)
    return number if hmac.compare_digest(bytes(stored), wanted) else None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _within(number: int) -> int:
    return min(max(number, 0), LARGEST_NUMBER)
