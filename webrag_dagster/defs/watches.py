"""Watches: asset `watches`, whose runs tell of what changed, and the sensor that asks for a run when something did."""

import hashlib
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import dagster as dg
from pydantic import Field

from webrag_dagster import automation
from webrag_dagster.corpus.runs import ASKED_BY, activity, asked_for
from webrag_dagster.defs.alerts import UNSET
from webrag_dagster.defs.citations import CITATIONS
from webrag_dagster.metadata import MAX_ROWS, Metadata, table
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.watches.rounds import WatchRound

WATCHES = "watches"
_SENSOR = "watches_due"


class WatchesConfig(dg.Config):
    """Config for the launchpad."""

    only: list[int] = Field(default=[], description="Numbers of watches (`webrag watch list`); empty = all.")
    dry_run: bool = Field(default=False, description="True = show the news, send nothing, and tell of it again later.")


@dg.asset(
    name=WATCHES,
    deps=[CITATIONS],
    group_name="answers",
    kinds={"postgres"},
    owners=["team:corpus"],
    pool="answers",
    description=(
        "What changed of watched pages and sections, beyond layout, and which watched questions are answered otherwise"
        " now. Each run compares the watches that are due and sends the news to where alerts go, once. Questions are"
        " put to the stored pages again."
    ),
)
def watches(
    context: dg.AssetExecutionContext, config: WatchesConfig, corpus: CorpusResource
) -> dg.MaterializeResult[None]:
    """Make one round."""

    async def work() -> "WatchRound":
        from webrag_core.application.services import Services
        from webrag_core.application.watching import CheckWatches

        async with corpus.open() as opened:
            wanted = CheckWatches.of(only=tuple(config.only) or None, dry_run=config.dry_run)
            return await wanted.run(Services.over(opened))

    made = run(work())
    for problem in made.problems:
        context.log.warning(problem)
    return dg.MaterializeResult(metadata=_metadata(made))


def _metadata(made: "WatchRound") -> Metadata:
    from webrag_core.watches.messages import headline, lines_of

    metadata: Metadata = {
        "compared": dg.MetadataValue.int(made.compared),
        "news": dg.MetadataValue.int(len(made.news)),
        "sent": dg.MetadataValue.bool(made.sent),
    }
    if made.news:
        metadata["told"] = table(
            {"watch": piece.watch.watch_id, "event": headline(piece), "news": "\n".join(lines_of(piece))}
            for piece in made.news[:MAX_ROWS]
        )
    if made.problems:
        metadata["problems"] = dg.MetadataValue.json(made.problems)
    return metadata


watch_job = dg.define_asset_job(
    "watch",
    selection=[watches],
    executor_def=dg.in_process_executor,
    description="Compare what is watched with what is stored, and tell of what changed (asset `watches`).",
)


@dg.sensor(
    name=_SENSOR,
    job=watch_job,
    minimum_interval_seconds=30,
    default_status=automation.SENSORS,
    description=(
        "Requests a run of job `watch` when pages that somebody watches, or that a watched question rests on, have"
        " another version. Sources with a run in progress wait for its end. Off until ALERT_WEBHOOK, ALERT_EMAIL or"
        " ALERT_LOG is set."
    ),
)
def watches_due(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> dg.RunRequest | dg.SkipReason:
    """Request one run for all watches that are due."""
    from webrag_core.corpus.sources import split_key
    from webrag_core.watches.store import due_watches

    if not corpus.settings().alerts_somewhere:
        return dg.SkipReason(UNSET)
    if asked_for(context.instance, _SENSOR):
        return dg.SkipReason("a run that this sensor asked for is not finished")

    due = corpus.read(due_watches)
    busy = {split_key(key)[0] for key in activity(context.instance).partitions} if due else set()
    free = [watch for watch in due if busy.isdisjoint(watch.source_keys)]
    if not free:
        return dg.SkipReason(f"{len(due)} watches are due, of sources with a run in progress")
    seen = [
        [item.watch.watch_id, item.current_version, item.is_gone, item.pages_now, str(item.compared)] for item in free
    ]
    digest = hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:16]
    return dg.RunRequest(
        # the hour in the key allows another request where a run failed
        run_key=f"{digest} {datetime.now(UTC):%Y-%m-%dT%H}",
        run_config={"ops": {WATCHES: {"config": {"only": [item.watch.watch_id for item in free]}}}},
        tags={ASKED_BY: _SENSOR},
    )
