"""`webrag ask`: an answer in prose, every sentence with its proof."""

from __future__ import annotations

import asyncio
import sys
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

from webrag_core.cli.addresses import way_out, with_scheme
from webrag_core.cli.files import HtmlFile, MarkdownFile, write_readable
from webrag_core.cli.output import (
    NOT_ANSWERED,
    FailUnlessAnswered,
    Json,
    Time,
    check_time,
    check_writable,
    complain,
    print_json,
    print_line,
    print_wrapped,
)
from webrag_core.cli.progress import Show, show_progress
from webrag_core.cli.quotes import Proof, print_heading, print_passage, print_place
from webrag_core.config import load_settings
from webrag_core.errors import GuardrailsViolationError, InvalidInputError, WebragError
from webrag_core.page_text import visible

if TYPE_CHECKING:
    from webrag_core.answering.models import Answer, SentenceCitation
    from webrag_core.application.operations import Ask
    from webrag_core.history.models import TimeAxis

Forms = Literal["explain", "steps", "compare", "lookup", "list", "timeline"]
"""As `routing.question.Form`, in that order, which is not imported for help alone."""
Urls = Annotated[
    list[str] | None,
    typer.Option("--url", metavar="URL", help="A page to start from; repeatable. Unset = what is stored."),
]
Sources = Annotated[
    list[str] | None,
    typer.Option("--source", metavar="SOURCE", help="A stored source to ask; repeatable. Unset = all."),
]
At = Annotated[
    str | None, typer.Option("--at", metavar="DATE", help="Answer from what the pages said then (2024-05-17).")
]
Budget = Annotated[int | None, typer.Option("--budget", help="Maximum rounds of following links; 0 = none.")]
_STYLES = {"high": "bold green", "medium": "bold green", "low": "bold yellow", "insufficient": "bold red"}
_LISTED = 12
_PASSAGES = 3  # printed when there is no answer; the others are stored with it


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    url: Urls = None,
    source: Sources = None,
    at: At = None,
    time: Time = "seen",
    form: Annotated[Forms | None, typer.Option(help="Form of the answer; unset = as the question wants it.")] = None,
    budget: Budget = None,
    html: HtmlFile = None,
    markdown: MarkdownFile = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="Without an answer: print all of the nearest passages.")
    ] = False,
    stream: Annotated[
        bool, typer.Option("--stream", help="One JSON object a line while the answer comes into being.")
    ] = False,
    proof: Proof = False,
    fail_unless_answered: FailUnlessAnswered = False,
    as_json: Json = False,
) -> None:
    """Answer in sentences of the pages, each proved by its quote.

    Without --url, and with --at, nothing is fetched: the answer comes from
    what is stored. `webrag plan` shows beforehand what would be done.
    """
    if as_json and stream:
        raise InvalidInputError("--json prints one object, --stream one a line: choose one of them")
    for file in filter(None, (html, markdown)):
        check_writable(file)

    async def work(show: Show) -> Answer:
        from webrag_core.answering.events import Done
        from webrag_core.application.services import Services
        from webrag_core.indexing.pipeline import Corpus

        asked = question_of(question, url, source, at, time, budget, form)
        async with Corpus.open(load_settings()) as corpus:
            show("stored", None)
            if not stream:
                return await asked.run(Services.over(corpus), show)
            async for event in asked.stream(Services.over(corpus)):
                print_json(event)
                sys.stdout.flush()
            assert isinstance(event, Done)
            return event.answer

    try:
        with show_progress() as show:
            answer = asyncio.run(work(show))
    except WebragError as error:
        if not as_json and not stream:
            raise
        status = "blocked" if isinstance(error, GuardrailsViolationError) else "failed"
        message = error.message + way_out(error.code)
        print_json({"status": status, "error": {"code": error.code, "message": message}})
        complain(f"error: {message} [{error.code}]", style="red")
        raise typer.Exit(error.exit_code) from error
    try:
        write_readable(answer, html, markdown)
    except InvalidInputError as error:
        number = answer.answer_id
        raise InvalidInputError(f"{error.message}; the answer is stored: webrag answers show {number}") from error
    if as_json:
        print_json(answer)
    elif not stream:
        print_prose(answer, show_all=show_all, proof=proof)
    if fail_unless_answered and answer.status != "answered":
        raise typer.Exit(NOT_ANSWERED)


def question_of(
    text: str,
    url: list[str] | None,
    source: list[str] | None,
    at: str | None,
    time: TimeAxis,
    budget: int | None,
    form: Forms | None = None,
) -> Ask:
    """The operation that options describe. Raises InvalidInputError, also for --time without --at."""
    from webrag_core.application.operations import Ask

    check_time(time, at)
    return Ask.of(
        question=text,
        urls=tuple(map(with_scheme, url or ())),
        sources=tuple(source or ()),
        at=at,
        time=time,
        expansion_budget=budget,
        form=form,
    )


