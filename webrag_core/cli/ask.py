"""`webrag ask`: an answer in prose, every sentence with its proof."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from webrag_core.cli.addresses import with_scheme
from webrag_core.cli.answer import show_progress
from webrag_core.cli.output import Json, Time, complain, print_json, print_line, write_file
from webrag_core.config import load_settings
from webrag_core.errors import GuardrailsViolationError, InvalidInputError, WebragError

if TYPE_CHECKING:
    from webrag_core.answering.models import Answer, SentenceCitation

_STYLES = {"high": "bold green", "medium": "bold green", "low": "bold yellow", "insufficient": "bold red"}


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    url: Annotated[
        list[str] | None, typer.Option(help="A page to start from; repeatable. Unset = what is stored.")
    ] = None,
    source: Annotated[list[str] | None, typer.Option(help="A stored source to ask; repeatable. Unset = all.")] = None,
    at: Annotated[str | None, typer.Option(help="Answer from what the pages said then (2024-05-17).")] = None,
    time: Time = "seen",
    form: Annotated[
        str | None, typer.Option(help="explain, steps, list, lookup or compare; unset = as it fits.")
    ] = None,
    budget: Annotated[int | None, typer.Option(help="Maximum rounds of following links; 0 = none.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the answer as a page to read.")] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="One JSON object a line while the answer comes into being.")
    ] = False,
    markdown: Annotated[Path | None, typer.Option(help="Write the answer as Markdown.")] = None,
    as_json: Json = False,
) -> None:
    """Answer QUESTION in sentences of the pages, each proved against the stored page it quotes."""
    from webrag_core.answering.events import Done
    from webrag_core.answering.manager import Manager, Question
    from webrag_core.answering.models import Form
    from webrag_core.answering.page import render_markdown, render_page
    from webrag_core.indexing.pipeline import Corpus

    if form is not None and form not in get_args(Form):
        raise InvalidInputError(f"--form is one of {', '.join(get_args(Form))}")
    if time == "valid" and at is None:
        raise InvalidInputError("--time needs --at")
    asked = Question(
        question,
        urls=tuple(map(with_scheme, url or ())),
        sources=tuple(source or ()),
        at=at,
        time=time,
        expansion_budget=budget,
        form=cast("Form | None", form),
    )

    async def work() -> Answer:
        async with Corpus.open(load_settings()) as corpus:
            with show_progress() as show:
                if not stream:
                    return await Manager(corpus).answer(asked, show)
                async for event in Manager(corpus).stream(asked):
                    print_json(event)
                    sys.stdout.flush()
                assert isinstance(event, Done)
                return event.answer

    try:
        answer = asyncio.run(work())
    except WebragError as error:
        if not as_json and not stream:
            raise
        status = "blocked" if isinstance(error, GuardrailsViolationError) else "failed"
        print_json({"status": status, "error": {"code": error.code, "message": error.message}})
        complain(f"error: {error.message} [{error.code}]", style="red")
        raise typer.Exit(error.exit_code) from error
    for path, render in ((html, render_page), (markdown, render_markdown)):
        if path is not None:
            try:
                write_file(path, render(answer))
            except InvalidInputError as error:
                number = answer.answer_id
                raise InvalidInputError(
                    f"{error.message}; the answer is stored: webrag answers show {number}"
                ) from error
    if as_json and not stream:
        print_json(answer)
    elif not stream:
        print_prose(answer)
        for path in filter(None, (html, markdown)):
            print_line(f"Written: {path}", style="dim")


def print_prose(answer: Answer) -> None:
    """Print the answer first, then the quotes that prove it, then what is missing."""
    from webrag_core.answering.page import PROOFS, VERDICTS, readable

    print_line(answer.question, style="bold")
    print_line(
        f"{VERDICTS[answer.band]} ({int(answer.confidence * 100)}%, {answer.confidence_note})",
        style=_STYLES[answer.band],
    )
    print_line("")
    for sentence in answer.sentences:
        numbers = "".join(f"[{number}]" for number in sentence.citations)
        for line in (*sentence.text.split("\n"), numbers) if "\n" in sentence.text else (f"{sentence.text} {numbers}",):
            print_line(line)
        print_line("")
    for shown in answer.highlights:
        citation = answer.citation(shown.citation)
        for line in readable(citation.quote).splitlines():
            if line.strip():
                print_line(line.rstrip())
        _print_source(citation)
        print_line("")
    if answer.sentences:
        print_line("Evidence", style="bold")
        for sentence in answer.sentences:
            for number in sentence.citations:
                _print_source(answer.citation(number))
            support = f"; support {sentence.support:.0%}" if sentence.support >= 0.01 else ""
            print_line(f"      {sentence.proof}: {PROOFS[sentence.proof]}{support}", style="dim")
    for one in answer.disagreements:
        print_line(f"Sentences {one.sentences[0]} and {one.sentences[1]} differ: {one.about}", style="yellow")
    if answer.sentences and answer.missing:
        print_line("Missing", style="bold")
        for part in answer.missing:
            print_line(f"  {part.text}")
    if answer.look_next:
        print_line("Where to look next", style="bold")
        for address in answer.look_next:
            print_line(f"  {address}")
    print_line("")
    if answer.composer != "extractive":
        print_line(f"Sentences chosen by {answer.composer}, in the pages' own words.", style="dim")
    for note in answer.notes:
        print_line(f"{note[0].upper()}{note[1:]}.", style="dim")
    print_line(
        f"Answer {answer.answer_id}: pages fetched: {answer.spent.pages}, rounds: {answer.spent.rounds},"
        f" {answer.spent.seconds:.2f} s",
        style="dim",
    )
    for warning in answer.warnings:
        print_line(f"Warning: {warning}", style="yellow")


def _print_source(citation: SentenceCitation) -> None:
    print_line(
        f"  [{citation.number}] {citation.url} (version {citation.version}, characters"
        f" {citation.char_start}-{citation.char_end})",
        style="dim",
    )
