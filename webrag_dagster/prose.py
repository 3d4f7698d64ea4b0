"""Answers in prose as Dagster metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from webrag_core.percentages import percent
from webrag_dagster.markdown import block, code, link, passage_markdown, prose, quote
from webrag_dagster.metadata import Metadata, table
from webrag_dagster.page_addresses import answer_address
from webrag_dagster.running import ORIGIN

if TYPE_CHECKING:
    from webrag_core.answering.models import Answer, Highlight, SentenceCitation


def prose_metadata(answer: Answer, *, pages_from: str, origin: str = ORIGIN) -> Metadata:
    """The answer, to be read first; then its page, its sentences with their proof, what is missing, numbers."""
    from webrag_core.showing.plan_lines import ending
    from webrag_core.showing.wording import verdict

    return {
        "verdict": dg.MetadataValue.text(verdict(answer)),
        "question": dg.MetadataValue.text(answer.question),
        "answer": dg.MetadataValue.md(prose_markdown(answer)),
        "read_it": dg.MetadataValue.url(answer_address(answer.answer_id or 0)),
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
            {"task": one.id, "agent": one.agent, "about": one.asked, "status": one.status, "ended": ending(one)}
            for one in answer.tasks
        ),
        "plan": dg.MetadataValue.text("" if answer.plan is None else answer.plan.rationale),
        "outcome": dg.MetadataValue.text(answer.outcome),
        "confidence": dg.MetadataValue.float(answer.confidence),
        "confidence_note": dg.MetadataValue.text(answer.confidence_note),
        "status": dg.MetadataValue.text(answer.status),
        "missing": dg.MetadataValue.json([one.text for one in answer.missing]),
        "quotes": dg.MetadataValue.int(len(answer.citations)),
        "pages_fetched": dg.MetadataValue.int(answer.spent.pages),
        "seconds": dg.MetadataValue.float(answer.spent.seconds),
        "warnings": dg.MetadataValue.int(len(answer.warnings)),
        "asked_by": dg.MetadataValue.text(origin),
        "pages_from": dg.MetadataValue.text(pages_from),
        "answer_id": dg.MetadataValue.int(answer.answer_id or 0),
    }


def prose_markdown(answer: Answer) -> str:
    """Sentences with the numbers of their quotes, or the nearest passages; then the quotes with their sources."""
    from webrag_core.showing.wording import (
        FORGOTTEN_SENTENCE,
        forgotten_line,
        missing_lines,
        sentence_case,
        sureness,
        verdict,
    )

    sure = sureness(answer)
    lines = [f"**{verdict(answer)}**{f' ({sure})' if sure else ''}", "", quote(prose(answer.question)), ""]
    for _, sentence in answer.in_order():
        if sentence is None:
            lines += [f"*({FORGOTTEN_SENTENCE})*", ""]
            continue
        numbers = ", ".join(map(str, sentence.citations))
        said = block(sentence.text) if "\n" in sentence.text else prose(sentence.text)
        lines += [said, "", f"*quote{'s' * (len(sentence.citations) > 1)} {numbers}, {sentence.proof}*", ""]
    lines += [f"- {prose(one.group)}: {prose(one.label)}, quote {one.citation}" for one in answer.listed]
    if answer.citations:
        lines += ["### Evidence" if answer.sentences else "### The nearest passages", ""]
    highlights = {one.citation: one for one in answer.highlights}
    for citation in answer.citations:
        lines += [*cited_markdown(citation, highlights.get(citation.number)), ""]
    if gone := forgotten_line(answer):
        lines += [sentence_case(gone), ""]
    if missing := missing_lines(answer):
        lines += ["### Missing", "", *(f"- {code(line)}" for line in missing), ""]
    if answer.look_next:
        lines += ["### Where to look next", "", *(f"- {link(url, url)}" for url in answer.look_next), ""]
    lines += [line for note in answer.notes for line in (sentence_case(note), "")]
    if answer.warnings:
        lines += ["### Warnings", "", *(f"- {code(warning)}" for warning in answer.warnings)]
    return "\n".join(lines)


def cited_markdown(citation: SentenceCitation, highlight: Highlight | None = None) -> list[str]:
    """Lines of one quote: number, link to its page, words; the likeliest sentences of a highlight are bold."""
    from webrag_core.showing.passage import passage, plain_lines

    label = link(citation.heading or citation.title or citation.url, citation.url)
    lines = plain_lines(citation.quote) if highlight is None else passage(citation, highlight)
    return [f"**{citation.number}.** {label}", "", quote(passage_markdown(lines))]
