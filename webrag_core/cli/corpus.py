"""`webrag ingest|refresh|status|verify`: fill, update, show and check the corpus."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from webrag_core.cli.addresses import canonical_urls
from webrag_core.cli.database import changed, on_database
from webrag_core.cli.output import Json, complain, print_json, print_line, print_table, tokens_charged
from webrag_core.cli.progress import progress
from webrag_core.cli.status_report import print_agents, print_status, reason_words
from webrag_core.config import Settings, load_settings
from webrag_core.errors import FetchError, InvalidInputError

if TYPE_CHECKING:
    from webrag_core.application.upkeep import IngestReport, Refreshed
    from webrag_core.corpus.refresh import PageStep, RefreshReport
    from webrag_core.indexing.pipeline import AddedDocument
    from webrag_core.store.database import Database

_KEPT = "pages are done; what was read is stored, and the same command goes on from there"
"""What an interrupted command says, behind a number."""


def add_corpus_commands(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (ingest, refresh, status, verify):
        app.command()(command)


def ingest(
    urls: Annotated[list[str] | None, typer.Argument(help="Pages to store.")] = None,
    warc: Annotated[Path | None, typer.Option(help="Store every page of this WARC snapshot instead.")] = None,
    refresh: Annotated[bool, typer.Option(help="Fetch pages again that are already stored.")] = False,
    all_text: Annotated[
        bool | None,
        typer.Option(
            "--all-text/--content-only",
            help="Keep everything that these pages show, now and when they are fetched again, or their content alone.",
            show_default="as their source says",
        ),
    ] = None,
    git: Annotated[
        Path | None, typer.Option(help="Store every text file of this folder under git, all versions.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="With --git: the address below which its files get theirs.")
    ] = None,
    dates: Annotated[
        Literal["in-force", "seen"] | None,
        typer.Option(help="With --git: what the dates of commits say: when a text was there, or when it is in force."),
    ] = None,
    revision: Annotated[
        str, typer.Option(help="With --git: a branch or commit, as REVISION:FOLDER a folder of it.")
    ] = "HEAD",
    archived: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DATE",
            help="Store what a web archive has of the URLs from then (repeatable), or `all`. See MEMENTO_TIMEGATE.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Fetch, store and index pages, or the history of a folder.

    Pages that fail are reported, the others kept; exit code 1 when one failed.
    """
    if all_text is not None and (archived or git is not None):
        raise InvalidInputError("--all-text goes with URLs or --warc, and with neither --archived nor --git")
    if archived:
        from webrag_core.cli.archived import ingest_archived

        if not urls or warc is not None or git is not None:
            raise InvalidInputError("--archived DATE goes with URLs, and with neither --warc nor --git")
        raise typer.Exit(asyncio.run(ingest_archived(urls, archived, as_json=as_json)))
    if git is not None or base_url is not None or dates is not None:
        from webrag_core.cli.histories import ingest_git

        if git is None or base_url is None or urls or warc is not None:
            raise InvalidInputError("--git FOLDER goes with --base-url URL, and with neither URLs nor --warc")
        raise typer.Exit(asyncio.run(ingest_git(git, base_url, dates or "seen", revision, as_json=as_json)))
    if bool(urls) == (warc is not None):
        raise InvalidInputError("give either URLs or --warc FILE")
    from webrag_core.acquisition.warc import WarcAcquirer
    from webrag_core.application.services import Services
    from webrag_core.application.upkeep import Ingest
    from webrag_core.indexing.pipeline import Corpus

    archive = WarcAcquirer(warc) if warc is not None else None
    malformed: dict[str, str] = {}
    pages = archive.page_urls() if archive else canonical_urls(urls or [], malformed)
    wanted = Ingest.of(urls=pages, refresh=refresh, all_text=all_text, again=archive is None)

    settings = load_settings()

    async def work() -> IngestReport:
        async with Corpus.open(settings, archive) as corpus:
            with progress(len(pages), "ingest", kept=_KEPT) as advance:

                def done(url: str, result: AddedDocument | FetchError) -> None:
                    for line in [f"{url}: {result.message}"] if isinstance(result, FetchError) else result.warnings:
                        complain(line)
                    advance(url)

                return await wanted.run(Services.over(corpus), done, advance.begin)

    report = asyncio.run(work())
    report.failed = malformed | report.failed
    if as_json:
        print_json({"requested": report.requested, **report.model_dump()})
    else:
        print_line(
            f"{report.requested} pages: {report.fetched} fetched, {report.unchanged} unchanged,"
            f" {report.reused} already there, {len(report.failed)} failed;"
            f" {report.embedded} texts embedded{tokens_charged(report.embedding_tokens)}"
        )
        if report.embedded and settings.retrieval_windows:
            print_line("`webrag model windows` lets questions find them that are put in other words")
    raise typer.Exit(1 if report.failed else 0)


