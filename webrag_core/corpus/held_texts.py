"""Texts that are held back: what a new one would replace, whether it is confirmed, and what is written of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from psycopg import AsyncConnection

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.converted_page import EXTRACTOR_VERSION, ConvertedPage
from webrag_core.corpus.brake import Held
from webrag_core.corpus.documents import CONFIRMATION_SPACING, HELD, StoredDocument
from webrag_core.corpus.text_change import PageText, TextChange, alike, change_of
from webrag_core.text_work import beside_loop


@dataclass(frozen=True, slots=True)
class HeldText:
    """A page whose new text is held back: why, on how many days it was seen, and when last."""

    url: str
    held: Held
    days: int
    last_seen: datetime


async def held_texts(connection: AsyncConnection, source: str) -> list[HeldText]:
    """The pages of a source whose new texts are held back, by URL."""
    cursor = await connection.execute(
        "SELECT d.canonical_url, coalesce(d.held_as, 'near_empty'), d.misses, d.last_miss FROM documents d"
        " JOIN sources s ON s.id = d.source_id WHERE s.key = %s AND d.status <> 'gone' AND d.miss_reason = ANY(%s)"
        " ORDER BY d.canonical_url",
        (source, [reason.value for reason in HELD]),
    )
    return [HeldText(url, Held(held), days, seen) for url, held, days, seen in await cursor.fetchall()]


async def change_by(
    connection: AsyncConnection, stored: StoredDocument, page: AcquiredPage, converted: ConvertedPage
) -> TextChange | None:
    """Compare the newest stored text of a page with the one that came; None where nothing can be lost.

    That is so for the same text or body, for a longer text that the page had before, for a copy older than what is
    stored, and where no text is kept. What another extractor made or another address sends is not comparable.
    """
    if stored.latest_version is None or (stored.fetched_at is not None and page.fetched_at < stored.fetched_at):
        return None
    cursor = await connection.execute(
        "SELECT v.markdown, v.title, v.body_sha256, v.extractor, EXISTS (SELECT FROM document_versions o"
        "  WHERE o.document_id = v.document_id AND o.sha256 = %s) FROM document_versions v WHERE v.id = %s"
        " AND v.pruned_at IS NULL",
        (hashlib.sha256(converted.markdown.encode()).hexdigest(), stored.latest_version),
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    markdown, title, body_sha256, extractor, had_before = row
    if had_before and len(converted.markdown) >= len(markdown):
        return None  # unchanged, or back after a notice that was taken
    if body_sha256 is not None and body_sha256 == hashlib.sha256(page.body).hexdigest():
        return None  # the page is as it was: the extractor reads it in another way
    same_place = page.final_url == stored.canonical_url
    return await beside_loop(
        change_of,
        PageText(markdown, title),
        PageText(converted.markdown, converted.title),
        page.final_url,
        comparable=same_place and extractor == EXTRACTOR_VERSION,
    )


def is_confirmed(stored: StoredDocument, change: TextChange) -> bool:
    """True when the new text was held back before, on as many days as it takes, and this is one day more."""
    if stored.miss_reason not in HELD or stored.last_miss is None:
        return False
    if stored.held_sketch is not None and not alike(stored.held_sketch, change.new_sketch):
        return False
    days = Held(stored.held_as).days if stored.held_as is not None else Held.NEAR_EMPTY.days
    return stored.misses >= days - 1 and datetime.now(UTC) - stored.last_miss >= CONFIRMATION_SPACING


async def note_held(connection: AsyncConnection, stored: StoredDocument, held: Held, change: TextChange) -> None:
    """Write why a text is held back, before the failure is recorded. Another text than before begins to be counted
    anew. Call inside a transaction that holds the lock of the URL."""
    again = stored.held_sketch is None or alike(stored.held_sketch, change.new_sketch)
    await connection.execute(
        "UPDATE documents SET held_as = %(held)s, held_sketch = %(sketch)s,"
        " misses = CASE WHEN %(again)s THEN misses ELSE 0 END,"
        " last_miss = CASE WHEN %(again)s THEN last_miss END WHERE id = %(id)s",
        {"held": held.value, "sketch": list(change.new_sketch), "again": again, "id": stored.id},
    )
