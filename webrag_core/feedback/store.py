"""The table of feedback: record, list, accept, reject."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import AsyncConnection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from webrag_core.errors import IntegrityError, InvalidInputError
from webrag_core.feedback.models import Feedback, NewFeedback, State
from webrag_core.feedback.proof import prove, stands
from webrag_core.foreign_values import LARGEST_NUMBER
from webrag_core.store.database import Database

MOST_OF_MODELS_A_DAY = 200
"""Rows that models may add on one day (UTC), all together: what weighs nothing must not fill the table either."""

_FEEDBACK = """
SELECT f.id, f.answer_id, a.query AS question, f.sentence, f.citation, f.kind, f.value, f.text, f.suggested, f.actor,
       f.actor_kind, f.weight, f.state, f.created_at
FROM feedback f JOIN answer_runs a ON a.id = f.answer_id
"""


async def record(database: Database, new: NewFeedback) -> Feedback:
    """Store feedback, its suggestion proved. Raises InvalidInputError for what cannot be meant, an answer, sentence or
    quote that does not exist, and a suggestion that does not stand where it is said to."""
    async with database.transaction() as connection:
        return await add(connection, new)


async def add(connection: AsyncConnection, new: NewFeedback) -> Feedback:
    """As `record`, within a transaction."""
    new.check()
    await _check_target(connection, new)
    if new.actor_kind == "model":
        await _check_flood(connection)
    suggestion, quote = (None, None) if new.better is None else await prove(connection, new.better)
    cursor = await connection.execute(
        "INSERT INTO feedback (answer_id, sentence, citation, kind, value, text, suggested, suggested_version,"
        " actor, actor_kind, weight) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING id",
        (
            new.answer_id,
            new.sentence,
            new.citation,
            new.checked_kind(),
            new.checked_value(),
            new.text,
            None if suggestion is None else Jsonb(suggestion.model_dump(mode="json")),
            None if quote is None else quote.version_id,
            new.actor,
            new.actor_kind,
            0 if new.actor_kind == "model" else 1,
        ),
    )
    row = await cursor.fetchone()
    assert row is not None
    return await load(connection, row[0])


async def load(connection: AsyncConnection, feedback_id: int) -> Feedback:
    """One row. Raises InvalidInputError when there is none of that number."""
    async with connection.cursor(row_factory=class_row(Feedback)) as cursor:
        await cursor.execute(_FEEDBACK + " WHERE f.id = %s", (_within(feedback_id),))
        row = await cursor.fetchone()
    if row is None:
        raise InvalidInputError(f"there is no feedback {feedback_id}")
    return row


async def list_feedback(
    database: Database, *, answer_id: int | None = None, state: State | None = None, limit: int | None = 50
) -> list[Feedback]:
    """The newest first, of one answer or of all; `limit` None = every one."""
    async with database.connection() as connection, connection.cursor(row_factory=class_row(Feedback)) as cursor:
        await cursor.execute(
            _FEEDBACK + " WHERE (%(answer)s::bigint IS NULL OR f.answer_id = %(answer)s)"
            " AND (%(state)s::text IS NULL OR f.state = %(state)s) ORDER BY f.id DESC LIMIT %(limit)s",
            {
                "answer": None if answer_id is None else _within(answer_id),
                "state": state,
                "limit": limit,
            },
        )
        return await cursor.fetchall()


async def decide(database: Database, feedback_ids: Sequence[int], *, accept: bool) -> list[Feedback]:
    """Accept (it counts, and a suggestion becomes a golden) or reject (it counts nothing), all or none of them.

    Deciding again overrides. Raises InvalidInputError for an unknown number, IntegrityError for a suggestion that no
    longer stands in its version.
    """
    async with database.transaction() as connection:
        return await settle(connection, feedback_ids, accept=accept)


async def settle(connection: AsyncConnection, feedback_ids: Sequence[int], *, accept: bool) -> list[Feedback]:
    """As `decide`, within a transaction."""
    for feedback_id in feedback_ids:
        feedback = await load(connection, feedback_id)
        cursor = await connection.execute("SELECT suggested_version FROM feedback WHERE id = %s", (feedback_id,))
        (version,) = await cursor.fetchone() or (None,)
        suggestion = feedback.suggested if accept else None
        if suggestion is not None and not await stands(connection, suggestion, version):
            raise IntegrityError(f"the suggestion of feedback {feedback_id} no longer stands in its version")
        await connection.execute(
            "UPDATE feedback SET state = %s, weight = %s WHERE id = %s",
            ("accepted" if accept else "rejected", 1 if accept else 0, feedback_id),
        )
    return [await load(connection, feedback_id) for feedback_id in feedback_ids]


def _within(number: int) -> int:
    """A number that PostgreSQL takes: 0 and the largest name nothing."""
    return min(max(number, 0), LARGEST_NUMBER)


async def _check_target(connection: AsyncConnection, new: NewFeedback) -> None:
    """Raise InvalidInputError unless the answer is done and has the sentence or the quote."""
    answer = _within(new.answer_id)
    cursor = await connection.execute("SELECT state FROM answer_runs WHERE id = %s FOR KEY SHARE", (answer,))
    row = await cursor.fetchone()
    if row is None:
        raise InvalidInputError(f"there is no answer {new.answer_id}: `webrag answers list` names those that there are")
    if row[0] != "done":
        raise InvalidInputError(f"answer {new.answer_id} is {row[0]}: there is nothing yet to judge")
    for name, number, query in (
        ("sentence", new.sentence, "SELECT ordinal FROM answer_sentences WHERE answer_id = %s ORDER BY 1"),
        ("quote", new.citation, "SELECT number FROM citations WHERE answer_id = %s ORDER BY 1"),
    ):
        if number is not None:
            cursor = await connection.execute(query, (answer,))
            numbers = [row[0] for row in await cursor.fetchall()]
            if number not in numbers:
                there = f"it has {numbers[0]} to {numbers[-1]}" if numbers else "it has none"
                raise InvalidInputError(f"answer {new.answer_id} has no {name} {number}; {there}")


async def _check_flood(connection: AsyncConnection) -> None:
    cursor = await connection.execute(
        "SELECT count(*) FROM feedback WHERE actor_kind = 'model' AND created_at >= date_trunc('day', now())"
    )
    row = await cursor.fetchone()
    if row is not None and row[0] >= MOST_OF_MODELS_A_DAY:
        raise InvalidInputError(f"models have given {MOST_OF_MODELS_A_DAY} ratings today: no more are taken")
