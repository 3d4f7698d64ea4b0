"""`webrag search`: search the stored pages by any retrieval pattern, with filters."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from webrag_core.cli.database import begin_to_open, on_corpus
from webrag_core.cli.files import Proof
from webrag_core.cli.log import leave_warnings_to_the_result
from webrag_core.cli.output import Intents, Json, Time, check_time, print_elements, print_json
from webrag_core.cli.wanted_evidence import Since, Until, Years


def add_search_command(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(search)


def _patterns() -> list[str]:
    return ["reranked", "semantic", "hybrid", "filtered", "multi_query", "cross_modal"]


def search(
    question: Annotated[str, typer.Argument(help="The question or search terms.")],
    pattern: Annotated[
        str,
        typer.Option(help="How passages are found, see above.", autocompletion=_patterns),
    ] = "reranked",
    intent: Annotated[Intents | None, typer.Option(help="Kind of question, for rerankers that take one.")] = None,
    source: Annotated[list[str] | None, typer.Option(help="Only this source (host); repeatable.")] = None,
    url: Annotated[
        list[str] | None, typer.Option(help="Only this page and those below it (host/folder/); repeatable.")
    ] = None,
    since: Since = None,
    until: Until = None,
    year: Years = None,
    language: Annotated[list[str] | None, typer.Option(help="Only pages in this language (en); repeatable.")] = None,
    kind: Annotated[list[str] | None, typer.Option("--type", help="html, pdf, text or office; repeatable.")] = None,
    flag: Annotated[
        list[str] | None, typer.Option(help="Only passages with table, code, math, steps, image, …; repeatable.")
    ] = None,
    formulation: Annotated[
        list[str] | None, typer.Option(help="The question in other words (multi_query); repeatable.")
    ] = None,
    fusion: Annotated[
        Literal["weighted", "rrf"],
        typer.Option(help="Fusion for hybrid: by score or by rank."),
    ] = "weighted",
    alpha: Annotated[
        float | None, typer.Option(help="Dense weight in weighted fusion, 0 to 1 (hybrid); unset = 0.7.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(help="Search what the pages said then: 2024, 2024-05, 2024-05-17, a time (UTC) or now."),
    ] = None,
    time: Time = "seen",
    mode: Annotated[
        Literal["auto", "chunk", "full_context"], typer.Option(help="full_context = return all text if it fits.")
    ] = "chunk",
    top_k: Annotated[int | None, typer.Option(help="Maximum results, 1 to 50; unset = RERANKER_TOP_N.")] = None,
    context_budget: Annotated[
        int | None, typer.Option(help="Maximum tokens of all results; unset = RETRIEVAL_CONTEXT_BUDGET.")
    ] = None,
    quotes: Annotated[int, typer.Option(min=1, help="Maximum quotes to print; --json has all results.")] = 5,
    show_all: Annotated[bool, typer.Option("--all", help="Print all quotes, those of low relevance too.")] = False,
    proof: Proof = False,
    as_json: Json = False,
) -> None:
    """Search the stored pages; fetch nothing.

    \b
    --pattern says how passages are found and ordered:
      reranked      words and embeddings find, the reranker orders (P4)
      semantic      embeddings alone (P1)
      hybrid        embeddings and words, weighted by --alpha (P2)
      filtered      as reranked, with at least one filter (P3)
      multi_query   as reranked, for each --formulation (P5)
      cross_modal   as reranked, with a bonus from the graph (P6)

    A page must pass every filter (--source to --flag); several values of one
    filter are alternatives. A page's date is its last modification, else its
    publication.
    """
    check_time(time, at)
    begin_to_open()
    from webrag_core.application.operations import Search

    wanted = Search.of(
        question=question,
        intent=intent,
        pattern=pattern,
        formulations=formulation or (),
        sources=source,
        urls=url,
        since=since,
        until=until,
        years=year or (),
        languages=language,
        types=kind,
        flags=flag,
        fusion=fusion,
        alpha=alpha,
        mode=mode,
        top_k=top_k,
        context_budget=context_budget,
        at=at,
        time=time,
    )
    wanted.check()
    leave_warnings_to_the_result()

    results = on_corpus(wanted.run)
    if as_json:
        print_json(results)
    else:
        from webrag_core.showing.evidence import search_view, without_verdict

        print_elements(without_verdict(search_view(results, quotes)), show_all=show_all, proof=proof)