def print_prose(answer: Answer, *, show_all: bool = False, proof: bool = False) -> None:
    """Print the verdict and the answer first, then the quotes that prove it, then what is missing. Where no sentence is
    said, the nearest passages, few of them unless `show_all`."""
    from webrag_core.showing.plan_lines import lost_lines, task_lines
    from webrag_core.showing.wording import (
        FORGOTTEN_SENTENCE,
        PROOFS,
        forgotten_line,
        missing_lines,
        sentence_case,
        sureness,
        verdict,
    )

    sure = sureness(answer)
    print_line(f"{verdict(answer)}{f' ({sure}, {answer.confidence_note})' if sure else ''}", style=_STYLES[answer.band])
    print_line(f"Question: {answer.question}", style="bold")
    for line in lost_lines(answer.tasks):
        print_line(f"Without this: {line}", style="yellow")
    print_line("")
    for _, sentence in answer.in_order():
        if sentence is None:
            print_line(f"({FORGOTTEN_SENTENCE})", style="dim")
            print_line("")
            continue
        numbers = "".join(f"[{number}]" for number in sentence.citations)
        for line in (*sentence.text.split("\n"), numbers) if "\n" in sentence.text else (f"{sentence.text} {numbers}",):
            print_wrapped("", Text(visible(line)))
        print_line("")
    if answer.listed:
        _print_listed(answer, len(answer.listed) if show_all else _LISTED, proof=proof)
    if answer.sentences:
        print_line("Evidence", style="bold")
        for sentence in answer.sentences:
            for number in sentence.citations:
                _print_place(answer.citation(number), f"  [{number}] ", proof=proof)
            if proof:
                print_line(f"      {sentence.proof}: {PROOFS[sentence.proof]}", style="dim")
    elif answer.highlights:
        _print_nearest(answer, len(answer.highlights) if show_all else _PASSAGES, proof=proof)
    if gone := forgotten_line(answer):
        print_line(sentence_case(gone), style="yellow")
    for one in answer.disagreements:
        print_line(f"Sentences {one.sentences[0]} and {one.sentences[1]} differ: {one.about}", style="yellow")
    if missing := missing_lines(answer):
        print_line("Missing", style="bold")
        for line in missing:
            print_line(f"  {line}")
    if answer.look_next:
        print_line("Where to look next", style="bold")
        for address in answer.look_next:
            print_line(f"  {address}")
    print_line("")
    if answer.composer != "extractive":
        print_line(f"Sentences chosen by {answer.composer}, in the pages' own words.", style="dim")
    for note in answer.notes:
        print_line(sentence_case(note), style="dim")
    print_line(
        f"Answer {answer.answer_id}: pages fetched: {answer.spent.pages}, rounds: {answer.spent.rounds},"
        f" {answer.spent.seconds:.2f} s",
        style="dim",
    )
    for line in task_lines(answer.tasks):
        print_line(f"  {line}", style="dim")
    for warning in answer.warnings:
        print_line(f"Warning: {warning}", style="yellow")


def _print_listed(answer: Answer, most: int, *, proof: bool) -> None:
    from webrag_core.showing.passage import passage

    for group, rows in groupby(answer.listed[:most], key=lambda one: one.group):
        print_line(group, style="bold")
        for one in rows:
            citation = answer.citation(one.citation)
            print_heading(f"  [{citation.number}] ", one.label, citation.heading)
            print_passage(passage(citation), indent="      │ ")
            _print_place(citation, "      ", proof=proof)
    if len(answer.listed) > most:
        print_line(f"  ({len(answer.listed) - most} more: webrag answers show {answer.answer_id} --all)", style="dim")


def _print_nearest(answer: Answer, most: int, *, proof: bool) -> None:
    from webrag_core.showing.passage import passage

    print_line("The nearest passages", style="bold")
    for highlight in answer.highlights[:most]:
        citation = answer.citation(highlight.citation)
        print_heading(f"  [{citation.number}] ", citation.title or citation.url, citation.heading)
        print_passage(passage(citation, highlight), indent="      │ ")
        _print_place(citation, "      ", proof=proof)
    if len(answer.highlights) > most:
        print_line(
            f"  ({len(answer.highlights) - most} more: webrag answers show {answer.answer_id} --all)", style="dim"
        )


def _print_place(citation: SentenceCitation, lead: str, *, proof: bool) -> None:
    print_place(lead, citation.url, citation.quote, in_full=proof)
    if proof:
        print_line(
            f"{' ' * len(lead)}version {citation.version} ({citation.version_sha256[:12]}), characters"
            f" {citation.char_start}–{citation.char_end}, sha256 {citation.sha256[:12]}",
            style="dim",
        )
