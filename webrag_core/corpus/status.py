"""Count what the corpus holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from psycopg import AsyncConnection
from psycopg.rows import class_row, dict_row
from pydantic import BaseModel

from webrag_core.corpus.freshness import ANSWERED_AT, FAILED_ATTEMPT
from webrag_core.providers.prices import Prices, ProviderSpending, priced
from webrag_core.store.breakers import BreakerState, breaker_states
from webrag_core.store.spending import spent_since, total


class SourceStatus(BaseModel):
    """A source: documents by state (`due` = their next check has come, `held` = a new text of
    theirs is held back), chunks, and tokens of its parents. `last_checked` is the latest attempt at a page,
    `last_answered` the latest that gave a text. Where no page answered the last attempt, `failing` is its reason,
    `failed_at` its time."""

    key: str
    documents: int
    ready: int
    failed: int
    gone: int
    due: int
    held: int
    parents: int
    children: int
    tokens: int
    last_checked: datetime | None
    last_answered: datetime | None
    failed_at: datetime | None
    failing: str | None


class FailedPage(BaseModel):
    """A page that has no text, and why."""

    url: str
    reason: str


class CorpusStatus(BaseModel):
    """The whole corpus. `answers` counts those that the list of answers shows, `failures` documents by reason, and
    `failed_pages` are those that were tried last; `breakers` are those of endpoints that have failed since they last
    answered. What was asked of endpoints is that of today (UTC), and of this and the 29 days before."""

    sources: list[SourceStatus]
    embedding_model: str | None
    answers: int
    failures: dict[str, int]
    failed_pages: list[FailedPage] = []
    database_bytes: int
    breakers: list[BreakerState] = []
    spent_today: list[ProviderSpending] = []
    spent_in_30_days: list[ProviderSpending] = []

    @property
    def failed_unnamed(self) -> int:
        """How many failed pages `failed_pages` leaves out."""
        return max(0, sum(self.failures.values()) - len(self.failed_pages))


_FAILED_NAMED = 5
_DAYS = 30
_STATUSES = f"""
SELECT s.key, d.*, z.*, failed_at, failing FROM sources s CROSS JOIN LATERAL (
    SELECT count(*) AS documents, count(*) FILTER (WHERE status = 'ready') AS ready,
           count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'gone') AS gone,
           count(*) FILTER (WHERE status <> 'gone' AND next_check <= now()) AS due,
           count(*) FILTER (WHERE status <> 'gone' AND miss_reason IN ('near_empty', 'held_back')) AS held,
           max(last_checked) AS last_checked, max({ANSWERED_AT}) AS last_answered
    FROM documents d WHERE source_id = s.id
) d CROSS JOIN LATERAL (
    SELECT coalesce(sum(parents), 0) AS parents, coalesce(sum(children), 0) AS children,
           coalesce(sum(tokens), 0) AS tokens
    FROM source_sizes WHERE source_id = s.id
) z {FAILED_ATTEMPT}
WHERE %(keys)s::text[] IS NULL OR s.key = ANY(%(keys)s) ORDER BY s.key
"""  # noqa: S608


async def source_statuses(connection: AsyncConnection, keys: Sequence[str] | None = None) -> list[SourceStatus]:
    """Count documents, chunks and tokens of the sources with these keys (None = of all)."""
    async with connection.cursor(row_factory=class_row(SourceStatus)) as cursor:
        await cursor.execute(_STATUSES, {"keys": None if keys is None else list(keys)}, prepare=False)
        return await cursor.fetchall()


async def corpus_status(
    connection: AsyncConnection, prices: Prices | None = None, *, every_failure: bool = False
) -> CorpusStatus:
    """Count documents, chunks, tokens, answers and failures, and what was asked of endpoints, at `prices`. With
    `every_failure` all failed pages are named."""
    sources = await source_statuses(connection)
    async with connection.cursor(row_factory=class_row(FailedPage)) as pages:
        await pages.execute(
            "SELECT canonical_url AS url, reason FROM documents WHERE status = 'failed'"
            " ORDER BY last_fetch_at DESC NULLS LAST, canonical_url LIMIT %s",
            (None if every_failure else _FAILED_NAMED,),
        )
        failed_pages = await pages.fetchall()
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(
            "SELECT (SELECT name FROM embedding_models WHERE state = 'live') AS embedding_model,"
            " (SELECT count(*) FROM answer_runs WHERE state = 'done' AND origin IS DISTINCT FROM 'answer') AS answers,"
            " pg_database_size(current_database()) AS database_bytes,"
            " (SELECT coalesce(jsonb_object_agg(reason, n), '{}') FROM"
            "   (SELECT reason, count(*) AS n FROM documents WHERE status = 'failed' GROUP BY reason) f) AS failures"
        )
        row = await cursor.fetchone()
    assert row is not None
    today = datetime.now(UTC).date()
    days = await spent_since(connection, today - timedelta(days=_DAYS - 1))
    known = prices or Prices()
    return CorpusStatus(
        sources=sources,
        failed_pages=failed_pages,
        breakers=await breaker_states(connection),
        spent_today=priced(days.get(today, {}), known),
        spent_in_30_days=priced(total(days.values()), known),
        **row,
    )


async def spending_days(connection: AsyncConnection, prices: Prices) -> dict[date, list[ProviderSpending]]:
    """What was asked of endpoints today (UTC) and on the 29 days before, at `prices`, the earliest day first; nothing
    on days without a request."""
    first = datetime.now(UTC).date() - timedelta(days=_DAYS - 1)
    days = await spent_since(connection, first)
    return {day: priced(days.get(day, {}), prices) for day in (first + timedelta(days=n) for n in range(_DAYS))}
