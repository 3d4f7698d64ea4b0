"""`webrag answers gaps`: what the corpus could not answer, and the pages that it may lack; `webrag feedback gap`."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webrag_core.cli.database import changed, on_database
from webrag_core.cli.output import Json, check_writable, complain, print_json, print_line, write_file
from webrag_core.page_text import one_line
from webrag_core.readable import counted

if TYPE_CHECKING:
    from webrag_core.feedback.gaps import Gap, GapPassage

_QUOTED = 100  # characters of a passage in a line


def gaps(
    since: Annotated[str | None, typer.Option(help="Asked then or later; unset = in the last four weeks.")] = None,
    source: Annotated[str | None, typer.Option(help="Only of this stored source.")] = None,
    limit: Annotated[int, typer.Option(help="Most groups of questions: 1 to 200.")] = 200,
    pages: Annotated[
        Path | None,
        typer.Option(help="Write the addresses of pages that may be lacking, one a line, for `webrag ingest`."),
    ] = None,
    ingest: Annotated[
        bool, typer.Option("--ingest", help="Fetch and store the pages that may be lacking, after a question.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --ingest: do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """List questions that were refused, answered low or marked wrong, by week and source."""
    from webrag_core.application.reading import ListGaps

    wanted = ListGaps.of(since=since, source=source, limit=limit)
    wanted.check()
    if pages is not None:
        check_writable(pages)

    listed = on_database(wanted.read)
    lacking = list(dict.fromkeys(url for gap in listed.gaps for url in gap.lacking))
    if as_json:
        print_json(listed)
    else:
        for gap in listed.gaps:
            _print_gap(gap)
        if not listed.gaps:
            print_line("nothing was refused, answered low or marked wrong")
    if (pages is not None or ingest) and not lacking:
        complain("no site map names a page that is lacking" + ("" if pages is None else f": {pages} is not written"))
        return
    if pages is not None:
        write_file(pages, "".join(f"{url}\n" for url in lacking))
        complain(f"written: {pages} ({counted(len(lacking), 'page')})")
    if ingest:
        from webrag_core.cli.corpus import ingest as ingest_pages

        if not yes:
            for url in lacking:
                complain(f"    {one_line(url)}")
            typer.confirm(f"Fetch and store {counted(len(lacking), 'page')}?", abort=True, err=True)
        ingest_pages(urls=lacking, as_json=as_json)


def golden_gap(
    answers: Annotated[
        list[int], typer.Argument(metavar="ANSWER...", help="Numbers that `webrag answers gaps` lists.")
    ],
    citation: Annotated[int | None, typer.Option(help="Quote of the first answer that answers all of them.")] = None,
    feedback: Annotated[
        int | None, typer.Option(help="Feedback that names the passage; unset, without --citation: all that does.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make the questions of a gap golden questions, with a passage that answers them."""
    from webrag_core.application.closing_gaps import GoldenGap

    wanted = GoldenGap.of(answers=tuple(answers), citation=citation, feedback=feedback)
    suggestions = changed(
        lambda database, settings: wanted.accept(database, settings, actor=getpass.getuser(), actor_kind="operator")
    )
    if as_json:
        print_json(suggestions)
        return
    for row in suggestions.feedback:
        print_line(f"Feedback {row.id}: {row.state}, {one_line(row.question)}")
    print_line(
        f"{counted(suggestions.golden_questions or 0, 'golden question')}; `webrag feedback goldens` writes them"
    )


def _print_gap(gap: Gap) -> None:
    why = ", ".join(f"{count} {name}" for name, count in gap.why.items())
    numbers = ", ".join(map(str, gap.answers))
    print_line(one_line(gap.question), style="bold")
    for wording in gap.wordings:
        print_line(f"    also: {one_line(wording)}")
    golden = "; golden" if gap.is_golden else ""
    print_line(
        f"    week of {gap.week}, {one_line(gap.source or 'no source')}: {why};"
        f" answer{'' if len(gap.answers) == 1 else 's'} {numbers}{golden}"
    )
    for passage in gap.passages:
        print_line(f"    {_named(passage)} {one_line(passage.url)}: {one_line(passage.quote)[:_QUOTED]}", style="dim")
    for url in gap.lacking:
        print_line(f"    lacking {one_line(url)}", style="dim")


def _named(passage: GapPassage) -> str:
    """How `webrag feedback gap` names the passage."""
    if passage.feedback is not None:
        return f"feedback {passage.feedback}"
    return f"quote {passage.citation} of answer {passage.answer_id}"
