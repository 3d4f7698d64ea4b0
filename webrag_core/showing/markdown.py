"""An answer in prose as Markdown. Text of pages is data: escaped, or in code."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from webrag_core.answering.models import Answer, Highlight, SentenceCitation
from webrag_core.markdown_text import address, fenced, link, prose, quote
from webrag_core.retrieval.quotes_markdown import source_markdown
from webrag_core.retrieval.text_fragments import fragment_url
from webrag_core.showing.passage import Line, Part, by_group, in_runs, passage
from webrag_core.showing.wording import (
    FORGOTTEN_SENTENCE,
    forgotten_line,
    missing_lines,
    sentence_case,
    sureness,
    verdict,
)


def render_markdown(answer: Answer) -> str:
    """The sentences with links to their quotes, or the nearest passages; then the quotes, each with its source."""
    sure = sureness(answer)
    lines = [f"# {prose(answer.question)}", "", f"**{prose(verdict(answer))}**{f' ({sure})' if sure else ''}", ""]
    for _, sentence in answer.in_order():
        if sentence is None:
            lines += [f"*({FORGOTTEN_SENTENCE})*", ""]
            continue
        numbers = " ".join(_number(answer.citation(number)) for number in sentence.citations)
        if "\n" in sentence.text:
            lines += [fenced(sentence.text), "", numbers, ""]
        else:
            lines += [f"{prose(sentence.text)} {numbers}", ""]
    for group, rows in by_group(answer.listed):
        lines += [f"## {prose(group)}", ""]
        for row in rows:
            lines += [f"{prose(row.label)}:", "", *_passage(answer.citation(row.citation)), ""]
    if answer.highlights:
        lines += ["## The nearest passages", ""]
    for highlight in answer.highlights:
        lines += [*_passage(answer.citation(highlight.citation), highlight), ""]
    if missing := missing_lines(answer):
        lines += ["## What is missing", "", *(f"- {prose(line)}" for line in missing), ""]
    if answer.look_next:
        lines += ["## Where to look next", "", *(f"- {address(url)}" for url in answer.look_next), ""]
    if answer.citations:
        lines += ["## Evidence", ""]
    passages = {one.citation for one in answer.highlights} | {one.citation for one in answer.listed}
    for citation in answer.citations:
        lines += [_source(citation), ""]
        if citation.number not in passages:
            lines += [quote(fenced(citation.quote.strip("\n"))), ""]
    if gone := forgotten_line(answer):
        lines += [prose(sentence_case(gone)), ""]
    for note in (*map(sentence_case, answer.notes), *(f"Warning: {one}" for one in answer.warnings)):
        lines += [prose(note), ""]
    return "\n".join(lines).rstrip() + "\n"


def _number(citation: SentenceCitation) -> str:
    return link(f"[{citation.number}]", fragment_url(citation.url, citation.quote))


def _source(citation: SentenceCitation) -> str:
    return source_markdown(
        citation.number,
        " › ".join(filter(None, (citation.title or citation.url, citation.heading))),
        citation.url,
        citation.quote,
        version=str(citation.version),
        start=citation.char_start,
        end=citation.char_end,
        sha256=citation.sha256,
    )


def _passage(citation: SentenceCitation, highlight: Highlight | None = None) -> list[str]:
    """The lines of a quote as a block quote, its likeliest sentences bold, with its number."""
    return [quote("\n\n".join([passage_markdown(passage(citation, highlight)), _number(citation)]))]


def passage_markdown(lines: Iterable[Line], code_block: Callable[[str], str] = fenced) -> str:
    """A passage as people read it: paragraphs and items of lists, marked words bold; lines of code by `code_block`."""
    parts: list[str] = []
    for is_code, run in in_runs(lines):
        parts += [code_block("\n".join(line.text for line in run))] if is_code else [*map(_line, run)]
    return "\n\n".join(parts)


def _line(line: Line) -> str:
    item = f"{'-' if line.item == '•' else line.item} " if line.item else ""
    return item + "".join(_piece(part, words) for part, words in line.pieces).strip()


def _piece(part: Part, words: str) -> str:
    shown = prose(words)
    inner = f"**{shown}**" if part == "marked" and shown else shown
    return f"{' ' * words[:1].isspace()}{inner}{' ' * words[-1:].isspace()}"
