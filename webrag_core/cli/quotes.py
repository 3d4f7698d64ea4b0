"""Quotes on the command line: a window around the sentences that answer, which are bold on a terminal and stand between
» and « elsewhere. What proves a quote (version, offsets, hash) is printed on request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.style import Style
from rich.text import Text

from webrag_core.cli.output import out, print_line, print_wrapped
from webrag_core.page_text import visible
from webrag_core.percentages import percent

if TYPE_CHECKING:
    from webrag_core.retrieval.models import CitationSpan
    from webrag_core.showing.passage import Line

Proof = Annotated[
    bool, typer.Option("--proof", help="Print version, offsets and sha256 of each quote, and its address in full.")
]
_QUOTE_CHARS = 700


def print_citation(citation: CitationSpan, query: str, *, dated: str | None = None, proof: bool = False) -> None:
    """Print one numbered quote: where it stands, how relevant it is, and a window around its best sentences."""
    from webrag_core.retrieval.quotes import quote_window

    passage = citation.verbatim_text
    window = quote_window(passage, query, _QUOTE_CHARS)
    best = window.highlight
    print_heading(f"[{citation.number}] ", citation.title or citation.source_url, citation.section_heading)
    notes = [f"relevance {percent(citation.relevance)}", *([dated] if dated else [])]
    print_place("    ", citation.source_url, best.of(passage) if best else passage, notes, in_full=proof)
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
            mark(text, *(len(visible(words[:end])) for end in ends))
        print_wrapped("    │ ", text)
        position += len(line)
    if window.shown.end < len(passage):
        print_line("    │ […]", style="dim")
    print_line("")


def mark(text: Text, start: int, end: int) -> None:
    """Make a part of the text bold, or put it between » and « where nothing is bold. An empty part is left alone."""
    if start >= end:
        return
    if out.color_system is not None:
        text.stylize("bold", start, end)
    else:
        text.plain = f"{text.plain[:start]}»{text.plain[start:end]}«{text.plain[end:]}"


def print_passage(lines: Iterable[Line], *, indent: str) -> None:
    """Print the lines of a passage, its likeliest sentences marked."""
    for line in lines:
        text = Text(f"{line.item} " if line.item else "")
        for part, words in line.pieces:
            piece = Text(words)
            if part == "marked":
                mark(piece, 0, len(words))
            text.append_text(piece)
        print_wrapped(indent, text)


def print_heading(label: str, title: str, heading: str | None) -> None:
    """Print the title of a page and the section of a quote in it, which often begins with that title again."""
    sections = (heading or "").split(" > ")
    if sections[0] and title.startswith(sections[0]):
        sections = sections[1:]
    place = f"  §  {' > '.join(sections)}" if any(sections) else ""
    print_wrapped(" " * len(label), Text(visible(f"{title}{place}").replace("\n", " ")), first=label, style="bold cyan")


def print_place(lead: str, url: str, quote: str, notes: Sequence[str] = (), *, in_full: bool = False) -> None:
    """Print the address of a page, with a link that opens the live page at the quote: behind the address on a terminal,
    elsewhere, and `in_full`, in its place."""
    from webrag_core.retrieval.text_fragments import fragment_url

    link = fragment_url(url, quote)
    shown = visible(link if in_full or not out.is_terminal else url)
    text = Text.assemble((lead, "dim"), (shown, Style(link=link) if out.is_terminal else ""))
    about = ", ".join(notes)
    fits = not out.is_terminal or len(lead) + len(shown) + len(about) + 2 <= out.width
    out.print(Text.assemble(text, f"  {about}" if about and fits else ""), highlight=False)
    if about and not fits:
        print_line(" " * len(lead) + about)


def print_hidden(citations: Sequence[CitationSpan], shown: int) -> None:
    """Print the number of omitted citations and the options that show them."""
    if hidden := len(citations) - shown:
        quotes = "quote" if hidden == 1 else "quotes"
        print_line(f"({hidden} more {quotes}: --quotes N, --all or --json)", style="dim")
        print_line("")
