"""Tables of the loop: answer runs, their rounds and their citations, written and read back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from webrag_core.corpus.quotes import Quote
from webrag_core.errors import InvalidInputError, StoreError, WebragError
from webrag_core.orchestration.models import ExpansionDecision, Round, Status
from webrag_core.origin import current_origin
from webrag_core.result_warnings import Caution
from webrag_core.retrieval.models import CitationSpan
from webrag_core.trace import current_trace_id

if TYPE_CHECKING:
    from webrag_core.store.database import Database

logger = logging.getLogger(__name__)

ABANDONED = "abandoned"
"""Reason of a run whose process ended before the run did."""


def claim_of(answer_id: int) -> str:
    """Name of the claim that a process holds while it executes the run (see `store.claims`)."""
    return f"answer {answer_id}"


async def new_id(connection: AsyncConnection) -> int:
    """Reserve the id of a run, so that its claim can be taken before its row is visible."""
    cursor = await connection.execute("SELECT nextval(pg_get_serial_sequence('answer_runs', 'id'))")
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def start_run(
    connection: AsyncConnection,
    answer_id: int,
    *,
    seed_url: str,
    query: str,
    policy: str,
    options: Mapping[str, object],
) -> None:
    """Register a run whose claim is held. Ends abandoned runs first."""
    await end_abandoned(connection)
    await connection.execute(
        "INSERT INTO answer_runs (id, seed_url, query, policy, options, trace_id, origin) OVERRIDING SYSTEM VALUE"
        " VALUES (%s, %s, %s, %s, %s, %s, %s)",
        (answer_id, seed_url, query, policy, Jsonb(dict(options)), current_trace_id(), current_origin()),
    )


async def end_abandoned(connection: AsyncConnection) -> int:
    """Mark running runs without a claim as failed: their process was killed. Return their number.

    Call before runs are listed. A run that lost its claim with its connection still writes its result.
    """
    cursor = await connection.execute(
        "WITH running AS MATERIALIZED (SELECT id FROM answer_runs WHERE state = 'running')"
        " UPDATE answer_runs a SET state = 'failed', reason = %s, ended_at = now() FROM running r"
        " WHERE a.id = r.id AND a.state = 'running'"
        " AND pg_try_advisory_xact_lock(hashtextextended('answer ' || r.id, 1))",  # as `claim_of` and `store.claims`
        (ABANDONED,),
    )
    return cursor.rowcount


async def record_round(connection: AsyncConnection, answer_id: int, completed: Round) -> None:
    """Store one round with everything that a replay of its decision needs."""
    await connection.execute(
        "INSERT INTO answer_rounds (answer_id, round, signals, decision, chunks, candidates)"
        " VALUES (%s, %s, %s, %s, %s, %s)",
        (
            answer_id,
            completed.round,
            Jsonb(completed.signals.model_dump()),
            Jsonb(completed.decision.model_dump()),
            Jsonb([chunk.model_dump() for chunk in completed.top_chunks]),
            Jsonb([candidate.model_dump() for candidate in completed.candidates]),
        ),
    )


@dataclass(frozen=True, slots=True)
class CitedQuote:
    """A quote of an answer: the heading that it stands under, and its relevance or support in [0, 1]."""

    quote: Quote
    heading: str | None
    score: float


async def insert_citations(connection: AsyncConnection, answer_id: int, quotes: Mapping[int, CitedQuote]) -> None:
    """Store the quotes of an answer by their numbers."""
    async with connection.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO citations (answer_id, number, version_id, char_start, char_end, quote_sha256, heading, score)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
            [
                (answer_id, number, quote.version_id, quote.start, quote.end, quote.sha256, item.heading, item.score)
                for number, item in quotes.items()
                for quote in [item.quote]
            ],
        )


async def finish_run(
    connection: AsyncConnection,
    answer_id: int,
    decision: ExpansionDecision,
    *,
    status: Status,
    confidence: float,
    citations: Sequence[CitationSpan] = (),
    warnings: Sequence[Caution] = (),
) -> None:
    """Store citations, verdict and final state. Call inside a transaction."""
    quotes = {
        citation.number: CitedQuote(citation.as_quote(), citation.section_heading, citation.relevance)
        for citation in citations
    }
    await insert_citations(connection, answer_id, quotes)
    await connection.execute(
        "UPDATE answer_runs SET state = 'done', reason = NULL, action = %s, rule = %s, probability = %s, warnings = %s,"
        " status = %s, confidence = %s, ended_at = now() WHERE id = %s",
        (
            decision.action,
            decision.rule,
            decision.probability_complete,
            Jsonb([warning.stored for warning in warnings]),
            status,
            confidence,
            answer_id,
        ),
    )


async def fail_run(connection: AsyncConnection, answer_id: int, reason: str) -> None:
    """Mark a run as ended without a result. Pages that it fetched stay in the corpus."""
    await connection.execute(
        "UPDATE answer_runs SET state = 'failed', reason = %s, ended_at = now() WHERE id = %s",
        (reason, answer_id),
    )


@asynccontextmanager
async def recorded_run(database: Database, answer_id: int, register: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Register a run whose claim is held, and record its end when it fails or is cancelled, whenever that is.

    The body stores the result of a run that ends well.
    """
    reason: str | None = "internal_error"
    registering = asyncio.ensure_future(register)
    try:
        await asyncio.shield(registering)
        yield
        reason = None
    except asyncio.CancelledError:
        reason = "cancelled"
        raise
    except WebragError as error:
        reason = error.code
        raise
    finally:
        if reason is not None:
            await asyncio.shield(_record_failure(database, answer_id, registering, reason))


