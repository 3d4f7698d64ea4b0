"""`webrag ingest|refresh|status|verify`: fill, update, show and check the corpus."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from webrag_core.cli.addresses import canonical_urls
from webrag_core.cli.output import Json, complain, print_json, print_line, print_table, tokens_charged
from webrag_core.cli.progress import progress
from webrag_core.cli.status_report import print_status, reason_words
from webrag_core.config import load_settings
from webrag_core.errors import FetchError, InvalidInputError

if TYPE_CHECKING:
    from webrag_core.corpus.refresh import RefreshReport
    from webrag_core.indexing.pipeline import AddedDocument


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
    from webrag_core.acquisition.warc import WarcAcquirer
    from webrag_core.corpus.forget import allow_again
    from webrag_core.indexing.pipeline import Corpus
    from webrag_core.providers.embedder import embedding_tokens

    async def work() -> int:
        if bool(urls) == (warc is not None):
            raise InvalidInputError("give either URLs or --warc FILE")
        archive = WarcAcquirer(warc) if warc is not None else None
        failed: dict[str, str] = {}
        pages = archive.page_urls() if archive else canonical_urls(urls or [], failed)
        warnings: dict[str, list[str]] = {}
        counts = dict.fromkeys(("fetched", "unchanged", "reused"), 0)
        embedded = 0
        async with Corpus.open(load_settings(), archive) as corpus:
            if archive is None:
                async with corpus.database.connection() as connection:
                    await allow_again(connection, pages)
            with progress(len(pages), "ingest") as advance:

                def done(url: str, result: AddedDocument | FetchError) -> None:
                    nonlocal embedded
                    if isinstance(result, FetchError):
                        failed[url] = result.reason.value
                        complain(f"{url}: {result.message}")
                    else:
                        counts[result.outcome] += 1
                        embedded += result.embedded
                        for warning in result.warnings:
                            warnings.setdefault(url, []).append(warning)
                            complain(warning)
                    advance(url)

                await corpus.add_all(pages, done, refresh=refresh, all_text=all_text)
            indexed = await corpus.indexer.finish_bulk()
            tokens = embedding_tokens(corpus.indexer.embedder)
        requested = sum(counts.values()) + len(failed)
        if as_json:
            report = {"requested": requested, **counts, "failed": failed, "warnings": warnings, "embedded": embedded}
            print_json({**report, "embedding_tokens": tokens, "vector_index": indexed})
        else:
            print_line(
                f"{requested} pages: {counts['fetched']} fetched, {counts['unchanged']} unchanged,"
                f" {counts['reused']} already there, {len(failed)} failed;"
                f" {embedded} texts embedded{tokens_charged(tokens)}"
            )
        return 1 if failed else 0

    raise typer.Exit(asyncio.run(work()))


def refresh(
    sources: Annotated[
        list[str] | None, typer.Argument(help="A host means all of its sections; default: all sources.")
    ] = None,
    due: Annotated[bool, typer.Option("--due", help="Request only due pages and pages flagged as changed.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Maximum number of pages to request per source.")] = None,
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
    from webrag_core.corpus.sources import sources_to_refresh
    from webrag_core.indexing.pipeline import Corpus
    from webrag_core.providers.embedder import embedding_tokens

    if accept and not sources:
        raise InvalidInputError("--accept goes with the sources whose new texts are to be taken")

    async def work() -> int:
        reports: list[RefreshReport] = []
        async with Corpus.open(load_settings()) as corpus:
            async with corpus.database.connection() as connection:
                chosen = await sources_to_refresh(connection, sources or ())
            for source in chosen:
                key = source.key
                async with corpus.refresher_of(source) as refresher:
                    with progress(None, f"refresh {key}") as advance:
                        report = await refresher.run(key, due_only=due, limit=limit, accept=accept, advance=advance)
                reports.append(report)
                for url, reason in report.failed.items():
                    why = f", {report.held[url].words}" if url in report.held else ""
                    complain(f"{url}: {reason_words(reason)}{why}")
                for warning in report.warnings:
                    complain(f"{key}: {warning}")
            await corpus.indexer.finish_bulk()
            tokens = embedding_tokens(corpus.indexer.embedder)
        if as_json:
            print_json({"sources": [_refresh_json(report) for report in reports], "embedding_tokens": tokens})
        else:
            print_table(
                ("source", "known", "changed or new", "unchanged", "failed", "skipped", "not due", "map entries"),
                [(r.source, r.counts.discovered, *asdict(r.counts).values(), _or_dash(r.map_entries)) for r in reports],
            )
            if tokens:
                print_line(f"texts embedded{tokens_charged(tokens)}")
        return 1 if any(r.silent or r.empty is not None or r.braked for r in reports) else 0

    raise typer.Exit(asyncio.run(work()))


def status(as_json: Json = False) -> None:
    """Show what the corpus holds, how fresh it is, and what failed."""
    from webrag_core.conversion.worker import worker_sandbox
    from webrag_core.corpus.status import corpus_status
    from webrag_core.indexing.window_vectors import window_status
    from webrag_core.providers.prices import load_prices
    from webrag_core.store.database import Database

    async def work() -> None:
        settings = load_settings()
        async with await Database.open(settings) as database, database.connection() as connection:
            corpus_report = await corpus_status(connection, load_prices(settings))
            windows = await window_status(connection) if settings.retrieval_windows else None
        sandbox = worker_sandbox()
        if as_json:
            shown = None if windows is None else windows.model_dump(mode="json")
            print_json({**corpus_report.model_dump(mode="json"), "windows": shown, "worker_sandbox": sandbox})
        else:
            place = str(settings.webrag_home.absolute()) if settings.database_url is None else "in DATABASE_URL"
            print_status(corpus_report, windows, place, sandbox)

    asyncio.run(work())


def verify(as_json: Json = False) -> None:
    """Check every invariant: hashes, slices, counts, vectors, quotes."""
    from webrag_core.answering.proof.recheck import recheck
    from webrag_core.corpus.verification import VerificationCounts, verify_corpus
    from webrag_core.orchestration.answers import broken_citations
    from webrag_core.store.database import Database

    async def work() -> int:
        counted = VerificationCounts()
        async with await Database.open(load_settings()) as database:
            violations = [asdict(violation) async for violation in verify_corpus(database, counted)]
            async with database.connection() as connection:
                citations, broken = await broken_citations(connection)
                proofs = [proof async for proof in recheck(connection)]
        violations += [{"rule": "proof", "where": where, "found": problem} for where, problem in proofs if problem]
        violations += [{"rule": "citation", "where": where, "found": "the quote differs"} for where in broken]
        if as_json:
            print_json({**asdict(counted), "citations": citations, "sentences": len(proofs), "violations": violations})
        else:
            for violation in violations:
                complain(" ".join(violation.values()), style="red")
            seen = ", ".join(f"{number} {name}" for name, number in asdict(counted).items())
            print_line(f"{len(violations)} violations in {seen}, {citations} citations, {len(proofs)} sentences")
        return 1 if violations else 0

    raise typer.Exit(asyncio.run(work()))


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
