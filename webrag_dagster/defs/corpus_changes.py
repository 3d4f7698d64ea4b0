"""Sensor `corpus_changes`: report corpus changes made outside Dagster, and request runs for unfinished work."""

import json
import time
from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.corpus.runs import activity
from webrag_dagster.defs.refresh import index
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.corpus.outbox import Place, Unfinished

SECONDS, MOST = 4.0, 100
"""Time and number limits per tick for comparing sources. The daemon stores the events of one in some 50 ms."""
_AT_ONCE = 10


@dg.sensor(
    name="corpus_changes",
    job=index,
    minimum_interval_seconds=20,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=(
        "Reads the corpus' outbox. Sources changed by the command line, an MCP client or a killed run get"
        " materializations of the changed layers, and a partition with their first page. Pages stored but not"
        " searchable get a run of job `index`."
    ),
)
def corpus_changes(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> dg.SensorResult:
    """Report changed sources. Sources with a run in progress wait, since that run reports them. So do sources beyond
    the tick's time limit. The cursor stores the pending sources."""
    from webrag_core.corpus.outbox import acknowledge, read_changes, unfinished_sources
    from webrag_core.corpus.sources import keys_of
    from webrag_core.store.database import Database
    from webrag_dagster.corpus.touched import unreported_materializations

    now = activity(context.instance)
    place, waiting = _read_cursor(context.cursor)
    settings = corpus.settings()

    async def work() -> "tuple[Place, set[str], list[dg.AssetMaterialization], list[Unfinished]]":
        async with await Database.open(settings) as database:
            async with database.snapshot() as connection:
                changes = await read_changes(connection, place)
                unfinished = await unfinished_sources(connection)
            if place is not None and place.corpus == changes.place.corpus:
                async with database.connection() as connection:
                    await acknowledge(connection, "dagster", place)
            changed = {*waiting, *keys_of(changes.sources)}
            pending = changed if now.answering else changed & now.partitions
            events: list[dg.AssetMaterialization] = []
            free, until = sorted(changed - pending), time.monotonic() + SECONDS
            last = max(0, len(free) - MOST)
            while len(free) > last and time.monotonic() < until:
                taken, free = free[:_AT_ONCE], free[_AT_ONCE:]
                events += await unreported_materializations(
                    context.instance, database, settings, taken, "Changed outside Dagster's runs."
                )
            return changes.place, pending | set(free), events, unfinished

    place, pending, events, unfinished = run(work())
    requests = [
        dg.RunRequest(run_key=f"{left.key} unfinished {left.digest}", partition_key=left.key)
        for left in unfinished
        if left.key not in now.partitions and not now.answering
    ]
    known = set(context.instance.get_dynamic_partitions("source"))
    requests = [request for request in requests if request.partition_key in known]
    cursor = json.dumps({"corpus": place.corpus, "horizon": place.horizon, "waiting": sorted(pending)})
    if not events and not requests:
        return dg.SensorResult(skip_reason=f"no new change; {len(pending)} changed sources pending", cursor=cursor)
    return dg.SensorResult(asset_events=events, run_requests=requests, cursor=cursor)


def _read_cursor(cursor: str | None) -> "tuple[Place | None, set[str]]":
    """Position in the outbox and pending sources. An unreadable cursor restarts from the beginning, which is safe."""
    from webrag_core.corpus.outbox import Place

    try:
        fields = json.loads(cursor or "")
        return Place(str(fields["corpus"]), int(fields["horizon"])), {str(key) for key in fields["waiting"]}
    except (ValueError, KeyError, TypeError):
        return None, set()
