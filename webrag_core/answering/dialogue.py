"""A question that follows a stored answer: what it leaves open is taken from there, and shown with the new answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from psycopg import AsyncConnection

from webrag_core.errors import NotStoredError
from webrag_core.language.dialogue.resolution import resolve
from webrag_core.routing.question import Question

_PLACES = ("urls", "sources")
_DATES = ("at", "since", "until", "years")
_NUMBERS = range(1, 2**63)


async def read_in_dialogue(connection: AsyncConnection, question: Question) -> Question:
    """The question as it is to be read behind the answer that it `follows`: completed by rules, and asked of the places
    and the dates of the question there, unless it has its own. With `carry` false its words stay as they are.

    Raises NotStoredError for an answer that is not stored.
    """
    if question.follows is None:
        return question
    row = None
    if question.follows in _NUMBERS:
        cursor = await connection.execute(
            "SELECT query, kind, seed_url, options FROM answer_runs WHERE id = %s", (question.follows,)
        )
        row = await cursor.fetchone()
    if row is None:
        raise NotStoredError(
            f"there is no answer {question.follows} to follow; `webrag answers list` names those that there are"
        )
    earlier, kind, seed_url, options = row
    options = options if kind == "prose" else {"urls": [seed_url]}
    for names in (_PLACES, _DATES):
        if not any(getattr(question, name) for name in names):
            question = replace(question, **_of_options(options, names))
    if not question.carry:
        return question
    return replace(question, earlier=earlier).read_as(resolve(earlier, question.text).text)


def _of_options(options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """These options of a stored question as fields of a question; the axis of time goes with the date."""
    names = (*names, "time") if options.get("at") and "at" in names else names
    fields = {name: options[name] for name in names if options.get(name)}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
