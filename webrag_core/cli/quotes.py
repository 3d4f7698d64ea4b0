"""Quotes on the command line: a window around the sentences that answer, which are bold on a terminal and stand between
» and « elsewhere. What proves a quote (version, offsets, hash) is printed on request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from webrag_core.cli.output import out, print_line, print_wrapped
from webrag_core.page_text import visible
from webrag_core.percentages import percent
from webrag_core.showing.console import mark, print_heading, print_place

if TYPE_CHECKING:
    from webrag_core.retrieval.models import CitationSpan

Proof = Annotated[
    bool, typer.Option("--proof", help="Print version, offsets and sha256 of each quote, and its address in full.")
]
_QUOTE_CHARS = 700


def print_citation(citation: CitationSpan, query: str, *, dated: str | None = None, proof: bool = False) -> None:
    """Print one numbered quote: where it stands, how relevant it is, and a window around its best sentences."""
    from webrag_core.retrieval.quotes import quote_window
    from webrag_core.showing.wording import also_on, sections

    passage = citation.verbatim_text
    window = quote_window(passage, query, _QUOTE_CHARS)
    best = window.highlight
    title = citation.title or citation.source_url
    print_heading(out, f"[{citation.number}] ", title, sections(title, citation.section_heading))
    notes = [f"relevance {percent(citation.relevance)}", *([dated] if dated else [])]
    notes += [also_on(len(citation.also_on))] if citation.also_on else []
    quoted = best.of(passage) if best else passage
    print_place(out, "    ", citation.source_url, quoted, notes, in_full=proof, page=citation.page)
    if proof:
        print_line(
            f"    version {citation.version_sha256[:12]}, characters {citation.char_start}–{citation.char_end},"
            f" sha256 {citation.quote_sha256[:12]}",
            style="dim",
        )
    if window.shown.start:
        print_line("    │ […]", style="dim")
    position = window.shown.start
    for line in window.shown.of(passage).splitlines(keepends=True):
        words = line.rstrip()
        text = Text(visible(words))
        if best is not None:
            ends = (max(end - position, 0) for end in (best.start, best.end))
            mark(out, text, *(len(visible(words[:end])) for end in ends))
        print_wrapped("    │ ", text)
        position += len(line)
    if window.shown.end < len(passage):
        print_line("    │ […]", style="dim")
    print_line("")


def print_hidden(citations: Sequence[CitationSpan], shown: int) -> None:
    """Print the number of omitted citations and the options that show them."""
    if hidden := len(citations) - shown:
        quotes = "quote" if hidden == 1 else "quotes"
        print_line(f"({hidden} more {quotes}: --quotes N, --all or --json)", style="dim")
        print_line("")
