"""Answers whose quotes do not stand any more as they were quoted, the latest found first."""

from __future__ import annotations

from datetime import datetime

from psycopg.rows import class_row
from pydantic import BaseModel

from webrag_core.history.citations import each_citation_state
from webrag_core.store.database import Database

_MOST_PAGES = 200  # that changed last, and whose quotes are looked at
_MOST_ANSWERS = 50  # that are looked at
_MOST_CHECKS = 500
# an address that became another page's is compared with that page, as `citations` does it
_CHANGED = """
SELECT k.answer_id, a.query AS question, a.started_at, count(*) FILTER (WHERE k.state = 'changed') AS changed,
       count(*) FILTER (WHERE k.state = 'gone') AS gone,
       (SELECT count(*) FROM citations q WHERE q.answer_id = k.answer_id) AS quotes, max(k.checked_at) AS found_at
FROM (SELECT * FROM citation_checks WHERE state IN ('changed', 'gone') ORDER BY checked_at DESC LIMIT %(checks)s) k
JOIN citations c ON c.answer_id = k.answer_id AND c.number = k.number
JOIN document_versions v ON v.id = c.version_id JOIN documents d ON d.id = v.document_id
JOIN answer_runs a ON a.id = k.answer_id
WHERE a.kind = 'prose' AND k.against_version = coalesce((SELECT t.current_version FROM documents t
          WHERE t.id = coalesce((SELECT u.document_id FROM url_aliases u WHERE u.url = d.canonical_url), d.id)), 0)
GROUP BY k.answer_id, a.query, a.started_at ORDER BY found_at DESC, k.answer_id DESC LIMIT %(limit)s
"""
_ON_CHANGED_PAGES = """
SELECT DISTINCT c.answer_id FROM (
    SELECT document_id FROM version_periods ORDER BY seen_from DESC LIMIT %(pages)s) p
JOIN document_versions v ON v.document_id = p.document_id JOIN documents d ON d.id = p.document_id
JOIN citations c ON c.version_id = v.id
WHERE v.id IS DISTINCT FROM d.current_version
  AND NOT EXISTS (SELECT FROM citation_checks k WHERE k.answer_id = c.answer_id AND k.number = c.number
                  AND k.against_version = coalesce(d.current_version, 0))
ORDER BY c.answer_id DESC LIMIT %(answers)s
"""


class ChangedAnswer(BaseModel):
    """An answer, how many of its `quotes` changed and of how many the page is gone; `found_at`: when the last of them
    was found so."""

    answer_id: int
    question: str
    started_at: datetime
    changed: int
    gone: int
    quotes: int
    found_at: datetime


async def changed_answers(database: Database, *, limit: int) -> list[ChangedAnswer]:
    """The latest `limit`. Quotes of the pages that changed last are looked at first; those of others are once somebody
    opens their answers, or `webrag citations` looks at all."""
    async with database.connection() as connection:
        cursor = await connection.execute(_ON_CHANGED_PAGES, {"pages": _MOST_PAGES, "answers": _MOST_ANSWERS})
        unchecked = [int(row[0]) for row in await cursor.fetchall()]
    if unchecked:
        async for _ in each_citation_state(database, answers=unchecked):
            pass
    async with database.connection() as connection, connection.cursor(row_factory=class_row(ChangedAnswer)) as rows:
        await rows.execute(_CHANGED, {"checks": _MOST_CHECKS, "limit": limit})
        return await rows.fetchall()
