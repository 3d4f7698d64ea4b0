"""Tables of the loop: answer runs, their rounds, their citations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from webrag_core.orchestration.models import ExpansionDecision, Round
from webrag_core.retrieval.models import CitationSpan

ABANDONED = "abandoned"
"""Reason of a run whose process ended without a word."""
_LONGEST = timedelta(days=1)


async def start_run(
    connection: AsyncConnection, *, seed_url: str, query: str, policy: str, options: Mapping[str, object]
) -> int:
    """Register a run and return its id. Runs that began long ago and never ended are ended: their process is gone."""
    await connection.execute(
        "UPDATE answer_runs SET state = 'failed', reason = %s, ended_at = now()"
        " WHERE state = 'running' AND started_at < now() - %s::interval",
        (ABANDONED, _LONGEST),
    )
    cursor = await connection.execute(
        "INSERT INTO answer_runs (seed_url, query, policy, options) VALUES (%s, %s, %s, %s) RETURNING id",
        (seed_url, query, policy, Jsonb(dict(options))),
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def record_round(connection: AsyncConnection, answer_id: int, done: Round) -> None:
    """Keep one round with everything that a replay of its decision needs."""
    await connection.execute(
        "INSERT INTO answer_rounds (answer_id, round, signals, decision, chunks, candidates)"
        " VALUES (%s, %s, %s, %s, %s, %s)",
        (
            answer_id,
            done.round,
            Jsonb(done.signals.model_dump()),
            Jsonb(done.decision.model_dump()),
            Jsonb([chunk.model_dump() for chunk in done.top_chunks]),
            Jsonb([candidate.model_dump() for candidate in done.candidates]),
        ),
    )


async def finish_run(
    connection: AsyncConnection,
    answer_id: int,
    decision: ExpansionDecision,
    citations: Sequence[CitationSpan],
    warnings: Sequence[str],
) -> None:
    """Citations and final state in one go. Call inside a transaction."""
    async with connection.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO citations (answer_id, number, version_id, char_start, char_end, quote_sha256, heading, score)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
            [
                (
                    answer_id,
                    citation.number,
                    citation.version_id,
                    citation.char_start,
                    citation.char_end,
                    citation.quote_sha256,
                    citation.section_heading,
                    citation.score,
                )
                for citation in citations
            ],
        )
    await connection.execute(
        "UPDATE answer_runs SET state = 'done', action = %s, rule = %s, probability = %s, warnings = %s,"
        " ended_at = now() WHERE id = %s",
        (decision.action, decision.rule, decision.probability_complete, Jsonb(list(warnings)), answer_id),
    )


async def fail_run(connection: AsyncConnection, answer_id: int, reason: str) -> None:
    """The run ended without a result; what it fetched stays in the corpus."""
    await connection.execute(
        "UPDATE answer_runs SET state = 'failed', reason = %s, ended_at = now() WHERE id = %s",
        (reason, answer_id),
    )


async def broken_citations(connection: AsyncConnection) -> tuple[int, list[str]]:
    """(citations looked at, those whose quote is no longer what its version says at that span)."""
    cursor = await connection.execute(
        "SELECT c.answer_id, c.number, c.quote_sha256 = encode(sha256(convert_to("
        " substring(v.markdown FROM c.char_start + 1 FOR c.char_end - c.char_start), 'UTF8')), 'hex')"
        " FROM citations c JOIN document_versions v ON v.id = c.version_id ORDER BY 1, 2"
    )
    rows = await cursor.fetchall()
    return len(rows), [f"answer {answer}, citation {number}" for answer, number, valid in rows if not valid]
