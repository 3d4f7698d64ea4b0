"""Pages of which nothing is stored: written for several of them by one transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg import AsyncConnection

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.corpus.documents import (
    FetchRecord,
    copy_links,
    lock_hosts,
    lock_urls,
    version_values,
)
from webrag_core.corpus.forgotten_urls import ask_forgotten_of
from webrag_core.corpus.markup import urls_of, without, write_markup
from webrag_core.corpus.periods import basis_of
from webrag_core.corpus.stated_dates import READER, Statement
from webrag_core.corpus.validity import insert_statements
from webrag_core.trace import current_trace_id


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A fetched page and what was read in it. `line` is that of the ledger, but for the version; `language` is the one
    that was detected, `inputs_sha256` the `inputs_digest`."""

    page: AcquiredPage
    converted: ConvertedPage
    language: str
    statements: Sequence[Statement]
    line: FetchRecord
    next_check: datetime
    inputs_sha256: str | None


# a row: what becomes a document, its id, and the id that its version is to have
_DOCUMENTS = """
WITH page AS MATERIALIZED (
    SELECT p.*, source_of(url) AS source_id FROM json_to_recordset(%s::json) AS p (place integer, url text,
        acquirer text, etag text, last_modified text, checked_at timestamptz, next_check timestamptz)
),
document AS (
    INSERT INTO documents (source_id, canonical_url, status, acquirer, etag, last_modified, last_checked, next_check)
    SELECT source_id, url, 'running', acquirer, etag, last_modified, checked_at, next_check FROM page
    WHERE source_id IS NOT NULL AND NOT is_forgotten(url)
        AND NOT EXISTS (SELECT FROM url_aliases a WHERE a.url = page.url) ORDER BY place
    ON CONFLICT DO NOTHING RETURNING id, canonical_url
)
SELECT p.place, d.id, nextval(pg_get_serial_sequence('document_versions', 'id'))
FROM document d JOIN page p ON p.url = d.canonical_url ORDER BY p.place
"""
_VERSIONS = """
WITH page AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%s::json) AS p (place integer, document_id integer, version_id integer,
        markdown text, sha256 text, title text, description text, language text, detected text, status integer,
        media_type text, fetched_at timestamptz, published timestamptz, modified timestamptz, extractor text,
        body text, inputs text, left_out jsonb, all_text boolean, archive_url text, reader text, basis text, url text,
        final_url text, hop integer, run_id text, acquirer text, outcome text, http_status integer, bytes_raw bigint,
        bytes_decoded bigint, started_at timestamptz, seen_at timestamptz, trace_id text)
),
version AS (
    INSERT INTO document_versions (id, document_id, number, markdown, sha256, title, description, language,
        detected_language, http_status, media_type, fetched_at, published, modified, extractor, body_sha256,
        inputs_sha256, left_out, all_text, archive_url, cause, dates_read)
    OVERRIDING SYSTEM VALUE
    SELECT version_id, document_id, 1, markdown, sha256, title, description, language, detected, status, media_type,
        fetched_at, published, modified, extractor, body, inputs, left_out, all_text, archive_url, 'page', reader
    FROM page
),
period AS (
    INSERT INTO version_periods (document_id, version_id, seen_from, seen_last, acquirer, basis)
    SELECT document_id, version_id, fetched_at, fetched_at, acquirer, basis FROM page
),
line AS (
    INSERT INTO fetch_log (url, final_url, hop, run_id, acquirer, outcome, http_status, bytes_raw, bytes_decoded,
        started_at, version_id, seen_at, trace_id)
    SELECT url, final_url, hop, run_id, acquirer, outcome, http_status, bytes_raw, bytes_decoded, started_at,
        version_id, seen_at, trace_id FROM page ORDER BY place
    RETURNING id, version_id, outcome, run_id, ended_at
)
UPDATE documents d SET last_outcome = l.outcome, last_run = l.run_id, last_fetch = l.id, last_fetch_at = l.ended_at
FROM line l JOIN page p ON p.version_id = l.version_id WHERE d.id = p.document_id
"""


async def store_new(connection: AsyncConnection, pages: Sequence[NewDocument]) -> list[tuple[int, int] | None]:
    """Store pages whose URLs are no documents yet, with their ledger lines. Call inside a transaction.

    (document id, version id) in the order of `pages`; None for one that `documents.store_version` has to look at: its
    URL is a document or an alias by now, was removed on request, or no source has it.
    """
    urls = [new.page.final_url for new in pages]
    targets = {link.target_url for new in pages for link in new.converted.links}
    targets |= {url for new in pages for url in urls_of(new.converted.markup)}
    async with connection.pipeline():
        await lock_urls(connection, *urls)
        await lock_hosts(connection, *urls)
        documents = await connection.execute(_DOCUMENTS, (_json([_document(new, n) for n, new in enumerate(pages)]),))
        refused = await ask_forgotten_of(connection, sorted(targets))
        rows = {str(urls[place]): (int(place), int(ids[0]), int(ids[1])) for place, *ids in await documents.fetchall()}
        forgotten = frozenset(str(row[0]) for row in await refused.fetchall())
        results: list[tuple[int, int] | None] = [None] * len(pages)
        for place, document_id, version_id in rows.values():  # of two pages at one address the last
            results[place] = document_id, version_id
        stored = [(new, *ids) for new, ids in zip(pages, results, strict=True) if ids is not None]
        if not stored:
            return results
        await connection.execute(_VERSIONS, (_json([_version(*row, place) for place, row in enumerate(stored)]),))
        markup = {version: without(new.converted.markup, forgotten) for new, _, version in stored}
        await write_markup(connection, markup)
        for new, _, version_id in stored:
            await insert_statements(connection, version_id, new.statements)
    await copy_links(
        connection,
        {
            version_id: [link for link in new.converted.links if link.target_url not in forgotten]
            for new, _, version_id in stored
        },
    )
    return results


def _json(rows: Sequence[dict[str, object]]) -> str:
    return json.dumps(rows, default=datetime.isoformat, ensure_ascii=False)


def _document(new: NewDocument, place: int) -> dict[str, object]:
    page = new.page
    return {
        "place": place,
        "url": page.final_url,
        "acquirer": new.line.acquirer,
        "etag": page.headers.get("etag"),
        "last_modified": page.headers.get("last-modified"),
        "checked_at": page.checked_at,
        "next_check": new.next_check,
    }


def _version(new: NewDocument, document_id: int, version_id: int, place: int) -> dict[str, object]:
    return {
        **{name: getattr(new.line, name) for name in new.line.__slots__},
        **version_values(new.page, new.converted, new.language, new.inputs_sha256),
        "place": place,
        "document_id": document_id,
        "version_id": version_id,
        "reader": READER,
        "basis": basis_of(new.line.acquirer),
        "trace_id": current_trace_id(),
    }
