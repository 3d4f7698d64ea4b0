"""`webrag answer`: the command, its progress lines and its printed answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from webrag_core.cli.addresses import with_scheme
from webrag_core.cli.files import HtmlFile, MarkdownFile, write_readable
from webrag_core.cli.output import (
    Json,
    Time,
    check_time,
    check_writable,
    err,
    print_citation,
    print_hidden,
    print_json,
    print_line,
)
from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError
from webrag_core.result_warnings import keep_out_of_the_log

if TYPE_CHECKING:
    from webrag_core.history.models import TimeAxis
    from webrag_core.orchestration.models import OrchestrationResult, Round
    from webrag_core.retrieval.search import CorpusSearch

Modes = Literal["auto", "chunk", "full_context"]
Intents = Literal["factual", "comparison", "how_to", "exploratory"]

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_AGE = re.compile(r"([0-9]{1,9})([smhdw]?)")


def seconds_of(age: str | None) -> float | None:
    """An age in seconds: "90", "90s", "15m", "12h", "1d" or "2w". Raises InvalidInputError."""
    if age is None:
        return None
    match = _AGE.fullmatch(age.strip().lower())
    if match is None:
        raise InvalidInputError(f"--max-age {age!r} is not an age such as 3600, 12h or 1d")
    return float(int(match[1]) * _UNITS[match[2]])


def answer(
    url: Annotated[str, typer.Argument(help="The page to start from.")],
    query: Annotated[str, typer.Argument(help="The question.")],
    budget: Annotated[
        int | None, typer.Option(help="Maximum rounds of following links; 0 = none, unset = MAX_EXPANSION_DEPTH.")
    ] = None,
    intent: Annotated[Intents | None, typer.Option(help="Kind of question, if known.")] = None,
    known_context: Annotated[
        str | None, typer.Option(help="Facts you already have; passages repeating them are skipped.")
    ] = None,
    constraint: Annotated[
        list[str] | None, typer.Option(help="A requirement the evidence must meet; repeatable.")
    ] = None,
    mode: Annotated[Modes, typer.Option(help="Best passages (chunk), all text (full_context), or by size.")] = "auto",
    policy: Annotated[str | None, typer.Option(help="Stop policy; unset = WEBRAG_POLICY.")] = None,
    max_age: Annotated[
        str | None, typer.Option(help="Fetch stored pages again above this age: seconds, or 30m, 12h, 1d.")
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            help="Stored pages to use: those of the start page's source (source), of all sources (all), none (run), or"
            " those of a named source; repeatable. Unset = source."
        ),
    ] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="A URL that must not be used; repeatable.")] = None,
    also: Annotated[list[str] | None, typer.Option(help="A further start page; repeatable.")] = None,
    at: Annotated[
        str | None,
        typer.Option(help="Answer from what the stored pages of these sites said then (2024-05-17); fetch nothing."),
    ] = None,
    time: Time = "seen",
    quotes: Annotated[int, typer.Option(min=1, help="Maximum quotes to print.")] = 5,
    show_all: Annotated[bool, typer.Option("--all", help="Print all quotes, those of low relevance too.")] = False,
    html: HtmlFile = None,
    markdown: MarkdownFile = None,
    as_json: Json = False,
) -> None:
    """Answer QUERY with quotes, starting at URL and following promising links."""
    from webrag_core.indexing.pipeline import Corpus
    from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
    from webrag_core.orchestration.memory import run_scope

    for file in filter(None, (html, markdown)):
        check_writable(file)
    if at is not None:
        results = asyncio.run(
            _answer_at(at, time, query, [url, *(also or ())], quotes, show_all=show_all, as_json=as_json)
        )
        write_readable(results, html, markdown)
        return
    check_time(time, at)

    async def work() -> OrchestrationResult:
        request = AnswerRequest(
            urls=tuple(map(with_scheme, (url, *(also or ())))),
            query=query,
            intent=intent,
            known_context=known_context,
            constraints=tuple(constraint or ()),
            expansion_budget=budget,
            mode=mode,
            policy=policy,
            max_age=seconds_of(max_age),
            scope=run_scope(scope or ()),
            excluded=tuple(map(with_scheme, exclude or ())),
        )
        request.seeds()
        async with Corpus.open(load_settings()) as corpus:
            with show_progress() as show:
                return await OrchestratorEngine(corpus).run(request, show)

    result = asyncio.run(work())
    if as_json:
        print_json(result)
    else:
        print_answer(result, quotes=quotes, show_all=show_all)
    write_readable(result, html, markdown)


async def _answer_at(
    at: str, time: TimeAxis, query: str, urls: list[str], quotes: int, *, show_all: bool, as_json: bool
) -> CorpusSearch:
    """The past cannot be fetched: search what is stored of it."""
    from webrag_core.acquisition.urls import site_roots
    from webrag_core.cli.search import print_results
    from webrag_core.history.as_of import AsOf
    from webrag_core.history.past_search import search_at
    from webrag_core.indexing.pipeline import Corpus
    from webrag_core.retrieval.request import ScopeFilter, SearchRequest

    sites = site_roots(map(with_scheme, urls))
    request = SearchRequest(query=query, filters=ScopeFilter(url_prefixes=sites), mode="chunk")
    async with Corpus.open(load_settings()) as corpus:
        results = await search_at(corpus, request, AsOf.parse(at), time=time)
    if as_json:
        print_json(results)
    else:
        print_results(results, quotes, show_all=show_all)
    return results


@contextmanager
def show_progress() -> Iterator[Callable[[str, Round | None], None]]:
    """A status line on a terminal, one plain line per phase and round elsewhere; always on stderr. Warnings of the
    result are printed with it, not in between."""
    keep_out_of_the_log()
    if err.is_terminal:
        with err.status("starting") as status:
            yield lambda phase, completed: status.update(_progress_line(phase, completed))
    else:
        yield lambda phase, completed: err.print(_progress_line(phase, completed), markup=False, highlight=False)


def _progress_line(phase: str, completed: Round | None) -> str:
    """One line for a phase that begins or a round that ended, with the next page when a link is followed."""
    from webrag_core.orchestration.models import progress_line

    line = progress_line(phase, completed)
    if completed is not None and completed.decision.action == "expand_breadth" and completed.candidates:
        line += f": {completed.candidates[0].url}"
    return line


def print_answer(result: OrchestrationResult, *, quotes: int, show_all: bool = False) -> None:
    """Print the verdict, the quotes and the trace of the run. At most one quote for `not_found`, none of low relevance
    (full context cites them) unless `show_all`."""
    from webrag_core.retrieval.citations import relevant

    styles = {"answered": "bold green", "partial": "bold yellow", "not_found": "bold red"}
    print_line(result.verdict_line(), style=styles[result.status])
    print_line(f"Question: {result.query}", style="bold")
    print_line(f"Start page: {result.url}")
    print_line("")
    most = 1 if result.status == "not_found" else quotes
    shown = result.citations if show_all else relevant(result.citations)[:most]
    if shown and result.status == "not_found":
        print_line("Nearest passage:", style="dim")
    for citation in shown:
        print_citation(citation, result.query)
    print_hidden(result.citations, len(shown))
    print_line("")
    print_line("Pages read", style="bold")
    documents = result.read_documents()
    for document in documents:
        note = f" ({document.reason})" if document.reason else ""
        print_line(f"  round {document.round}, depth {document.link_depth}  {document.outcome}{note}  {document.url}")
    previews = len(result.documents) - len(documents)
    if previews:
        print_line(f"Linked pages looked at and not read: {previews}")
    if result.map_files:
        print_line(f"Files that list the site's pages, read or missing: {len(result.map_files)}")
    if result.status != "answered" and result.look_next:
        print_line("")
        print_line("Where to look next", style="bold")
        for url in result.look_next:
            print_line(f"  {url}")
    decision = result.final_decision
    print_line("")
    print_line(f"Link-following rounds: {result.total_iterations}")
    for step in result.expansion_steps:
        print_line(f"  round {step.iteration - 1}: {step.decision} [{step.rule}] {step.reason}")
    print_line(f"Stopped: {decision.rule} ({result.policy}): {decision.reason}")
    print_line(f"Estimated completeness: {result.probability_complete:.0%} ({result.probability_note})")
    print_line(f"Time: {result.timing.total_ms / 1000:.2f} s, mode {result.mode}, answer {result.answer_id}")
    for warning in result.warnings:
        print_line(f"Warning: {warning}", style="yellow")
