"""Stored documents by words of their titles and addresses."""

from __future__ import annotations

import re

from psycopg import AsyncConnection, sql
from psycopg.rows import class_row

from webrag_core.history.document_apis.models import TitledDocument
from webrag_core.retrieval.request import check_query

_MOST = 20
_MAX_WORDS = 12
_WORD = re.compile(r"\w+")
_TITLED = sql.SQL("""
SELECT d.canonical_url AS url, v.title, v.id AS version_id
FROM documents d JOIN LATERAL (
    SELECT * FROM document_versions w WHERE w.document_id = d.id
    ORDER BY (w.id = d.current_version) DESC NULLS LAST, w.number DESC LIMIT 1
) v ON true
WHERE concat_ws(' ', v.title, d.canonical_url) ILIKE ALL(%(words)s) AND {only}
ORDER BY length(v.title), d.canonical_url LIMIT %(most)s
""")

OF_ARCHIVES = sql.SQL("EXISTS (SELECT FROM version_periods p WHERE p.document_id = d.id AND p.acquirer = 'memento')")
OF_LAWS = sql.SQL("""EXISTS (
    SELECT FROM graph_edges e WHERE e.document_id = d.id AND e.kind = 'typed' AND e.label = 'legislationIdentifier'
    AND e.seen_until IS NULL)""")
OF_FOLDERS = sql.SQL("d.acquirer = 'git' AND starts_with(d.canonical_url, %(below)s)")
"""Conditions on documents `d`."""


async def search_titles(connection: AsyncConnection, text: str, only: sql.SQL, below: str = "") -> list[TitledDocument]:
    """Documents that fulfil `only`, with every word of `text` (at most 12 count) in title and address. `below` is what
    addresses begin with, for `OF_FOLDERS`.

    Raises InvalidInputError for an empty text.
    """
    check_query(text, "title")
    words = _WORD.findall(text)[:_MAX_WORDS]
    if not words:
        return []
    # \w knows no percent sign, and the underscore has no other meaning after a backslash
    patterns = ["%" + word.replace("_", r"\_") + "%" for word in words]
    async with connection.cursor(row_factory=class_row(TitledDocument)) as cursor:
        await cursor.execute(_TITLED.format(only=only), {"words": patterns, "most": _MOST, "below": below})
        return await cursor.fetchall()