def refresh(
    sources: Annotated[
        list[str] | None, typer.Argument(help="A host means all of its sections; default: all sources.")
    ] = None,
    due: Annotated[bool, typer.Option("--due", help="Request only due pages and pages flagged as changed.")] = False,
    limit: Annotated[int | None, typer.Option(help="Maximum number of pages to request per source.")] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Take new texts that would be held back. Goes with SOURCES.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Fetch the pages of sources again, and index changed ones.

    Exit code 1 when a source has no fetched page, or its new texts are held
    back. Pages that are not there, or lost most of their text, keep the stored
    one until that was confirmed on several days.
    """
    from webrag_core.application.services import Services
    from webrag_core.application.upkeep import Refresh
    from webrag_core.indexing.pipeline import Corpus

    wanted = Refresh.of(sources=tuple(sources or ()), due=due, limit=limit, accept=accept)
    wanted.check()

    def done(report: RefreshReport) -> None:
        for url, reason in report.failed.items():
            why = f", {report.held[url].words}" if url in report.held else ""
            complain(f"{url}: {reason_words(reason)}{why}")
        for warning in report.warnings:
            complain(f"{report.source}: {warning}")

    async def work() -> Refreshed:
        async with Corpus.open(load_settings()) as corpus:
            with progress(None, "refresh", kept=_KEPT) as advance:

                def step(page: PageStep) -> None:
                    (advance.begin if page.outcome is None else advance)(page.url)

                return await wanted.run(Services.over(corpus), step, done)

    refreshed = asyncio.run(work())
    reports, tokens = refreshed.reports, refreshed.embedding_tokens
    if as_json:
        print_json({"sources": [_refresh_json(report) for report in reports], "embedding_tokens": tokens})
    else:
        print_table(
            (
                "source",
                "known",
                "changed or new",
                "unchanged",
                "failed",
                "skipped",
                "not due",
                "put off",
                "map entries",
            ),
            [(r.source, r.counts.discovered, *asdict(r.counts).values(), _or_dash(r.map_entries)) for r in reports],
        )
        if tokens:
            print_line(f"texts embedded{tokens_charged(tokens)}")
    raise typer.Exit(1 if any(r.silent or r.empty is not None or r.braked for r in reports) else 0)


def status(
    failed: Annotated[bool, typer.Option("--failed", help="Name every page that failed.")] = False,
    as_json: Json = False,
) -> None:
    """Show what the corpus holds, how fresh it is, and what failed."""
    from webrag_core.conversion.worker import worker_sandbox
    from webrag_core.corpus.status import corpus_status
    from webrag_core.indexing.window_vectors import window_status
    from webrag_core.providers.prices import load_prices
    from webrag_core.routing.agent_figures import agent_figures, replaced_plans

    since = datetime.now(UTC) - timedelta(days=30)

    async def work(database: Database, settings: Settings) -> None:
        async with database.connection() as connection:
            corpus_report = await corpus_status(connection, load_prices(settings), every_failure=failed)
            windows = await window_status(connection) if settings.retrieval_windows else None
            agents = await agent_figures(connection, since)
            replaced = await replaced_plans(connection, since)
        sandbox = worker_sandbox()
        if as_json:
            shown = None if windows is None else windows.model_dump(mode="json")
            planning = {"agents": [agent.model_dump(mode="json") for agent in agents], "replaced_plans": replaced}
            report = corpus_report.model_dump(mode="json") | planning
            print_json({**report, "windows": shown, "worker_sandbox": sandbox})
        else:
            place = str(settings.webrag_home.absolute()) if settings.database_url is None else "in DATABASE_URL"
            print_status(corpus_report, windows, place, sandbox)
            print_agents(agents, replaced)

    changed(work)


def verify(as_json: Json = False) -> None:
    """Check every invariant: hashes, slices, counts, vectors, quotes."""
    from webrag_core.application.reading import Verify

    checked = on_database(Verify().read)
    if as_json:
        print_json({**checked.counts, "violations": checked.violations})
    else:
        for violation in checked.violations:
            complain(" ".join(violation.values()), style="red")
        seen = ", ".join(f"{number} {name}" for name, number in checked.counts.items())
        print_line(f"{len(checked.violations)} violations in {seen}")
    raise typer.Exit(1 if checked.violations else 0)


def _refresh_json(report: RefreshReport) -> dict[str, Any]:
    return {
        "source": report.source,
        "run_id": report.run_id,
        "discovered": report.counts.discovered,
        **asdict(report.counts),
        "map_entries": report.map_entries,
        "changed": report.changed,
        "failed": dict(report.failed),
        "still_gone": report.still_gone,
        "held": {url: held.value for url, held in report.held.items()},
        "warnings": report.warnings,
    }


def _or_dash(value: object) -> object:
    return "–" if value is None else value
