"""`webrag search`: what is stored already, by any retrieval pattern, narrowed as the user wants."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from webrag_core.cli.output import Json, print_citation, print_json, print_line
from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError

if TYPE_CHECKING:
    from webrag_core.retrieval.models import RetrievedChunk
    from webrag_core.retrieval.search import CorpusSearch

_DAY = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)


def add_search_command(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(search)


def search(
    query: Annotated[str, typer.Argument(help="What to find.")],
    pattern: Annotated[
        str, typer.Option(help="semantic (P1), hybrid (P2), filtered (P3), reranked (P4) or multi_query (P5).")
    ] = "reranked",
    source: Annotated[list[str] | None, typer.Option(help="Only this source (host); repeatable.")] = None,
    since: Annotated[
        str | None, typer.Option(help="Only pages dated then or later: 2024, 2024-05, 2024-05-17 or with a time.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Only pages dated then or earlier; that day is included.")] = None,
    year: Annotated[list[int] | None, typer.Option(help="Only pages dated in this year; repeatable.")] = None,
    language: Annotated[list[str] | None, typer.Option(help="Only pages in this language (en); repeatable.")] = None,
    kind: Annotated[list[str] | None, typer.Option("--type", help="Only html, pdf or text; repeatable.")] = None,
    flag: Annotated[
        list[str] | None, typer.Option(help="Only passages with table, code, math, steps, image, …; repeatable.")
    ] = None,
    formulation: Annotated[
        list[str] | None, typer.Option(help="The question in other words (multi_query); repeatable.")
    ] = None,
    fusion: Annotated[
        Literal["weighted", "rrf"], typer.Option(help="How meaning and words join (hybrid): by score or by rank.")
    ] = "weighted",
    alpha: Annotated[
        float | None, typer.Option(help="Weight of meaning against words, 0 to 1 (hybrid); unset = 0.7.")
    ] = None,
    mode: Annotated[
        Literal["auto", "chunk", "full_context"], typer.Option(help="full_context = look at everything if it fits.")
    ] = "chunk",
    top_k: Annotated[int | None, typer.Option(help="Results at most; unset = RERANKER_TOP_N.")] = None,
    quotes: Annotated[int, typer.Option(min=1, help="Quotes to print; --json has all results.")] = 5,
    as_json: Json = False,
) -> None:
    """Search what is stored already; fetch nothing. A date is a page's last modification, else its publication."""
    from webrag_core.indexing.pipeline import Corpus
    from webrag_core.retrieval.filters import document_types
    from webrag_core.retrieval.request import DateRange, Pattern, ScopeFilter, SearchRequest
    from webrag_core.retrieval.search import search as search_stored

    request = SearchRequest(
        query=query,
        pattern=Pattern.named(pattern),
        formulations=formulation or (),
        filters=ScopeFilter(sources=source, languages=language, types=document_types(kind), flags=flag),
        dated=None if since is None and until is None else DateRange(*moments(since, until)),
        requested_years=year or (),
        fusion=fusion,
        alpha=alpha,
        mode=mode,
        top_k=top_k,
    )

    async def work() -> None:
        async with Corpus.open(load_settings()) as corpus:
            found = await search_stored(corpus, request)
        if as_json:
            print_json(found)
        else:
            print_found(found, quotes)

    asyncio.run(work())


def moments(since: str | None, until: str | None) -> tuple[datetime | None, datetime | None]:
    """Where the dates begin and the moment before which they end. Raises InvalidInputError for what is no date or no
    range."""
    start = None if since is None else moment(since, "--since")
    end = None if until is None else moment(until, "--until", end=True)
    if start is not None and end is not None and end <= start:
        raise InvalidInputError(f"--until {until} lies before --since {since}")
    return start, end


def moment(text: str, option: str, *, end: bool = False) -> datetime:
    """The beginning of a year, month or day, or with `end` the moment after it; a time is taken as it is (UTC if it
    names no zone). Raises InvalidInputError naming the option."""
    day = _DAY.fullmatch(text.strip())
    try:
        if day is None:
            exact = datetime.fromisoformat(text.strip())
            return exact if exact.tzinfo else exact.replace(tzinfo=UTC)
        year, month, number = (None if part is None else int(part) for part in day.groups())
        start = datetime(year or 0, 1 if month is None else month, 1 if number is None else number, tzinfo=UTC)
        if not end:
            return start
        if number is not None:
            return datetime.fromordinal(start.toordinal() + 1).replace(tzinfo=UTC)
        if month is not None and month < 12:
            return start.replace(month=month + 1)
        return start.replace(year=start.year + 1, month=1)
    except (ValueError, OverflowError):
        raise InvalidInputError(
            f"{option}: {text.strip()!r} is no date; write 2024, 2024-05, 2024-05-17 or 2024-05-17T09:30+02:00"
        ) from None


def print_found(found: CorpusSearch, quotes: int) -> None:
    """Numbered quotes, then how they were found."""
    chunks = {ranked.chunk.chunk_id: ranked.chunk for ranked in found.chunks}
    for citation in found.citations[:quotes]:
        print_citation(citation, dated=_date(chunks[citation.chunk_id]))
    stats = found.corpus_stats
    if not found.citations:
        print_line("Nothing was found.", style="yellow")
    elif len(found.citations) > quotes:
        print_line(f"({len(found.citations) - quotes} more: --quotes or --json)", style="dim")
    print_line(
        f"Searched    {stats.total_documents} pages, {stats.total_parent_chunks} passages; looked at"
        f" {found.candidates} ({found.pattern.value}), {found.timing.total_ms:.0f} ms"
    )
    for other in found.queries[1:]:
        print_line(f"Also asked  {other}")
    for warning in found.warnings:
        print_line(f"Warning     {warning}", style="yellow")


def _date(chunk: RetrievedChunk) -> str:
    return f"fetched {chunk.fetched_at:%Y-%m-%d}" if chunk.dated is None else f"dated {chunk.dated:%Y-%m-%d}"
