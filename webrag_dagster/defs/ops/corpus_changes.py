"""Sensor `corpus_changes`: what was written outside Dagster becomes visible in it, and unfinished work is finished."""

import json
import time
from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.corpus.activity import activity
from webrag_dagster.defs.ops.jobs import index
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.corpus.outbox import Place, Unfinished

SECONDS, MOST = 4.0, 100
"""For comparing sources in one tick, and how many at most: the daemon needs some 50 ms to store what is told of one."""
_AT_ONCE = 10


@dg.sensor(
    name="corpus_changes",
    job=index,
    minimum_interval_seconds=20,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=(
        "Reads the corpus' outbox. Sources that the command line, an MCP client or a killed run changed get"
        " materializations of the layers whose content is another one (and with their first page a partition); pages"
        " that were read and never became searchable get a run of job `index`."
    ),
)
def corpus_changes(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> dg.SensorResult:
    """A source that a run works on waits: that run reports by itself. So do those that a tick has no time for. The
    cursor keeps who waits."""
    from webrag_core.corpus.outbox import acknowledge, read_changes, unfinished_sources
    from webrag_core.corpus.sources import keys_of
    from webrag_core.store.database import Database
    from webrag_dagster.corpus.touched import news

    now = activity(context.instance)
    place, waiting = _read_cursor(context.cursor)
    settings = corpus.settings()

    async def work() -> "tuple[Place, set[str], list[dg.AssetMaterialization], list[Unfinished]]":
        async with await Database.open(settings) as database:
            async with database.snapshot() as connection:
                found = await read_changes(connection, place)
                unfinished = await unfinished_sources(connection)
            if place is not None and place.corpus == found.place.corpus:
                async with database.connection() as connection:
                    await acknowledge(connection, "dagster", place)
            changed = {*waiting, *keys_of(found.sources)}
            held = changed if now.answering else changed & now.partitions
            events: list[dg.AssetMaterialization] = []
            free, until = sorted(changed - held), time.monotonic() + SECONDS
            last = max(0, len(free) - MOST)
            while len(free) > last and time.monotonic() < until:
                taken, free = free[:_AT_ONCE], free[_AT_ONCE:]
                events += await news(context.instance, database, settings, taken, "Changed outside Dagster's runs.")
            return found.place, held | set(free), events, unfinished

    place, held, events, unfinished = run(work())
    requests = [
        dg.RunRequest(run_key=f"{left.key} unfinished {left.digest}", partition_key=left.key)
        for left in unfinished
        if left.key not in now.partitions and not now.answering
    ]
    known = set(context.instance.get_dynamic_partitions("source"))
    requests = [request for request in requests if request.partition_key in known]
    cursor = json.dumps({"corpus": place.corpus, "horizon": place.horizon, "waiting": sorted(held)})
    if not events and not requests:
        return dg.SensorResult(skip_reason=f"nothing new; {len(held)} changed sources wait", cursor=cursor)
    return dg.SensorResult(asset_events=events, run_requests=requests, cursor=cursor)


def _read_cursor(cursor: str | None) -> "tuple[Place | None, set[str]]":
    """Where to go on, and who waits. A cursor that cannot be read begins again, which repeats nothing."""
    from webrag_core.corpus.outbox import Place

    try:
        found = json.loads(cursor or "")
        return Place(str(found["corpus"]), int(found["horizon"])), {str(key) for key in found["waiting"]}
    except (ValueError, KeyError, TypeError):
        return None, set()
