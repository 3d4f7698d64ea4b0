"""Text of pages on a terminal: data, never mark-up, folded at words; elsewhere plain lines. What is marked is bold, and
stands between » and « where nothing is bold. Light to import: every command does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.style import Style
from rich.table import Table
from rich.text import Text

from webrag_core.page_text import visible

if TYPE_CHECKING:
    from webrag_core.showing.passage import Line

_LEAST_WIDTH = 20
_PIPE_WIDTH = 240
_EMPTY = ("", "–")


def print_line(console: Console, text: str, style: str | None = None) -> None:
    """A line that may hold text of pages."""
    plain = plain_line(text)
    # a line with a word of that length, as an address, stays whole: it can be copied then
    if console.is_terminal and plain.strip() and max(map(len, plain.split())) < console.width - _LEAST_WIDTH:
        indent = " " * (len(plain) - len(plain.lstrip()))
        print_wrapped(console, f"{indent}  ", Text(plain.lstrip()), first=indent, style=style or "")
    else:
        console.print(plain, style=style, markup=False, highlight=False)


def print_wrapped(console: Console, lead: str, text: Text, *, first: str | None = None, style: str = "") -> None:
    """Print a text that may hold words of pages behind `lead` (its first line behind `first`), folded at the words of a
    terminal's line, and as indented as it is; elsewhere as one line."""
    text.stylize(style)
    begins = lead if first is None else first
    if not console.is_terminal:
        console.print(Text.assemble(begins, text), soft_wrap=True)
        return
    indent = len(text.plain) - len(text.plain.lstrip())
    width = max(_LEAST_WIDTH, console.width - len(lead) - indent)
    for line in list(text[indent:].wrap(console, width)) or [text]:
        line.rstrip()
        console.print(Text.assemble((begins + " " * indent, style or "dim"), line))
        begins = lead


def plain_line(text: str) -> str:
    """The visible text on one line."""
    return visible(text).replace("\n", " ")


def mark(console: Console, text: Text, start: int, end: int) -> None:
    """Make a part of the text bold, or put it between » and « where nothing is bold. An empty part is left alone."""
    if start >= end:
        return
    if console.color_system is not None:
        text.stylize("bold", start, end)
    else:
        text.plain = f"{text.plain[:start]}»{text.plain[start:end]}«{text.plain[end:]}"


def print_passage(console: Console, lines: Iterable[Line], *, indent: str) -> None:
    """Print the lines of a passage, its likeliest sentences marked."""
    for line in lines:
        text = Text(f"{line.item} " if line.item else "")
        for part, words in line.pieces:
            piece = Text(words)
            if part == "marked":
                mark(console, piece, 0, len(words))
            text.append_text(piece)
        print_wrapped(console, indent, text)


def print_table(console: Console, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A table whose cells are data, never mark-up. On a terminal columns that are empty in every row are left out, and
    the first one is never cut."""
    names, cells = list(columns), [[plain_line(str(cell)) for cell in row] for row in rows]
    shown = [
        place
        for place in range(len(names))
        if not (console.is_terminal and cells and all(row[place] in _EMPTY for row in cells))
    ]
    table = Table(box=None)
    for place in shown:
        table.add_column(names[place], overflow="fold", no_wrap=place == 0)
    for row in cells:
        table.add_row(*(escape(row[place]) for place in shown))
    # a pipe has no width: never fold cells there
    (console if console.is_terminal else type(console)(width=_PIPE_WIDTH, file=console.file)).print(table)


def print_heading(console: Console, label: str, title: str, headings: Sequence[str]) -> None:
    """Print the title of a page behind a label, and the headings of a quote in it."""
    place = f"  §  {' > '.join(headings)}" if headings else ""
    print_wrapped(console, " " * len(label), Text(plain_line(f"{title}{place}")), first=label, style="bold cyan")


def print_place(
    console: Console,
    lead: str,
    url: str,
    quote: str,
    notes: Sequence[str] = (),
    *,
    in_full: bool = False,
    page: int | None = None,
) -> None:
    """Print the address of a page, with a link that opens the live page at the quote: behind the address on a terminal,
    elsewhere, and `in_full`, in its place."""
    from webrag_core.retrieval.text_fragments import fragment_url

    link = fragment_url(url, quote, page)
    shown = visible(link if in_full or not console.is_terminal else url)
    text = Text.assemble((lead, "dim"), (shown, Style(link=link) if console.is_terminal else ""))
    about = ", ".join(notes)
    fits = not console.is_terminal or len(lead) + len(shown) + len(about) + 2 <= console.width
    console.print(Text.assemble(text, f"  {about}" if about and fits else ""), highlight=False)
    if about and not fits:
        print_line(console, " " * len(lead) + about)
