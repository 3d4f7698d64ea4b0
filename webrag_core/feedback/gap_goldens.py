"""Golden questions out of a gap: a passage that answers is suggested for each of its questions."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import AsyncConnection

from webrag_core.errors import InvalidInputError, NotStoredError
from webrag_core.feedback.models import ActorKind, Better, Feedback, NewFeedback
from webrag_core.feedback.store import add, load, settle
from webrag_core.store.database import Database

_QUESTIONS = """
SELECT DISTINCT ON (query) id FROM answer_runs WHERE id = ANY(%s) AND state = 'done' ORDER BY query, id DESC
"""
_QUOTE = """
SELECT d.canonical_url, v.number, c.char_start, c.char_end FROM citations c
JOIN document_versions v ON v.id = c.version_id JOIN documents d ON d.id = v.document_id
WHERE c.answer_id = %s AND c.number = %s
"""
_NAMED = """
SELECT f.suggested ->> 'url', (f.suggested ->> 'version')::bigint, (f.suggested ->> 'char_start')::integer,
       (f.suggested ->> 'char_end')::integer
FROM feedback f WHERE f.suggested IS NOT NULL AND f.state <> 'rejected' AND f.answer_id = ANY(%s)
  AND (%s::bigint IS NULL OR f.id = %s) ORDER BY f.id
"""
_SUGGESTED = """
SELECT f.id FROM feedback f JOIN answer_runs a ON a.id = f.answer_id
WHERE a.query = (SELECT query FROM answer_runs WHERE id = %(answer)s) AND f.state <> 'rejected'
  AND f.suggested ->> 'url' = %(url)s AND (f.suggested ->> 'version')::bigint = %(version)s
  AND (f.suggested ->> 'char_start')::integer = %(start)s AND (f.suggested ->> 'char_end')::integer = %(end)s
ORDER BY f.state = 'accepted' DESC, f.id LIMIT 1
"""


async def suggest_for_all(
    database: Database,
    answers: Sequence[int],
    *,
    actor: str,
    actor_kind: ActorKind,
    citation: int | None = None,
    feedback: int | None = None,
    accept: bool = False,
) -> list[Feedback]:
    """Suggest a passage for each question of these `answers`, all or none; with `accept` they are golden questions.

    The passage is quote number `citation` of the first answer, or what `feedback` on any of them names; without either
    all that feedback on them names. What was suggested before is not stored twice. Raises NotStoredError for an answer
    or a quote that is not there, InvalidInputError where no passage is named or one does not stand in its text.
    """
    async with database.transaction() as connection:
        cursor = await connection.execute(_QUESTIONS, (list(answers),))
        questions = sorted(int(row[0]) for row in await cursor.fetchall())
        if not questions:
            raise NotStoredError("none of these answers is stored: `webrag answers gaps` names those that there are")
        passages = await _passages(connection, answers, citation, feedback)
        numbers = [
            await _suggested(connection, question, passage, actor, actor_kind)
            for question in questions
            for passage in passages
        ]
        if accept:
            return await settle(connection, numbers, accept=True)
        return [await load(connection, number) for number in numbers]


async def _passages(
    connection: AsyncConnection, answers: Sequence[int], citation: int | None, feedback: int | None
) -> list[Better]:
    if citation is not None and feedback is not None:
        raise InvalidInputError("a passage is named by a quote or by feedback, not by both")
    if citation is not None:
        cursor = await connection.execute(_QUOTE, (answers[0], citation))
        missing = f"answer {answers[0]} has no quote {citation}"
    else:
        cursor = await connection.execute(_NAMED, (list(answers), feedback, feedback))
        missing = "nobody has named a passage that answers: name one on an answer, or choose a quote of the first"
    spans = dict.fromkeys(await cursor.fetchall())
    if not spans:
        raise NotStoredError(missing) if citation is not None else InvalidInputError(missing)
    return [
        Better(url=str(url), version=int(version), char_start=int(start), char_end=int(end))
        for url, version, start, end in spans
    ]


async def _suggested(
    connection: AsyncConnection, answer: int, passage: Better, actor: str, actor_kind: ActorKind
) -> int:
    """The number of the feedback that suggests the passage for the question of an answer; a new one where there is
    none."""
    place = {"url": passage.url, "version": passage.version, "start": passage.char_start, "end": passage.char_end}
    cursor = await connection.execute(_SUGGESTED, {"answer": answer, **place})
    row = await cursor.fetchone()
    if row is not None:
        return int(row[0])
    new = NewFeedback(answer, "better_source", actor, actor_kind, better=passage)
    return (await add(connection, new)).id
