"""Finished answers in the order in which they ended, for those who report what others asked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.rows import dict_row

from webrag_core.answering.models import Answer, SentenceCitation
from webrag_core.answering.stored import load_answer, load_citations
from webrag_core.answering.stored_walk import load_walk
from webrag_core.orchestration.models import Status
from webrag_core.orchestration.verdict import status_of
from webrag_core.orchestration.walk import Walk
from webrag_core.origin import ANSWER


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a stored run of the loop says beside its quotes. `confidence` is None in runs from before it was kept."""

    url: str
    status: Status
    confidence: float | None
    probability_complete: float
    rule: str
    reason: str
    rounds: int


@dataclass(frozen=True, slots=True)
class FinishedAnswer:
    """A stored answer with who asked for it: `evidence`, or an answer in prose with its walk."""

    answer_id: int
    origin: str
    question: str
    ended_at: datetime
    citations: list[SentenceCitation]
    evidence: Evidence | None
    prose: Answer | None
    walk: Walk | None


async def finished_answers(
    connection: AsyncConnection, *, since: datetime, reported: Collection[int], not_by: str, limit: int
) -> list[FinishedAnswer]:
    """Answers that ended after `since`, the earliest first: none of `reported`, none that `not_by` asked for, no runs
    that gathered evidence for another answer, none older than the column of origins."""
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(
            "SELECT a.id, a.kind, a.origin, a.query, a.seed_url, a.ended_at, a.probability, a.rule, a.status,"
            " a.confidence,"
            " r.decision ->> 'reason' AS reason, coalesce((r.signals ->> 'best_raw_score')::float, 0) AS best,"
            " coalesce(r.round + 1, 0) AS rounds"
            " FROM answer_runs a LEFT JOIN LATERAL (SELECT * FROM answer_rounds o WHERE o.answer_id = a.id"
            "  ORDER BY o.round DESC LIMIT 1) r ON true"
            " WHERE a.state = 'done' AND a.ended_at > %s AND a.id <> ALL(%s) AND a.origin <> ALL(%s)"
            " ORDER BY a.ended_at, a.id LIMIT %s",
            (since, list(reported), [not_by, ANSWER], limit),
        )
        rows = await cursor.fetchall()
    return [await _finished(connection, row) for row in rows]


async def _finished(connection: AsyncConnection, row: dict[str, Any]) -> FinishedAnswer:
    number, ended_at = int(str(row["id"])), row["ended_at"]
    assert isinstance(ended_at, datetime)
    prose = await load_answer(connection, number) if row["kind"] == "prose" else None
    walk = None if prose is None else await load_walk(connection, prose)
    citations = await load_citations(connection, number) if prose is None else prose.citations
    evidence = None
    if prose is None:
        probability = float(str(row["probability"]))
        evidence = Evidence(
            url=str(row["seed_url"]),
            status=row["status"] or status_of(probability, float(str(row["best"])), len(citations)),
            confidence=row["confidence"],
            probability_complete=probability,
            rule=str(row["rule"]),
            reason=str(row["reason"] or ""),
            rounds=int(str(row["rounds"])),
        )
    return FinishedAnswer(number, str(row["origin"]), str(row["query"]), ended_at, citations, evidence, prose, walk)
