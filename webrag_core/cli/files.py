"""Options of results: what is printed of them, and files that they are written to beside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webrag_core.cli.output import complain, write_file

if TYPE_CHECKING:
    from webrag_core.readable import Readable

HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write it as a page to read.")]
Proof = Annotated[
    bool, typer.Option("--proof", help="Print version, offsets and sha256 of each quote, and its address in full.")
]
MarkdownFile = Annotated[Path | None, typer.Option("--markdown", help="Write it as Markdown.")]


def write_readable(result: Readable, html: Path | None, markdown: Path | None) -> None:
    """Write the files that are named. Raises InvalidInputError for one that cannot be written."""
    if html is not None:
        from webrag_core.showing.html import render_page

        write_file(html, render_page(result))
    if markdown is not None:
        write_file(markdown, result.to_markdown())
    for file in filter(None, (html, markdown)):
        complain(f"written: {file}")
