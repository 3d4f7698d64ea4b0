"""How sure answers were, against what people said of them."""

from __future__ import annotations

from psycopg import AsyncConnection

from webrag_core.reliability import Reliability, reliability_of

_MOST = 2_000
"""Rows of feedback that are looked at, the latest."""
# what is said of a sentence or a quote says nothing of the whole answer
_JUDGED = """
SELECT DISTINCT ON (f.answer_id) a.probability, f.kind = 'helpful' AS right
FROM (SELECT answer_id, kind, id FROM feedback
      WHERE weight > 0 AND sentence IS NULL AND citation IS NULL AND kind <> 'wrong_route' ORDER BY id DESC LIMIT %s) f
JOIN answer_runs a ON a.id = f.answer_id
WHERE a.kind = 'prose' AND a.probability IS NOT NULL ORDER BY f.answer_id, f.id DESC
"""


async def judged_answers(connection: AsyncConnection) -> Reliability:
    """The confidence of answers in prose that were judged as a whole, by the last judgement of each: right where it was
    helpful. It is that of whoever judges, who may judge wrong answers more often than right ones."""
    cursor = await connection.execute(_JUDGED, (_MOST,))
    return reliability_of([(float(probability), bool(right)) for probability, right in await cursor.fetchall()])
