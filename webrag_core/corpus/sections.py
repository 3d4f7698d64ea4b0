"""What an attached source holds: its start page, and anything at all of its section."""

from __future__ import annotations

from psycopg import AsyncConnection

from webrag_core.corpus.documents import find_document
from webrag_core.corpus.sources import Source


async def start_is_held(connection: AsyncConnection, source: Source) -> bool:
    """True when a text of the page at the source's start URL, or of the page that this redirects to, is stored."""
    document = await find_document(connection, source.start_url)
    return document is not None and document.latest_version is not None and document.status != "gone"


async def start_elsewhere(connection: AsyncConnection, source: Source) -> str | None:
    """The page that the start URL redirects to when it belongs to another source; None when it does not."""
    document = await find_document(connection, source.start_url)
    return document.canonical_url if document is not None and document.source_id != source.id else None


async def holds_pages(connection: AsyncConnection, source: Source) -> bool:
    """True when at least one text of the source's section (or its start page, wherever on the site) is stored."""
    cursor = await connection.execute(
        "SELECT EXISTS (SELECT FROM documents d WHERE d.source_id = %(source)s AND d.status <> 'gone'"
        " AND (starts_with(d.canonical_url, %(section)s) OR d.canonical_url = %(start)s"
        "  OR EXISTS (SELECT FROM url_aliases a WHERE a.url = %(start)s AND a.document_id = d.id))"
        " AND EXISTS (SELECT FROM document_versions v WHERE v.document_id = d.id))",
        {"source": source.id, "section": source.section, "start": source.start_url},
    )
    row = await cursor.fetchone()
    return row is not None and bool(row[0])
