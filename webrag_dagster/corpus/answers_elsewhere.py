"""Answers that the command line, MCP clients and the library asked for, as events of the assets of answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import dagster as dg

from webrag_dagster.launchpad import question_tag
from webrag_dagster.markdown import code, prose
from webrag_dagster.metadata import MAX_QUOTES, Metadata
from webrag_dagster.prose import cited_markdown, prose_metadata
from webrag_dagster.running import ORIGIN

if TYPE_CHECKING:
    from psycopg import AsyncConnection

    from webrag_core.answering.finished import Evidence, FinishedAnswer

MOST_ANSWERS = 20
"""Answers per tick; the daemon stores the event of one in some 20 ms."""
BEGIN = timedelta(days=7)
"""How old the answers may be that a new instance reports first."""
_OVERLAP = timedelta(minutes=5)
"""An answer is visible when its transaction ends, which may be after a later one's."""
_PAGES_FROM = "not known to Dagster"
_LOOK_BACK = 50
_ASSETS = ("answers", "prose_answers")


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """When the last reported answer ended, and the answers that were reported shortly before."""

    since: datetime
    reported: dict[int, datetime]

    @classmethod
    def read(cls, fields: Any, instance: dg.DagsterInstance) -> AnswerPlace:
        """The place that a cursor names. Without one that can be read, behind the newest answer that was reported,
        in a new instance a week ago."""
        try:
            reported = {int(number): datetime.fromisoformat(ended) for number, ended in fields["reported"].items()}
            return cls(datetime.fromisoformat(fields["since"]), reported)
        except (ValueError, KeyError, TypeError, AttributeError):
            reported = _reported(instance)
            return cls(max([*reported.values(), datetime.now(UTC) - BEGIN]), reported)

    def fields(self) -> dict[str, Any]:
        """For a cursor."""
        reported = {str(number): ended.isoformat() for number, ended in self.reported.items()}
        return {"since": self.since.isoformat(), "reported": reported}

    async def news(self, connection: AsyncConnection) -> list[FinishedAnswer]:
        """Answers that are not reported yet, oldest first."""
        from webrag_core.answering.finished import finished_answers

        return await finished_answers(
            connection, since=self.since - _OVERLAP, reported=self.reported.keys(), not_by=ORIGIN, limit=MOST_ANSWERS
        )

    def after(self, answers: list[FinishedAnswer]) -> AnswerPlace:
        """The place behind these answers."""
        if not answers:
            return self
        since = answers[-1].ended_at
        ends = {**self.reported, **{answer.answer_id: answer.ended_at for answer in answers}}
        return AnswerPlace(since, {number: end for number, end in ends.items() if end > since - 2 * _OVERLAP})


def _reported(instance: dg.DagsterInstance) -> dict[int, datetime]:
    """End of each of the newest answers that Dagster has an event of, by number."""
    ends: dict[int, datetime] = {}
    for name in _ASSETS:
        for record in instance.fetch_materializations(dg.AssetKey(name), limit=_LOOK_BACK).records:
            metadata = record.asset_materialization.metadata if record.asset_materialization else {}
            number, ended = metadata.get("answer_id"), metadata.get("ended_at")
            if (
                isinstance(number, dg.IntMetadataValue)
                and number.value
                and isinstance(ended, dg.TimestampMetadataValue)
            ):
                ends[number.value] = datetime.fromtimestamp(ended.value, UTC)
    return ends


def answer_event(answer: FinishedAnswer) -> dg.AssetMaterialization:
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


def _metadata(answer: FinishedAnswer, evidence: Evidence) -> Metadata:
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
