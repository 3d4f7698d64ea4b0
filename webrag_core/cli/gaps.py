"""`webrag answers gaps`: what the corpus could not answer, and the pages that it may lack."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from webrag_core.cli.database import on_database
from webrag_core.cli.output import Json, check_writable, print_json, print_line, write_file
from webrag_core.page_text import one_line


def gaps(
    since: Annotated[str | None, typer.Option(help="Asked then or later; unset = in the last four weeks.")] = None,
    source: Annotated[str | None, typer.Option(help="Only of this stored source.")] = None,
    pages: Annotated[
        Path | None,
        typer.Option(help="Write the addresses of pages that may be lacking, one a line, for `webrag ingest`."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List questions that were refused, answered low or marked wrong, by week and source."""
    from webrag_core.application.reading import ListGaps

    wanted = ListGaps.of(since=since, source=source)
    wanted.check()
    if pages is not None:
        check_writable(pages)

    listed = on_database(wanted.read)
    if pages is not None:
        lacking = dict.fromkeys(url for gap in listed.gaps for url in gap.lacking)
        write_file(pages, "".join(f"{url}\n" for url in lacking))
    if as_json:
        print_json(listed)
        return
    for gap in listed.gaps:
        why = ", ".join(f"{count} {name}" for name, count in gap.why.items())
        print_line(one_line(gap.question), style="bold")
        print_line(f"    week of {gap.week}, {one_line(gap.source or 'no source')}: {why}; answer {gap.answers[0]}")
        for name, urls in (("nearest", gap.nearest), ("lacking", gap.lacking)):
            for url in urls:
                print_line(f"    {name} {one_line(url)}", style="dim")
    if not listed.gaps:
        print_line("nothing was refused, answered low or marked wrong")
