"""`webrag answer`: the command, its progress lines and its printed answer."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from webrag_core.cli.addresses import with_scheme
from webrag_core.cli.files import HtmlFile, MarkdownFile, Proof, write_readable
from webrag_core.cli.output import (
    NOT_ANSWERED,
    FailUnlessAnswered,
    Json,
    Time,
    check_time,
    check_writable,
    print_elements,
    print_json,
)
from webrag_core.cli.progress import Show, show_progress
from webrag_core.cli.wanted_evidence import Constraints, Intent, MaxAge, seconds_of
from webrag_core.config import load_settings

if TYPE_CHECKING:
    from webrag_core.history.models import TimeAxis
    from webrag_core.orchestration.models import OrchestrationResult
    from webrag_core.retrieval.search import CorpusSearch

Modes = Literal["auto", "chunk", "full_context"]


def _policies() -> list[tuple[str, str]]:
    return [
        ("calibrated", "by a fitted probability"),
        ("seed-matrix", "by the rules of the specification"),
        ("fixed-k:2", "after two rounds"),
        ("stop-at-once", "before any link is followed"),
    ]


def _scopes() -> list[tuple[str, str]]:
    return [("source", "of the start page's source"), ("all", "of every source"), ("run", "none")]


def answer(
    url: Annotated[str, typer.Argument(help="The page to start from.")],
    question: Annotated[str, typer.Argument(help="The question.")],
    budget: Annotated[
        int | None, typer.Option(help="Maximum rounds of following links; 0 = none, unset = MAX_EXPANSION_DEPTH.")
    ] = None,
    intent: Intent = None,
    known_context: Annotated[
        str | None, typer.Option(help="Facts you already have; passages repeating them are skipped.")
    ] = None,
    constraint: Constraints = None,
    mode: Annotated[Modes, typer.Option(help="Best passages (chunk), all text (full_context), or by size.")] = "auto",
    policy: Annotated[
        str | None, typer.Option(help="Stop policy, see above; unset = WEBRAG_POLICY.", autocompletion=_policies)
    ] = None,
    max_age: MaxAge = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(help="Stored pages that may serve, see above. Unset = source.", autocompletion=_scopes),
    ] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="A URL that must not be used; repeatable.")] = None,
    also: Annotated[list[str] | None, typer.Option(help="A further start page; repeatable.")] = None,
    at: Annotated[
        str | None,
        typer.Option(
            help="Answer from what the stored pages of these sites said then (2024-05-17); fetch nothing. Whether the"
            " passages suffice is not judged: the status is partial at best."
        ),
    ] = None,
    time: Time = "seen",
    quotes: Annotated[int, typer.Option(min=1, help="Maximum quotes to print.")] = 5,
    show_all: Annotated[bool, typer.Option("--all", help="Print all quotes, those of low relevance too.")] = False,
    proof: Proof = False,
    fail_unless_answered: FailUnlessAnswered = False,
    html: HtmlFile = None,
    markdown: MarkdownFile = None,
    as_json: Json = False,
) -> None:
    """Answer with quotes: start at a page, follow promising links.

    \b
    --policy says when to stop:
      calibrated     by a fitted probability that the evidence is complete
      seed-matrix    by the eleven rules of the specification
      fixed-k:N      after N rounds of following links, as fixed-k:2
      stop-at-once   before any link is followed

    \b
    --scope says which stored pages may serve beside those that are read:
      source         those of the start page's source
      all            those of every source
      run            none
      NAME           those of this source; repeatable
    """
    for file in filter(None, (html, markdown)):
        check_writable(file)
    if at is not None:
        past = asyncio.run(_answer_at(at, time, question, [url, *(also or ())]))
        if as_json:
            print_json(past.model_dump(mode="json") | {"status": past.status})
        else:
            from webrag_core.showing.evidence import search_view

            print_elements(search_view(past, quotes), show_all=show_all, proof=proof)
        _end(past, html, markdown, fail_unless_answered=fail_unless_answered)
        return
    check_time(time, at)

    async def work(show: Show) -> OrchestrationResult:
        from webrag_core.application.operations import GatherEvidence
        from webrag_core.application.services import Services
        from webrag_core.indexing.pipeline import Corpus
        from webrag_core.orchestration.run_scope import run_scope

        settings = load_settings()
        evidence = GatherEvidence.of(
            urls=tuple(map(with_scheme, (url, *(also or ())))),
            question=question,
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
        evidence.as_request(settings)  # what cannot be meant opens no corpus
        async with Corpus.open(settings) as corpus:
            return await evidence.run(Services.over(corpus), show)

    with show_progress() as show:
        result = asyncio.run(work(show))
    if as_json:
        print_json(result)
    else:
        print_answer(result, quotes=quotes, show_all=show_all, proof=proof)
    _end(result, html, markdown, fail_unless_answered=fail_unless_answered)


def _end(
    result: OrchestrationResult | CorpusSearch, html: Path | None, markdown: Path | None, *, fail_unless_answered: bool
) -> None:
    """Write the files that are wanted, and exit as the status says."""
    write_readable(result, html, markdown)
    if fail_unless_answered and result.status != "answered":
        raise typer.Exit(NOT_ANSWERED)


async def _answer_at(at: str, time: TimeAxis, question: str, urls: list[str]) -> CorpusSearch:
    """Search what is stored of the past, which cannot be fetched."""
    from webrag_core.acquisition.urls import site_roots
    from webrag_core.application.operations import Search
    from webrag_core.application.services import Services
    from webrag_core.indexing.pipeline import Corpus

    wanted = Search.of(question=question, urls=site_roots(map(with_scheme, urls)), at=at, time=time)
    wanted.check()
    async with Corpus.open(load_settings()) as corpus:
        return await wanted.run(Services.over(corpus))


def print_answer(result: OrchestrationResult, *, quotes: int, show_all: bool = False, proof: bool = False) -> None:
    """Print the verdict, the quotes and the trace of the run."""
    from webrag_core.showing.evidence import evidence_view

    print_elements(evidence_view(result, quotes), show_all=show_all, proof=proof)
