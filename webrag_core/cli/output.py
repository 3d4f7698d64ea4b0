"""How the command line shows things: JSON for machines, rich on a terminal, plain lines elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer
from pydantic import BaseModel
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

if TYPE_CHECKING:  # commands that fail early or print help do not pay for the layers
    from webrag_core.retrieval.models import CitationSpan

out = Console(soft_wrap=True)
err = Console(stderr=True, soft_wrap=True)

Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, logs on stderr.")]

_QUOTE_CHARS = 700
_PIPE_WIDTH = 240


class Advance(Protocol):
    """Says that one more unit of work is done, and what it was."""

    def __call__(self, label: str) -> None: ...


def print_json(value: BaseModel | dict[str, Any]) -> None:
    """Exactly one JSON object on stdout."""
    data = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    sys.stdout.write(json.dumps(data, ensure_ascii=False, default=str) + "\n")


@contextmanager
def progress(total: int | None, what: str) -> Iterator[Advance]:
    """A bar on a terminal, a plain line now and then elsewhere; always on stderr. `total` None = nobody knows."""
    if err.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=err, transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda label: bar.update(task, advance=1, description=f"{what} {escape(label[-60:])}")
        return
    done = 0
    step = 100 if total is None else max(1, total // 10)

    def plain(label: str) -> None:
        nonlocal done
        done += 1
        if done % step == 0 or done == total:
            err.print(f"{what}: {done}{'' if total is None else f'/{total}'}", markup=False, highlight=False)

    yield plain


def print_citation(citation: CitationSpan, *, dated: str | None = None) -> None:
    """One numbered verbatim quote with its source: page, version, span."""
    heading = f"  §  {citation.section_heading}" if citation.section_heading else ""
    _say(f"[{citation.number}] {citation.title or citation.source_url}{heading}", style="bold cyan")
    _say(
        f"    {citation.source_url}  version {citation.version_sha256[:12]}{f', {dated}' if dated else ''},"
        f" characters {citation.char_start}–{citation.char_end}, sha256 {citation.quote_sha256[:12]},"
        f" relevance {citation.relevance:.2f}",
        style="dim",
    )
    quote = citation.verbatim_text
    if len(quote) > _QUOTE_CHARS:
        quote = quote[:_QUOTE_CHARS].rsplit(None, 1)[0] + " […]"
    for line in quote.splitlines():
        _say(f"    │ {line}")
    _say("")


def print_table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A table whose cells are data, never mark-up."""
    table = Table(*columns, box=None)
    for row in rows:
        table.add_row(*(escape(_printable(str(cell))) for cell in row))
    # a pipe has no width: never fold cells there
    (out if out.is_terminal else Console(width=_PIPE_WIDTH)).print(table)


def complain(text: str, style: str | None = None) -> None:
    """A line on stderr."""
    err.print(_printable(text), style=style, markup=False, highlight=False)


def print_line(text: str, style: str | None = None) -> None:
    """A line that may hold text of pages."""
    _say(text, style)


def _say(text: str, style: str | None = None) -> None:
    out.print(_printable(text), style=style, markup=False, highlight=False)


def _printable(text: str) -> str:
    """Page text may hold rich mark-up and control characters: neither reaches the terminal as such."""
    return "".join(character if character.isprintable() else " " for character in text)
