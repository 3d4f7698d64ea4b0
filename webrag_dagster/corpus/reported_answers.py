"""Stored answers as events of the assets `answers` and `prose_answers`."""

from __future__ import annotations

import dagster as dg

from webrag_core.answering.finished import Evidence, FinishedAnswer
from webrag_dagster.markdown import code, prose
from webrag_dagster.metadata import MAX_QUOTES, Metadata
from webrag_dagster.prose import cited_markdown, prose_metadata

_CHARS = 60
_PAGES_FROM = "not known to Dagster"


def materialization(answer: FinishedAnswer) -> dg.AssetMaterialization:
    """The event of an answer that another program asked for."""
    asked = " ".join(answer.question.split())[:_CHARS]
    if answer.prose is not None:
        return dg.AssetMaterialization(
            "prose_answers",
            description=f"{answer.prose.status}, asked by {answer.origin}: {asked}",
            metadata={
                **prose_metadata(answer.prose, pages_from=_PAGES_FROM, origin=answer.origin),
                "ended_at": dg.MetadataValue.timestamp(answer.ended_at),
            },
        )
    assert answer.evidence is not None
    return dg.AssetMaterialization(
        "answers",
        description=f"{answer.evidence.status}, asked by {answer.origin}: {asked}",
        metadata=_metadata(answer, answer.evidence),
    )


def _metadata(answer: FinishedAnswer, evidence: Evidence) -> Metadata:
    complete = f"estimated completeness {evidence.probability_complete:.0%}"
    verdict = f"{evidence.status.replace('_', ' ').capitalize()}: {complete}"
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
