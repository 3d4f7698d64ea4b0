"""Pages that are as they were stored, by a 304 or by their bytes: what is written of them, for many at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg import AsyncConnection

from webrag_core.corpus.documents import FetchRecord, forgotten_error, lock_urls
from webrag_core.corpus.periods import Sighting, basis_of, record_sighting
from webrag_core.errors import FetchError
from webrag_core.trace import current_trace_id


@dataclass(frozen=True, slots=True)
class UnchangedPage:
    """A stored page and the answer that confirms it. `line` is that of the ledger, with the version and when it was
    seen; validators are None where the answer has none.

    `whole`: the page was asked whole, and has the inputs of the stored version. `moved`: whether its validators changed
    all the same, None where nothing is to be learnt of them."""

    document_id: int
    canonical_url: str
    line: FetchRecord
    checked_at: datetime
    next_check: datetime
    etag: str | None
    last_modified: str | None
    whole: bool = False
    moved: bool | None = None


# a row of the last SELECT: whether the page was removed on request, whether the sighting repeats its latest period
_RECORD = """
WITH answers AS MATERIALIZED (
    SELECT p.*, is_forgotten(url) OR is_forgotten(canonical_url) AS forgotten, whole AND EXISTS (
        SELECT FROM document_versions n WHERE n.document_id = p.document_id AND n.fetched_at > p.seen_at) AS late
    FROM json_to_recordset(%s::json) AS p (place integer, document_id integer, canonical_url text, url text,
        final_url text, hop integer, run_id text, acquirer text, outcome text, http_status integer, bytes_raw bigint,
        bytes_decoded bigint, started_at timestamptz, version_id integer, seen_at timestamptz, trace_id text,
        checked_at timestamptz, next_check timestamptz, etag text, last_modified text, whole boolean, moved boolean)
),
page AS (SELECT * FROM answers WHERE NOT forgotten),
latest AS MATERIALIZED (
    SELECT g.place, v.document_id, v.version_id, g.seen_at, v.seen_last
    FROM page g JOIN version_periods v ON v.document_id = g.document_id AND v.seen_until IS NULL
        AND v.version_id = g.version_id AND v.seen_from <= g.seen_at
),
extension AS (
    UPDATE version_periods v SET seen_last = l.seen_at FROM latest l
    WHERE v.document_id = l.document_id AND v.seen_until IS NULL AND l.seen_last < l.seen_at
),
line AS (
    INSERT INTO fetch_log (url, final_url, hop, run_id, acquirer, outcome, http_status, bytes_raw, bytes_decoded,
        started_at, version_id, seen_at, trace_id)
    SELECT url, final_url, hop, run_id, acquirer, outcome, http_status, bytes_raw, bytes_decoded, started_at,
        version_id, seen_at, trace_id FROM page ORDER BY place
    RETURNING id, url, outcome, run_id, ended_at
),
seen AS (
    UPDATE document_versions v SET fetched_at = g.seen_at FROM page g
    WHERE g.whole AND v.id = g.version_id AND v.fetched_at < g.seen_at
),
learnt AS (
    INSERT INTO change_signals AS s (source_id, signal, flagged_same, silent_same)
    SELECT d.source_id, 'validator', count(*) FILTER (WHERE g.moved), count(*) FILTER (WHERE NOT g.moved)
    FROM page g JOIN documents d ON d.id = g.document_id
    WHERE g.moved IS NOT NULL AND d.ask_whole IS DISTINCT FROM 'lies' GROUP BY d.source_id ORDER BY d.source_id
    ON CONFLICT (source_id, signal) DO UPDATE SET flagged_same = s.flagged_same + EXCLUDED.flagged_same,
        silent_same = s.silent_same + EXCLUDED.silent_same
),
touched AS (
    UPDATE documents d SET last_checked = g.checked_at, next_check = g.next_check,
        etag = CASE WHEN g.late THEN d.etag WHEN g.whole THEN g.etag ELSE coalesce(g.etag, d.etag) END,
        last_modified = CASE WHEN g.late THEN d.last_modified WHEN g.whole THEN g.last_modified
            ELSE coalesce(g.last_modified, d.last_modified) END,
        acquirer = CASE WHEN g.whole AND NOT g.late THEN g.acquirer ELSE d.acquirer END,
        updated_at = CASE WHEN g.whole THEN now() ELSE d.updated_at END,
        ask_whole = CASE WHEN g.moved IS NULL OR d.ask_whole = 'lies' THEN d.ask_whole END,
        misses = 0, miss_reason = NULL, last_miss = NULL,
        missing_since = NULL, held_as = NULL, held_sketch = NULL, last_outcome = l.outcome, last_reason = NULL,
        last_run = l.run_id, last_fetch = l.id, last_fetch_at = l.ended_at
    FROM page g JOIN line l ON l.url = g.url WHERE d.id = g.document_id
)
SELECT forgotten, EXISTS (SELECT FROM latest l WHERE l.place = a.place) FROM answers a ORDER BY place
"""


async def record_unchanged(connection: AsyncConnection, pages: Sequence[UnchangedPage]) -> list[FetchError | None]:
    """Write that the stored version of each page is still what it says: to the page, its periods and the ledger. Call
    inside a transaction.

    In the order of `pages`: None, or the error FORGOTTEN of a page that was removed on request, of which nothing is
    written.
    """
    rows = [_row(page, place) for place, page in enumerate(pages)]
    async with connection.pipeline():  # one way to the server and back
        await lock_urls(connection, *(url for page in pages for url in (page.line.url, page.canonical_url)))
        cursor = await connection.execute(_RECORD, (json.dumps(rows, default=datetime.isoformat),), prepare=True)
        states = await cursor.fetchall()
    for page, (forgotten, repeated) in zip(pages, states, strict=True):
        if not (forgotten or repeated):  # the period of this text is not the latest one
            line = page.line
            assert line.seen_at is not None
            late = Sighting(line.seen_at, line.version_id, line.acquirer, basis_of(line.acquirer))
            await record_sighting(connection, page.document_id, late)
    return [forgotten_error() if forgotten else None for forgotten, _ in states]


def _row(page: UnchangedPage, place: int) -> dict[str, object]:
    line = page.line
    return {
        **{name: getattr(line, name) for name in line.__slots__},
        **{name: getattr(page, name) for name in page.__slots__ if name != "line"},
        "place": place,
        "trace_id": current_trace_id(),
    }
