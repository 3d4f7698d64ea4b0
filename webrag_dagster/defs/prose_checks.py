"""Checks of answers in prose: every stored sentence still follows from what it cites, and plans lose few tasks."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import dagster as dg

from webrag_dagster.metadata import table
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

DAYS = 7
MOST_DEGRADED = 0.2
"""Share of a week's answers that may have lost a task."""


@dg.asset_check(
    asset="prose_answers",
    description=(
        "Every sentence of every stored answer is proved again from the database alone, by code that does not know how"
        " it was composed."
    ),
)
def sentences_proved(corpus: CorpusResource) -> dg.AssetCheckResult:
    """Prove all sentences again."""

    async def work() -> dg.AssetCheckResult:
        from webrag_core.answering.proof.recheck import recheck

        problems = []
        sentences = 0
        async with corpus.open() as opened, opened.database.connection() as connection:
            async for name, problem in recheck(connection):
                sentences += 1
                if problem is not None:
                    problems.append({"sentence": name, "problem": problem})
        return dg.AssetCheckResult(
            passed=not problems,
            severity=dg.AssetCheckSeverity.ERROR,
            description=f"{len(problems)} of {sentences} sentences are not proved" if problems else None,
            metadata={
                "sentences": dg.MetadataValue.int(sentences),
                "not_proved": dg.MetadataValue.int(len(problems)),
                **({"problems": table(problems)} if problems else {}),
            },
        )

    return run(work())


@dg.asset_check(
    asset="prose_answers",
    description=(
        f"At most {MOST_DEGRADED:.0%} of the answers of the last {DAYS} days lost a task of their plan to an error, a"
        " timeout or an open breaker; the table names agents and reasons."
    ),
)
def plans_run_whole(corpus: CorpusResource) -> dg.AssetCheckResult:
    """Count the answers that lost a task."""

    async def work() -> dg.AssetCheckResult:
        from webrag_core.routing.stored_tasks import lost_tasks

        async with corpus.open() as opened, opened.database.connection() as connection:
            lost = await lost_tasks(connection, datetime.now(UTC) - timedelta(days=DAYS))
        share = lost.degraded / lost.answers if lost.answers else 0.0
        rows: list[Mapping[str, str | int | float | bool | None]] = [
            {"agent": agent, "code": code, "reason": message, "tasks": times}
            for agent, code, message, times in lost.losses
        ]
        return dg.AssetCheckResult(
            passed=share <= MOST_DEGRADED,
            severity=dg.AssetCheckSeverity.WARN,
            description=f"{lost.degraded} of {lost.answers} answers lost a task" if rows else None,
            metadata={
                "answers": dg.MetadataValue.int(lost.answers),
                "degraded": dg.MetadataValue.int(lost.degraded),
                "share": dg.MetadataValue.float(share),
                **({"lost_tasks": table(rows)} if rows else {}),
            },
        )

    return run(work())


@dg.asset_check(
    asset="prose_answers",
    description=(
        "Every endpoint (chat, embeddings, reranker, Firecrawl, web archive) may be asked: no breaker is open after"
        " BREAKER_FAILURES transient failures in a row."
    ),
)
def breakers_closed(corpus: CorpusResource) -> dg.AssetCheckResult:
    """List the breakers of endpoints that have failed since they last answered."""

    async def work() -> dg.AssetCheckResult:
        from webrag_core.store.breakers import breaker_states

        async with corpus.open() as opened, opened.database.connection() as connection:
            states = await breaker_states(connection)
        not_closed = [state for state in states if state.state != "closed"]
        rows: list[Mapping[str, str | int | float | bool | None]] = [
            {
                "endpoint": state.name,
                "state": state.state,
                "failures in a row": state.failures,
                "last reason": state.last_reason,
                "next try": None if state.retry_at is None else f"{state.retry_at:%Y-%m-%d %H:%M:%S} UTC",
            }
            for state in states
        ]
        return dg.AssetCheckResult(
            passed=not not_closed,
            severity=dg.AssetCheckSeverity.WARN,
            description=f"not asked: {', '.join(item.name for item in not_closed)}" if not_closed else None,
            metadata={
                "not_closed": dg.MetadataValue.int(len(not_closed)),
                **({"breakers": table(rows)} if rows else {}),
            },
        )

    return run(work())


PROSE_CHECKS = (sentences_proved, plans_run_whole, breakers_closed)
"""All checks of answers in prose."""
