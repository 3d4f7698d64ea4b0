"""Answers in prose as Dagster metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from webrag_core.percentages import percent
from webrag_dagster.markdown import block, link, passage_markdown, quote
from webrag_dagster.metadata import Metadata, spending_metadata, table
from webrag_dagster.page_addresses import answer_address
from webrag_dagster.pictures import picture
from webrag_dagster.running import ORIGIN

if TYPE_CHECKING:
    from webrag_core.answering.models import Answer, SentenceCitation
    from webrag_core.orchestration.walk import Walk


def prose_metadata(answer: Answer, walk: Walk, *, pages_from: str, origin: str = ORIGIN) -> Metadata:
    """The answer, to be read first; then its page, its walk, its sentences with their proof, what is missing,
    numbers."""
    from webrag_core.showing.plan_lines import ending
    from webrag_core.showing.wording import verdict

    return {
        "verdict": dg.MetadataValue.text(verdict(answer)),
        "question": dg.MetadataValue.text(answer.question),
        "answer": dg.MetadataValue.md(prose_markdown(answer)),
        "read_it": dg.MetadataValue.url(answer_address(answer.answer_id or 0)),
        **walk_metadata(walk),
        "command": dg.MetadataValue.text(f"webrag answers show {answer.answer_id}"),
        "sentences": table(
            {
                "sentence": sentence.text,
                "proof": sentence.proof,
                "support": "" if sentence.support is None else percent(sentence.support),
                "quotes": ", ".join(map(str, sentence.citations)),
            }
            for sentence in answer.sentences
        ),
        "tasks": table(
            {"task": task.id, "agent": task.agent, "about": task.asked, "status": task.status, "ended": ending(task)}
            for task in answer.tasks
        ),
        "plan": dg.MetadataValue.text("" if answer.plan is None else answer.plan.rationale),
        "outcome": dg.MetadataValue.text(answer.outcome),
        "confidence": dg.MetadataValue.float(answer.confidence),
        "confidence_note": dg.MetadataValue.text(answer.confidence_note),
        "coherence": dg.MetadataValue.text(answer.coherence or "not compared"),
        "applicability": dg.MetadataValue.text(answer.applicability_note),
        "uncertainty": dg.MetadataValue.text(answer.uncertainty_note),
        "status": dg.MetadataValue.text(answer.status),
        "missing": dg.MetadataValue.json([part.text for part in answer.missing]),
        "quotes": dg.MetadataValue.int(len(answer.citations)),
        "pages_fetched": dg.MetadataValue.int(answer.spent.pages),
        "seconds": dg.MetadataValue.float(answer.spent.seconds),
        **spending_metadata(answer.spent.providers),
        "warnings": dg.MetadataValue.int(len(answer.warnings)),
        "asked_by": dg.MetadataValue.text(origin),
        "pages_from": dg.MetadataValue.text(pages_from),
        "answer_id": dg.MetadataValue.int(answer.answer_id or 0),
    }


def walk_metadata(walk: Walk) -> Metadata:
    """The picture of a walk; empty for one without pages."""
    from webrag_core.showing.walk_figure import walk_figure

    figure = walk_figure(walk)
    return {} if figure is None else {"walk": picture(figure)}


def prose_markdown(answer: Answer) -> str:
    """The answer as Markdown; long lines of code are folded."""
    from webrag_core.showing.markdown import write_markdown
    from webrag_core.showing.view import view

    return write_markdown(view(answer), level=2, code_block=block)


def cited_markdown(citation: SentenceCitation) -> list[str]:
    """Lines of one quote: number, link to its page, words."""
    from webrag_core.showing.passage import plain_lines

    label = link(citation.heading or citation.title or citation.url, citation.url)
    return [f"**{citation.number}.** {label}", "", quote(passage_markdown(plain_lines(citation.quote)))]
