"""Asset `corpus_inventory`: totals per source, failed partitions and overdue sources, with a check for each."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster import automation
from webrag_dagster.components import OWNERS
from webrag_dagster.corpus.layers import DOCUMENTS
from webrag_dagster.corpus.runs import failed_partitions
from webrag_dagster.defs.prose_checks import PROSE_CHECKS
from webrag_dagster.metadata import Metadata, spending_metadata, table
from webrag_dagster.pictures import picture
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.corpus.kept_sources import KeptSource
    from webrag_core.corpus.refresh_store import DueSource
    from webrag_core.corpus.status import CorpusStatus
    from webrag_core.drawing.figure import Figure

_OVERDUE = timedelta(days=1)
_HOW_TO_RECOVER = """\
- **A source without any fetched page** (`documents`): open its run for the pages and reasons. Correct a wrong seed in
  its YAML file. The schedule retries an unreachable site once a day; materialize the partition to retry now.
- **Downstream assets** are retried once an hour. Materialize the partition with job `index` to retry now.
- **A blocking check** lists the broken rows in its own tab. Job `index` with `mend: true` for `chunks` re-chunks
  broken pages; `webrag verify` checks the whole corpus.
- **To remove a source**: run job `forget` (or `webrag forget SOURCE`), and delete the partition in the UI.
"""


@dg.asset(
    name="corpus_inventory",
    group_name="operations",
    kinds={"postgres"},
    owners=["team:corpus"],
    freshness_policy=dg.FreshnessPolicy.time_window(warn_window=timedelta(hours=8), fail_window=timedelta(days=1)),
    check_specs=[
        dg.AssetCheckSpec(
            "no_partition_is_left_failed",
            asset="corpus_inventory",
            description="Partitions whose last run failed, with the reason and what to do.",
        ),
        dg.AssetCheckSpec(
            "no_source_is_overdue",
            asset="corpus_inventory",
            description="Sources whose refresh should have happened more than a day ago.",
        ),
        dg.AssetCheckSpec(
            "every_source_is_fresh",
            asset="corpus_inventory",
            description=(
                "Attached sources whose site gave no answer for three intervals, however they were attached. A warning:"
                " sensor alert_on_staleness tells of each."
            ),
        ),
    ],
    description="Totals per source, failed partitions, overdue sources. Materialized four times a day.",
)
def corpus_inventory(context: dg.AssetExecutionContext, corpus: CorpusResource) -> dg.MaterializeResult:  # type: ignore[type-arg]  # Dagster does not know the generic one beside checks
    """Compare the corpus with Dagster's event log."""
    from webrag_core.corpus.kept_sources import kept_sources
    from webrag_core.corpus.refresh_store import due_sources
    from webrag_core.corpus.status import corpus_status, spending_days
    from webrag_core.feedback.judged_answers import judged_answers
    from webrag_core.providers.prices import load_prices
    from webrag_core.showing.confidence_figure import confidence_figure
    from webrag_core.showing.spending_figures import spending_figures
    from webrag_core.store.database import Database

    settings = corpus.settings()

    revisit = timedelta(days=settings.webrag_revisit_days)

    async def work() -> "tuple[CorpusStatus, list[DueSource], list[KeptSource], dict[str, Figure]]":
        prices = load_prices(settings)
        async with await Database.open(settings) as database, database.snapshot() as connection:
            status = await corpus_status(connection, prices)
            figures = spending_figures(await spending_days(connection, prices))
            judged = confidence_figure(await judged_answers(connection))
            figures |= {} if judged is None else {"confidence_of_judged_answers": judged}
            return status, await due_sources(connection, revisit), await kept_sources(connection, revisit), figures

    status, due, kept, figures = run(work())
    stale = [source for source in kept if source.is_stale]
    failed = failed_partitions(context.instance)
    overdue = [source for source in due if source.due_at < datetime.now(UTC) - _OVERDUE]
    totals = {
        "sources": len(status.sources),
        "pages": sum(source.ready for source in status.sources),
        "pages_failed": sum(source.failed for source in status.sources),
        "chunks": sum(source.children for source in status.sources),
        "answers": status.answers,
        "partitions_failed": len(failed),
        "sources_due": len(due),
        "sources_overdue": len(overdue),
        "sources_stale": len(stale),
        "database_bytes": status.database_bytes,
    }
    metadata: Metadata = {
        **{name: dg.MetadataValue.int(total) for name, total in totals.items()},
        "source_list": table(
            {
                "source": source.key,
                "ready": source.ready,
                "failed": source.failed,
                "gone": source.gone,
                "due": source.due,
                "chunks": source.children,
                "last reached": f"{source.last_answered:%Y-%m-%d %H:%M}" if source.last_answered else "never",
                "last attempt": f"failed: {source.failing}" if source.failing else "",
            }
            for source in sorted(status.sources, key=lambda source: -source.ready)
        ),
        **spending_metadata(status.spent_today),
        **{name: picture(figure) for name, figure in figures.items()},
        "failures_by_reason": table({"reason": name, "pages": count} for name, count in status.failures.items()),
    }
    return dg.MaterializeResult(
        metadata=metadata,
        check_results=[
            dg.AssetCheckResult(
                check_name="no_partition_is_left_failed",
                passed=not failed,
                severity=dg.AssetCheckSeverity.WARN,
                description=f"{len(failed)} partitions failed" if failed else None,
                metadata={
                    "partitions_failed": len(failed),
                    "failed": table(
                        {
                            "partition": failure.key,
                            "asset": failure.asset,
                            "reason": failure.reason,
                            "permanent": failure.permanent,
                            "next attempt": "with its next refresh"
                            if failure.asset == DOCUMENTS
                            else "within the hour",
                            "run": failure.run_id,
                        }
                        for failure in failed
                    ),
                    "how_to_recover": dg.MetadataValue.md(_HOW_TO_RECOVER),
                },
            ),
            dg.AssetCheckResult(
                check_name="no_source_is_overdue",
                passed=not overdue,
                severity=dg.AssetCheckSeverity.WARN,
                description=f"{len(overdue)} sources are overdue; is sensor refresh_due running?" if overdue else None,
                metadata={
                    "sources_overdue": len(overdue),
                    "overdue": table(
                        {"source": page.key, "shard": page.shard, "due since": f"{page.due_at:%Y-%m-%d %H:%M}"}
                        for page in overdue
                    ),
                },
            ),
            dg.AssetCheckResult(
                check_name="every_source_is_fresh",
                passed=not stale,
                severity=dg.AssetCheckSeverity.WARN,
                description=f"{len(stale)} sources had no answer for three intervals" if stale else None,
                metadata={
                    "sources_stale": dg.MetadataValue.int(len(stale)),
                    "stale": table(
                        {
                            "source": page.key,
                            "last answer": f"{page.answered_at:%Y-%m-%d %H:%M}" if page.answered_at else "never",
                            "hours between refreshes": page.every.total_seconds() / 3600,
                            "owners": ", ".join(page.owners or OWNERS),
                        }
                        for page in stale
                    ),
                },
            ),
        ],
    )


take_inventory = dg.define_asset_job(
    "inventory",
    # the checks of answers belong to no asset that is made here: nothing else runs them
    selection=dg.AssetSelection.assets("corpus_inventory", "answer_gaps") | dg.AssetSelection.checks(*PROSE_CHECKS),
    executor_def=dg.in_process_executor,
    description="Totals per source, failed partitions, overdue sources, and the checks of answers in prose.",
)

inventory_schedule = dg.ScheduleDefinition(
    name="inventory_schedule",
    job=take_inventory,
    cron_schedule="17 */6 * * *",
    execution_timezone="UTC",
    default_status=automation.SCHEDULES,
    description="Materializes the inventory four times a day.",
)
