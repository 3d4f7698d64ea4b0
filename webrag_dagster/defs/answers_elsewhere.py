"""Sensor `answers_elsewhere`: report answers that the command line, MCP clients and the library asked for."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.launchpad import question_tag
from webrag_dagster.markdown import code, prose
from webrag_dagster.metadata import MAX_QUOTES, Metadata
from webrag_dagster.prose import cited_markdown, prose_metadata
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import ORIGIN, run

if TYPE_CHECKING:
    from webrag_core.answering.finished import Evidence, FinishedAnswer

MOST = 20
"""Answers per tick; the daemon stores the event of one in some 20 ms."""
_BEGIN = timedelta(days=7)
"""How old the answers may be that a new instance reports first."""
_OVERLAP = timedelta(minutes=5)
"""An answer is visible when its transaction ends, which may be after a later one's."""
_PAGES_FROM = "not known to Dagster"


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
    from webrag_core.answering.finished import finished_answers
    from webrag_core.store.database import Database

    place = _read_cursor(context.cursor)
    settings = corpus.settings()

    async def work() -> "list[FinishedAnswer]":
        async with await Database.open(settings) as database, database.snapshot() as connection:
            return await finished_answers(
                connection, since=place.since - _OVERLAP, reported=place.reported.keys(), not_by=ORIGIN, limit=MOST
            )

    answers = run(work())
    if not answers:
        return dg.SkipReason("no new answer from elsewhere")
    return dg.SensorResult(
        asset_events=[_materialization(answer) for answer in answers],
        cursor=place.after(answers[-1].ended_at, {answer.answer_id: answer.ended_at for answer in answers}).written(),
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


def _materialization(answer: "FinishedAnswer") -> dg.AssetMaterialization:
    """The event of an answer that another program asked for."""
    question = question_tag(answer.question)
    if answer.prose is not None and answer.walk is not None:
        return dg.AssetMaterialization(
            "prose_answers",
            description=f"{answer.prose.status}, asked by {answer.origin}: {question}",
            metadata={
                **prose_metadata(answer.prose, answer.walk, pages_from=_PAGES_FROM, origin=answer.origin),
                "ended_at": dg.MetadataValue.timestamp(answer.ended_at),
            },
        )
    assert answer.evidence is not None
    return dg.AssetMaterialization(
        "answers",
        description=f"{answer.evidence.status}, asked by {answer.origin}: {question}",
        metadata=_metadata(answer, answer.evidence),
    )


def _metadata(answer: "FinishedAnswer", evidence: "Evidence") -> Metadata:
    from webrag_core.percentages import percent

    sure = (
        f"estimated completeness {evidence.probability_complete:.0%}"
        if evidence.confidence is None
        else f"confidence {percent(evidence.confidence)}"
    )
    verdict = f"{evidence.status.replace('_', ' ').capitalize()}: {sure}"
    lines = [f"**{verdict}**", "", "### Question", "", prose(answer.question), ""]
    lines += ["### Evidence" if evidence.status == "answered" else "### The nearest passages", ""]
    for citation in answer.citations[:MAX_QUOTES]:
        lines += [*cited_markdown(citation), ""]
    if len(answer.citations) > MAX_QUOTES:
        lines += [f"*{len(answer.citations) - MAX_QUOTES} more quotes: `webrag answers show {answer.answer_id}`*", ""]
    lines += ["### Why it stopped", "", f"- rule {code(evidence.rule)}: {code(evidence.reason)}"]
    return {
        "verdict": dg.MetadataValue.text(verdict),
        "question": dg.MetadataValue.text(answer.question),
        "answer": dg.MetadataValue.md("\n".join(lines)),
        "url": dg.MetadataValue.url(evidence.url),
        "rule": dg.MetadataValue.text(evidence.rule),
        "reason": dg.MetadataValue.text(evidence.reason),
        "probability_complete": dg.MetadataValue.float(round(evidence.probability_complete, 4)),
        "quotes": dg.MetadataValue.int(len(answer.citations)),
        "rounds": dg.MetadataValue.int(evidence.rounds),
        "asked_by": dg.MetadataValue.text(answer.origin),
        "ended_at": dg.MetadataValue.timestamp(answer.ended_at),
        "answer_id": dg.MetadataValue.int(answer.answer_id),
    }
