"""Sensor `answers_elsewhere`: report answers that the command line, MCP clients and the library asked for."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import dagster as dg

from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import ORIGIN, run

MOST = 20
"""Answers per tick; the daemon stores the event of one in some 20 ms."""
_BEGIN = timedelta(days=7)
"""How old the answers may be that a new instance reports first."""
_OVERLAP = timedelta(minutes=5)
"""An answer is visible when its transaction ends, which may be after a later one's."""


@dg.sensor(
    name="answers_elsewhere",
    minimum_interval_seconds=20,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=(
        "Materializes `answers` and `prose_answers` for answers not asked for in Dagster: by the command line,"
        f" an MCP client, the library. At most {MOST} a tick, those of the last {_BEGIN.days} days to begin with;"
        " `asked_by` names who asked."
    ),
)
def answers_elsewhere(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> dg.SensorResult | dg.SkipReason:
    """Report what ended since the cursor."""
    from webrag_core.answering.finished import FinishedAnswer, finished_answers
    from webrag_core.store.database import Database
    from webrag_dagster.corpus.reported_answers import materialization

    place = _read_cursor(context.cursor)
    settings = corpus.settings()

    async def work() -> list[FinishedAnswer]:
        async with await Database.open(settings) as database, database.snapshot() as connection:
            return await finished_answers(
                connection, since=place.since - _OVERLAP, reported=place.reported.keys(), not_by=ORIGIN, limit=MOST
            )

    answers = run(work())
    if not answers:
        return dg.SkipReason("no new answer from elsewhere")
    return dg.SensorResult(
        asset_events=[materialization(one) for one in answers],
        cursor=place.after(answers[-1].ended_at, {one.answer_id: one.ended_at for one in answers}).written(),
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """When the last reported answer ended, and the answers that were reported shortly before."""

    since: datetime
    reported: dict[int, datetime]

    def after(self, since: datetime, answers: dict[int, datetime]) -> "_Place":
        """The place behind these answers."""
        known = {**self.reported, **answers}
        return _Place(since, {number: ended for number, ended in known.items() if ended > since - 2 * _OVERLAP})

    def written(self) -> str:
        """As a cursor."""
        reported = {str(number): ended.isoformat() for number, ended in self.reported.items()}
        return json.dumps({"since": self.since.isoformat(), "reported": reported})


def _read_cursor(cursor: str | None) -> _Place:
    """An unreadable cursor, or none, begins a week ago."""
    try:
        fields = json.loads(cursor or "")
        reported = {int(number): datetime.fromisoformat(ended) for number, ended in fields["reported"].items()}
        return _Place(datetime.fromisoformat(fields["since"]), reported)
    except (ValueError, KeyError, TypeError, AttributeError):
        return _Place(datetime.now(UTC) - _BEGIN, {})
