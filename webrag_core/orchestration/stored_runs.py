"""Reading answer runs back: the rounds as they were decided, for replay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection

from webrag_core.errors import InvalidInputError
from webrag_core.orchestration.models import ExpansionDecision


@dataclass(frozen=True, slots=True)
class StoredRound:
    """One round: signals by name, as that version of the program recorded them, and what was decided."""

    signals: Mapping[str, Any]
    decision: ExpansionDecision


@dataclass(frozen=True, slots=True)
class StoredRun:
    """An answer run with its rounds, first to last; none when it failed before the first."""

    answer_id: int
    query: str
    policy: str
    state: str
    rounds: tuple[StoredRound, ...]


async def load_stored_run(connection: AsyncConnection, answer_id: int) -> StoredRun:
    """Read one run. Raises InvalidInputError when there is no answer of that id."""
    cursor = await connection.execute("SELECT query, policy, state FROM answer_runs WHERE id = %s", (answer_id,))
    row = await cursor.fetchone()
    if row is None:
        raise InvalidInputError(f"there is no answer {answer_id} in this database")
    query, policy, state = row
    cursor = await connection.execute(
        "SELECT signals, decision FROM answer_rounds WHERE answer_id = %s ORDER BY round", (answer_id,)
    )
    rounds = tuple(
        StoredRound(signals, ExpansionDecision.model_validate(decision))
        for signals, decision in await cursor.fetchall()
    )
    return StoredRun(answer_id, query, policy, state, rounds)
