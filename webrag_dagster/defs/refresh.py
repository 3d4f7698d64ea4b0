"""Refreshes of sources: jobs `refresh` and `index`, and the sensors that request them, where they are due and where the
automation conditions of the corpus ask for them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

import dagster as dg

from webrag_dagster import automation
from webrag_dagster.corpus import layers
from webrag_dagster.corpus.layers import CHUNKS, DOCUMENTS, EMBEDDINGS, LINKS
from webrag_dagster.corpus.runs import ASKED_BY, REFRESH, asked_for, is_refreshing
from webrag_dagster.defs.citations import CITATIONS
from webrag_dagster.resources import CorpusResource

MOST_RUNS = 20
"""Limit of unfinished runs that the sensor asked for. After a long downtime it catches up in slices, the longest due
first. Other runs of the instance do not count."""

refresh = dg.define_asset_job(
    REFRESH,
    selection=dg.AssetSelection.assets(DOCUMENTS, LINKS, CHUNKS, EMBEDDINGS, CITATIONS),
    executor_def=dg.in_process_executor,
    description="Refresh one source and index its changed pages, with all checks. Pick the source as partition.",
)

index = dg.define_asset_job(
    "index",
    selection=dg.AssetSelection.assets(LINKS, CHUNKS, EMBEDDINGS, CITATIONS),
    executor_def=dg.in_process_executor,
    description="Index pages of one source that are stored but not searchable yet. Sends no request to the site.",
)


corpus_automation = dg.AutomationConditionSensorDefinition(
    "corpus_automation",
    target=dg.AssetSelection.groups("corpus"),
    minimum_interval_seconds=10,
    default_status=automation.SENSORS,
    emit_backfills=False,  # a run per source at once, and no backfill daemon between a change and its run
    description="Reads a source again when its site was seen to change, and makes what depends on it.",
)


@dg.sensor(
    name="refresh_due",
    job=refresh,
    # a schedule would fill the timeline with ticks to come, of which most find nothing due
    minimum_interval_seconds=120,
    default_status=automation.SENSORS,
    description=(
        "Requests a refresh of every due source: by its cadence, or because pages of it are due. Due dates are read"
        " from the corpus, so that after a downtime every due source is refreshed once. A failed refresh is requested"
        " again the next day."
    ),
)
def refresh_due(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> Iterator[dg.RunRequest | dg.SkipReason]:
    """Request runs for due sources, up to `MOST_RUNS` unfinished ones."""
    from webrag_core.corpus.refresh_store import due_sources
    from webrag_core.corpus.sources import shard_keys

    revisit = timedelta(days=corpus.settings().webrag_revisit_days)
    sources = corpus.read(lambda connection: due_sources(connection, revisit))
    unfinished = asked_for(context.instance, "refresh_due")
    waiting = [(shard_keys(due.key, due.shards)[due.shard], due) for due in sources]
    free = ((key, due) for key, due in waiting if not is_refreshing(context.instance, key))
    taken = list(islice(free, max(0, MOST_RUNS - unfinished)))
    if not taken:
        yield dg.SkipReason(
            f"{len(waiting)} sources are due; they are being refreshed, or wait for the {unfinished} unfinished runs"
            f" that this sensor asked for (limit {MOST_RUNS})"
        )
        return
    layers.register_partitions(context.instance, (key for key, _ in taken))
    today = datetime.now(UTC)
    for key, due in taken:
        yield dg.RunRequest(
            # the date in the key allows one new request per day after a failure
            run_key=f"{key} due {due.due_at:%Y-%m-%dT%H:%M:%S} asked {today:%Y-%m-%d}",
            partition_key=key,
            run_config={"ops": {DOCUMENTS: {"config": {"pages": "due"}}}},
            tags={"webrag/source": due.key, ASKED_BY: "refresh_due"} | ({"webrag/pool": due.pool} if due.pool else {}),
        )
