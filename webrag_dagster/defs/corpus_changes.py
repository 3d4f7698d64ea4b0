"""Sensor `corpus_changes`: report what happened outside Dagster's runs, and request runs for unfinished work."""

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dagster as dg

from webrag_dagster import automation
from webrag_dagster.components import declared_assets
from webrag_dagster.corpus.answers_elsewhere import BEGIN, MOST_ANSWERS, AnswerPlace, answer_event
from webrag_dagster.corpus.layers import SOURCES
from webrag_dagster.corpus.reported_refreshes import RefreshPlace, refresh_event
from webrag_dagster.corpus.runs import activity
from webrag_dagster.corpus.source_assets import asset_key
from webrag_dagster.defs.refresh import index
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.answering.finished import FinishedAnswer
    from webrag_core.corpus.outbox import Place, Unfinished
    from webrag_core.corpus.refresh_store import LastRefresh

SECONDS, MOST = 4.0, 100
"""Time and number limits per tick for comparing sources, and for reporting refreshes. The daemon stores the events of
a source in some 50 ms."""
_AT_ONCE = 10


@dg.sensor(
    name="corpus_changes",
    job=index,
    minimum_interval_seconds=20,
    default_status=automation.SENSORS,
    description=(
        "Reports what happened outside Dagster's runs. Sources changed by the command line, an MCP client or a killed"
        " run get materializations of the changed layers, and a partition with their first page; the asset of an"
        " attached source one for each refresh that its site answered, whoever started it; `answers` and"
        f" `prose_answers` for answers asked for elsewhere, {MOST_ANSWERS} a tick, those of the last {BEGIN.days} days"
        " to begin with. Pages stored but not searchable get a run of job `index`."
    ),
)
def corpus_changes(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> dg.SensorResult:
    """Report changed sources, refreshes and answers. Sources with a run in progress wait, since that run reports them.
    So do sources beyond the tick's time limit. The cursor stores the pending sources, and what was reported last."""
    from webrag_core.corpus.outbox import acknowledge, read_changes, unfinished_sources
    from webrag_core.corpus.sources import keys_of
    from webrag_core.store.database import Database
    from webrag_dagster.corpus.touched import unreported_materializations

    now = activity(context.instance)
    fields = _fields(context.cursor)
    place, waiting = _read_place(fields)
    answered = AnswerPlace.read(fields.get("answers"), context.instance)
    # a tick outside a code location does not know which source a file declares
    assets = None if context.repository_def is None else declared_assets(context.repository_def)
    settings = corpus.settings()

    async def work() -> "tuple[Place, set[str], list[dg.AssetMaterialization], list[Unfinished], _Elsewhere]":
        async with await Database.open(settings) as database:
            async with database.snapshot() as connection:
                changes = await read_changes(connection, place)
                unfinished = await unfinished_sources(connection)
                same = place is not None and place.corpus == changes.place.corpus  # numbers are those of a corpus
                refreshed = RefreshPlace.read(fields.get("refreshes") if same else None)
                refreshes = [] if assets is None else await refreshed.news(connection, MOST)
                elsewhere = _Elsewhere(refreshes, refreshed.after(refreshes), await answered.news(connection))
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
            return changes.place, pending | set(free), events, unfinished, elsewhere

    place, pending, events, unfinished, elsewhere = run(work())
    events += [refresh_event((assets or {}).get(item.key) or asset_key(item.key), item) for item in elsewhere.refreshes]
    events += map(answer_event, elsewhere.answers)
    requests = [
        dg.RunRequest(run_key=f"{left.key} unfinished {left.digest}", partition_key=left.key)
        for left in unfinished
        if left.key not in now.partitions and not now.answering
    ]
    known = set(context.instance.get_dynamic_partitions(str(SOURCES.name)))
    requests = [request for request in requests if request.partition_key in known]
    cursor = json.dumps(
        {
            "corpus": place.corpus,
            "horizon": place.horizon,
            "waiting": sorted(pending),
            "refreshes": elsewhere.refreshed.fields(),
            "answers": answered.after(elsewhere.answers).fields(),
        }
    )
    if not events and not requests:
        return dg.SensorResult(skip_reason=f"no new change; {len(pending)} changed sources pending", cursor=cursor)
    return dg.SensorResult(asset_events=events, run_requests=requests, cursor=cursor)


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """Refreshes of attached sources, and answers, that are not reported yet, and the place behind the refreshes."""

    refreshes: "list[LastRefresh]"
    refreshed: RefreshPlace
    answers: "list[FinishedAnswer]"


def _fields(cursor: str | None) -> dict[str, Any]:
    """The fields of a cursor; none of one that cannot be read."""
    try:
        fields = json.loads(cursor or "")
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _read_place(fields: dict[str, Any]) -> "tuple[Place | None, set[str]]":
    """Position in the outbox and pending sources. Without one that can be read it is the beginning, which is safe."""
    from webrag_core.corpus.outbox import Place

    try:
        return Place(str(fields["corpus"]), int(fields["horizon"])), {str(key) for key in fields["waiting"]}
    except (ValueError, KeyError, TypeError):
        return None, set()
