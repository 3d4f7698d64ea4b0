"""From a stored page and a date to a reply: its version of the date, or why it has none."""

from __future__ import annotations

from psycopg import AsyncConnection

from webrag_core.errors import FetchError, WebragError
from webrag_core.history.as_of import AsOf
from webrag_core.history.document_apis.models import DocumentReply, Outside
from webrag_core.history.models import PageAt, TimeAxis
from webrag_core.history.pages import page_at, seen_history
from webrag_core.store.database import Database


async def known_versions(connection: AsyncConnection, url: str) -> frozenset[int]:
    """Ids of the versions stored of the page at canonical `url`."""
    cursor = await connection.execute(
        "SELECT v.id FROM document_versions v WHERE v.document_id IN (SELECT d.id FROM documents d"
        " WHERE d.canonical_url = %(url)s UNION ALL SELECT a.document_id FROM url_aliases a WHERE a.url = %(url)s)",
        {"url": url},
    )
    return frozenset(int(row[0]) for row in await cursor.fetchall())


async def reply_at(
    database: Database,
    identifier: str,
    url: str,
    at: AsOf | None,
    time: TimeAxis,
    *,
    before: frozenset[int] | None = None,
    whole_history: bool = False,
) -> DocumentReply:
    """What a stored page is at a time (None = now). `before` are the ids of its versions before anything was stored
    for this reply (None = nothing was). `whole_history`: nothing was there before the first sighting.

    Raises InvalidInputError for a page of which nothing is known.
    """
    page = await page_at(database, url, at or AsOf.now(), time)
    reply = DocumentReply(
        identifier=identifier,
        status="already_stored",
        note=page.note,
        url=page.url,
        certainty=page.certainty,
        time=time,
        nearest_version_id=None if page.nearest is None else page.nearest.version_id,
    )
    if page.version_id is None:
        reply.status = "no_version_at"
        reply.outside = await _outside(database, page, at or AsOf.now(), whole_history=whole_history)
    elif page.text is None:
        reply.status, reply.code = "failed", "not_kept"
    else:
        if before is not None and page.version_id not in before:
            reply.status = "stored"
        reply.version_id, reply.version, reply.version_sha256 = page.version_id, page.version, page.sha256
        reply.title, reply.char_start, reply.char_end = page.title, 0, len(page.text)
    return reply


def failure(identifier: str, error: WebragError, *, url: str | None = None) -> DocumentReply:
    """The reply for what an error prevented."""
    transient = isinstance(error, FetchError) and error.transient
    return DocumentReply(
        identifier=identifier, status="failed", code=error.code, note=error.message, url=url, transient=transient
    )


async def _outside(database: Database, page: PageAt, at: AsOf, *, whole_history: bool) -> Outside:
    if page.certainty == "not_in_force":  # what came back later had been repealed before
        return "repealed" if page.previous_version is not None else "not_yet"
    if page.certainty in ("not_seen", "not_stated"):
        return "not_yet" if whole_history and page.certainty == "not_seen" and not at.in_future else "unknown"
    async with database.connection() as connection:
        story = await seen_history(connection, page.url)
    was_there = any(period.version is not None and period.seen_from <= at.end for period in story.periods)
    return "repealed" if was_there else "not_yet"
