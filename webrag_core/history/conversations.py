"""Conversations: answers whose questions follow each other. Each bears the number of the answer that it began with."""

from __future__ import annotations

from datetime import datetime

from psycopg.rows import class_row
from pydantic import BaseModel

from webrag_core.foreign_values import LARGEST_NUMBER
from webrag_core.history.answers import StoredAnswer, find_answer, load_answers
from webrag_core.store.database import Database

MOST_TURNS = 200
_TURNS = (
    "(SELECT * FROM answer_runs WHERE id = %(number)s OR conversation = %(number)s ORDER BY id DESC LIMIT %(most)s)"
)
_CONVERSATIONS = """
SELECT c.number, coalesce(first.query, last.query) AS question, last.query AS latest_question, last.id AS latest_answer,
       c.turns + (first.id IS NOT NULL)::int AS turns, last.started_at AS latest_at
FROM (
    SELECT conversation AS number, count(*) AS turns, max(id) AS latest
    FROM answer_runs WHERE conversation IS NOT NULL AND state <> 'failed'
    GROUP BY conversation HAVING max(id) < %(before)s ORDER BY max(id) DESC LIMIT %(limit)s
) c JOIN answer_runs last ON last.id = c.latest LEFT JOIN answer_runs first ON first.id = c.number
ORDER BY last.id DESC
"""


class ConversationSummary(BaseModel):
    """A conversation in a list: its first question (the first that is left), the latest, and how many there are."""

    number: int
    question: str
    turns: int
    latest_question: str
    latest_answer: int
    latest_at: datetime


class Conversation(BaseModel):
    """The answers of a conversation, the earliest first; of a longer one the latest 200."""

    number: int
    turns: list[StoredAnswer]


async def list_conversations(
    database: Database, *, limit: int = 50, before: int | None = None
) -> list[ConversationSummary]:
    """Those with more than one question, the latest first. `before`: only those whose latest answer is older."""
    async with (
        database.connection() as connection,
        connection.cursor(row_factory=class_row(ConversationSummary)) as cursor,
    ):
        await cursor.execute(_CONVERSATIONS, {"limit": limit, "before": min(before or LARGEST_NUMBER, LARGEST_NUMBER)})
        return await cursor.fetchall()


async def open_conversation(database: Database, answer_id: int) -> Conversation:
    """The conversation that an answer is of; one that nothing follows is a conversation of one turn. Raises
    NotStoredError when there is no answer with this number."""
    answer = await find_answer(database, answer_id)
    number = answer.conversation or answer.answer_id
    turns = await load_answers(database, _TURNS, {"number": number, "most": MOST_TURNS})
    return Conversation(number=number, turns=turns[::-1])