async def _record_failure(database: Database, answer_id: int, registering: asyncio.Future[None], reason: str) -> None:
    """Mark the run as failed. A database failure here must not replace the error that ended the run."""
    try:
        await registering
        async with database.connection() as connection:
            await fail_run(connection, answer_id, reason)
    except StoreError as error:
        logger.warning("answer %d could not be marked as failed: %s", answer_id, error.message)


async def broken_citations(connection: AsyncConnection) -> tuple[int, list[str]]:
    """Return the number of citations, and those whose hash differs from their span in the stored version."""
    cursor = await connection.execute(
        "SELECT c.answer_id, c.number, c.quote_sha256 = encode(sha256(convert_to("
        " substring(v.markdown FROM c.char_start + 1 FOR c.char_end - c.char_start), 'UTF8')), 'hex')"
        " FROM citations c JOIN document_versions v ON v.id = c.version_id ORDER BY 1, 2"
    )
    rows = await cursor.fetchall()
    return len(rows), [f"answer {answer}, citation {number}" for answer, number, valid in rows if not valid]


@dataclass(frozen=True, slots=True)
class StoredRound:
    """One round: the signals by name, as recorded by the program version of that time, and the decision."""

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
    """Read one run. Raises InvalidInputError when there is no answer of that id, and for one in prose, which decided
    nothing itself."""
    cursor = await connection.execute(
        "SELECT query, policy, state, prose -> 'evidence_ids' FROM answer_runs WHERE id = %s", (answer_id,)
    )
    row = await cursor.fetchone()
    if row is None:
        raise InvalidInputError(f"there is no answer {answer_id}; `webrag answers list` names those that there are")
    query, policy, state, evidence_ids = row
    if policy is None:
        runs = ", ".join(map(str, evidence_ids or [])) or "none"
        raise InvalidInputError(f"answer {answer_id} is in prose; the runs that gathered its evidence: {runs}")
    cursor = await connection.execute(
        "SELECT signals, decision FROM answer_rounds WHERE answer_id = %s ORDER BY round", (answer_id,)
    )
    rounds = tuple(
        StoredRound(signals, ExpansionDecision.model_validate(decision))
        for signals, decision in await cursor.fetchall()
    )
    return StoredRun(answer_id, query, policy, state, rounds)
