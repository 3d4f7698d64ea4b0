"""What was removed on request is gone from every table, and stays away until somebody asks for it by name."""

from __future__ import annotations

import asyncio
import hashlib
import multiprocessing
import os
import signal
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules, rows
from webrag_core.config import Settings
from webrag_core.corpus.forget import allow_again, forget
from webrag_core.corpus.sources import attach_source
from webrag_core.errors import FetchError, InvalidInputError, Reason
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.answers import broken_citations
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.result_warnings import Caution
from webrag_core.store.database import Database

SECRET, OTHER, ALIAS = f"{HOME}ann-smith", f"{HOME}tea", f"{HOME}people/7"
PRIVATE = "Ann Smith of Sutton brews quinquina in her cellar."
SHARED = "<h2>Imprint</h2><p>" + "The same words stand on every page of this site. " * 60
QUESTION = "Who brews quinquina in a cellar, and how is tea made?"


def site() -> ServedPages:
    other = f"Tea is made with hot water. <a href='{SECRET}'>Ann Smith</a></p>{SHARED}"
    return ServedPages(
        {
            SECRET: html("Ann Smith", f"{PRIVATE} <a href='{OTHER}'>Tea</a></p>{SHARED}"),
            OTHER: html("Tea", other),
            HOME: html("Home", f"Pages about tea. <a href='{SECRET}'>Ann Smith</a> <a href='{OTHER}'>Tea</a>"),
        },
        {ALIAS: SECRET},
    )


async def build(corpus: Corpus) -> None:
    for url in (ALIAS, OTHER, HOME):
        await corpus.add(url, run_id="r1")
    await corpus.refresher().run("example.org")
    await OrchestratorEngine(corpus).run(AnswerRequest((SECRET, OTHER), QUESTION))
    assert await broken_rules(corpus.database) == set()


def tables_with(database_url: str, text: str) -> set[str]:
    """Tables of which a row holds `text`."""
    with psycopg.connect(database_url) as connection:
        names = [row[0] for row in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
        query = "SELECT EXISTS (SELECT FROM {} t WHERE strpos(t::text, %s) > 0)"
        return {
            name
            for name in names
            if (connection.execute(sql.SQL(query).format(sql.Identifier(name)), (text,)).fetchone() or (False,))[0]
        }


async def count(database: Database) -> dict[str, int]:
    names = [row[0] for row in await rows(database, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
    return {name: (await rows(database, f"SELECT count(*) FROM {name}"))[0][0] for name in names}  # noqa: S608


def test_a_page_goes_with_everything_derived_from_it(settings: Settings, database_url: str) -> None:
    async def work() -> None:
        async with Corpus.open(settings, site()) as corpus:
            await build(corpus)
            assert {"documents", "fetch_log", "citations"} - tables_with(database_url, SECRET) == {"citations"}
            cited = await rows(
                corpus.database,
                "SELECT count(*) FROM citations c JOIN document_versions v ON v.id = c.version_id"
                " JOIN documents d ON d.id = v.document_id WHERE d.canonical_url = %s",
                SECRET,
            )
            assert cited[0][0] > 0
            removal = await forget(corpus.database, ALIAS, removed_by="test")
            assert removal.counts["documents"] == 1
            assert removal.counts["citations"] == cited[0][0]
            assert removal.counts["vectors"] > 0

            assert tables_with(database_url, PRIVATE) == set()
            for trace in (SECRET, ALIAS):  # the text of other pages is theirs
                assert tables_with(database_url, trace) <= {"document_versions", "chunks"}, trace
            kept = await rows(corpus.database, "SELECT d.canonical_url FROM documents d ORDER BY 1")
            assert kept == [(HOME,), (OTHER,)]
            assert await broken_rules(corpus.database) == set()
            async with corpus.database.connection() as connection:
                assert (await broken_citations(connection))[1] == []
            [(state, warnings, seed)] = await rows(corpus.database, "SELECT state, warnings, seed_url FROM answer_runs")
            assert state == "done"
            assert "removed on request" in warnings[-1]
            digest = hashlib.sha256(SECRET.encode()).hexdigest()
            assert seed == f"removed:{digest}"
            log = await rows(corpus.database, "SELECT kind, removed_by, counts ->> 'documents' FROM removals")
            assert log == [("page", "test", "1")]
            # vectors of texts that other pages share are still cached, or in use
            assert await rows(
                corpus.database,
                "SELECT count(*) FROM chunks c WHERE c.level = 'child' AND NOT EXISTS"
                " (SELECT FROM vectors_1 v WHERE v.chunk_id = c.id)",
            ) == [(0,)]

    asyncio.run(work())


WARNINGS = [
    Caution.on(SECRET, "slow").stored,
    Caution.on(f"{SECRET}-2", "slow").stored,  # another page, whose address begins the same
    Caution.on(OTHER, f"redirects to {SECRET}").stored,
    f"{SECRET}: slow",  # as rows have them that are older than `about`
    "no model",
]


def test_warnings_go_by_the_page_that_they_are_about(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, site()) as corpus:
            for url in (SECRET, OTHER):
                await corpus.add(url)
            await rows(
                corpus.database,
                "WITH r AS (INSERT INTO refresh_runs (source_id, run_id, started_at, discovered, fetched, unchanged,"
                "  failed, skipped, not_due, warnings) SELECT id, 'r', now(), 0, 0, 0, 0, 0, 0, %s FROM sources),"
                " a AS (INSERT INTO answer_runs (query, seed_url, policy, options, warnings)"
                "  VALUES ('q', %s, 'p', '{}', %s) RETURNING id)"
                " INSERT INTO route_tasks (answer_id, iteration, ordinal, id, agent, kind, params, status,"
                "  milliseconds, output) SELECT id, 1, 0, 't', 'pages', 'pages.walk', '{}', 'success', 0, %s FROM a"
                " RETURNING id",
                Jsonb(WARNINGS),
                OTHER,
                Jsonb(WARNINGS),
                Jsonb({"evidence": [], "findings": [], "note": "", "warnings": WARNINGS}),
            )
            await forget(corpus.database, SECRET, removed_by="test")
            others = [WARNINGS[1], WARNINGS[4]]
            assert await rows(corpus.database, "SELECT warnings FROM refresh_runs") == [(others,)]
            assert await rows(corpus.database, "SELECT output -> 'warnings' FROM route_tasks") == [(others,)]
            [(kept,)] = await rows(corpus.database, "SELECT warnings FROM answer_runs")
            removed = f"removed:{hashlib.sha256(SECRET.encode()).hexdigest()}"
            assert [str(Caution.load(one)) for one in kept] == [
                f"{removed}: slow",
                f"{SECRET}-2: slow",
                f"{OTHER}: redirects to {removed}",
                f"{removed}: slow",
                "no model",
            ]

    asyncio.run(work())


def test_a_dry_run_counts_the_same_and_changes_nothing(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, site()) as corpus:
            await build(corpus)
            before = await count(corpus.database)
            dry = await forget(corpus.database, SECRET, removed_by="test", dry_run=True)
            assert await count(corpus.database) == before
            assert (await forget(corpus.database, SECRET, removed_by="test")).counts == dry.counts

    asyncio.run(work())


def test_a_removed_page_comes_back_only_by_name(settings: Settings, database_url: str) -> None:
    async def work() -> None:
        async with Corpus.open(settings, site()) as corpus:
            await build(corpus)
            async with corpus.database.connection() as connection:
                await attach_source(connection, HOME, 10)
            await forget(corpus.database, SECRET, removed_by="test")
            report = await corpus.refresher().run("example.org")
            assert report.counts.fetched + report.counts.unchanged == 2
            for url in (SECRET, ALIAS):
                with pytest.raises(FetchError) as refused:
                    await corpus.add(url)
                assert refused.value.reason is Reason.FORGOTTEN
            assert tables_with(database_url, SECRET) <= {"document_versions", "chunks"}
            assert await broken_rules(corpus.database) == set()
            async with corpus.database.connection() as connection:
                await allow_again(connection, [SECRET])
            assert (await corpus.add(SECRET)).outcome == "fetched"
            assert await broken_rules(corpus.database) == set()

    asyncio.run(work())


def test_a_page_removed_while_it_is_fetched_is_not_stored(settings: Settings, database_url: str) -> None:
    class Slow(ServedPages):
        """Removes the page between the request and the answer."""

        async def fetch(self, url: str, **headers: str | None):  # type: ignore[no-untyped-def,override]
            page = await super().fetch(url, **headers)
            if url == SECRET and armed:
                armed.clear()
                async with await Database.open(settings) as database:
                    await forget(database, SECRET, removed_by="test")
            return page

    armed: list[bool] = []
    pages = site()

    async def work() -> None:
        async with Corpus.open(settings, Slow(pages.pages, pages.redirects)) as corpus:
            await build(corpus)
            armed.append(True)
            await corpus.refresher().run("example.org")
            assert not armed
            assert tables_with(database_url, SECRET) <= {"document_versions", "chunks"}
            assert await broken_rules(corpus.database) == set()

    asyncio.run(work())


def test_a_source_goes_with_all_its_pages(settings: Settings, database_url: str) -> None:
    async def work() -> None:
        elsewhere = "https://elsewhere.example/page"
        pages = site()
        pages.pages[elsewhere] = html("Elsewhere", f"Another site. <a href='{OTHER}'>Tea</a>")
        async with Corpus.open(settings, pages) as corpus:
            await build(corpus)
            await corpus.add(elsewhere)
            removal = await forget(corpus.database, "example.org", removed_by="test")
            assert (removal.counts["documents"], removal.counts["sources"]) == (3, 1)
            assert await rows(corpus.database, "SELECT key FROM sources") == [("elsewhere.example",)]
            assert tables_with(database_url, HOME) <= {"document_versions", "chunks"}
            assert await broken_rules(corpus.database) == set()
            with pytest.raises(InvalidInputError):
                await forget(corpus.database, "example.org", removed_by="test")
            with pytest.raises(FetchError, match="removed on request"):
                await corpus.add(OTHER)
            async with corpus.database.connection() as connection:
                await attach_source(connection, HOME, 10)
            assert (await corpus.add(OTHER)).outcome == "fetched"

    asyncio.run(work())


def test_an_answer_goes_and_its_pages_stay(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, site()) as corpus:
            await build(corpus)
            [(answer,)] = await rows(corpus.database, "SELECT id FROM answer_runs")
            removal = await forget(corpus.database, str(answer), removed_by="test")
            assert removal.counts["citations"] > 0
            for table in ("answer_runs", "answer_rounds", "citations"):
                assert await rows(corpus.database, f"SELECT 1 FROM {table}") == []  # noqa: S608
            assert len(await rows(corpus.database, "SELECT 1 FROM documents")) == 3
            for target in (str(answer), f"{HOME}never-seen", "never.example"):
                with pytest.raises(InvalidInputError):
                    await forget(corpus.database, target, removed_by="test")

    asyncio.run(work())


def test_another_section_of_the_same_host_stays_whole(settings: Settings) -> None:
    async def work() -> None:
        pages = site()
        inside = f"{HOME}docs/b"
        pages.pages[inside] = html("B", f"Text of B. <a href='{HOME}docs/lost'>lost</a>")
        async with Corpus.open(settings, pages) as corpus:
            async with corpus.database.connection() as connection:
                section = await attach_source(connection, inside, 10)
            await build(corpus)
            await corpus.refresher().run(section)
            removal = await forget(corpus.database, "example.org", removed_by="test")
            assert (removal.counts["documents"], removal.counts["sources"]) == (3, 1)
            assert await rows(corpus.database, "SELECT canonical_url FROM documents WHERE status = 'ready'") == [
                (inside,)
            ]
            assert await broken_rules(corpus.database) == set()
            assert (await corpus.refresher().run(section)).counts.unchanged == 1
            assert await broken_rules(corpus.database) == set()

    asyncio.run(work())


def _forget_until(url: str, statement: int) -> None:
    """Remove the source in this process, which is killed at this statement."""
    execute, left = psycopg.AsyncConnection.execute, [statement]

    async def counted(connection: psycopg.AsyncConnection, *arguments: Any, **options: Any) -> Any:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return await execute(connection, *arguments, **options)

    async def work() -> None:
        async with await Database.open(Settings(database_url=url)) as database:
            psycopg.AsyncConnection.execute = counted  # type: ignore[assignment]
            await forget(database, "example.org", removed_by="test")

    asyncio.run(work())


@pytest.mark.slow
def test_a_removal_that_is_killed_leaves_whole_pages_and_goes_on(settings: Settings, database_url: str) -> None:
    async def start() -> None:
        async with Corpus.open(settings, site()) as corpus:
            await build(corpus)

    async def look() -> tuple[set[str], int]:
        async with await Database.open(settings) as database:
            return await broken_rules(database), len(await rows(database, "SELECT FROM documents"))

    asyncio.run(start())
    pages, statement, kills = [3], 4, 0
    while True:
        process = multiprocessing.get_context("fork").Process(target=_forget_until, args=(database_url, statement))
        process.start()
        process.join()
        broken, left = asyncio.run(look())
        assert broken == set(), statement
        pages.append(left)
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
        kills, statement = kills + 1, statement + 9
    assert pages == sorted(pages, reverse=True)
    assert {1, 2} & set(pages), "a kill came between pages"
    assert kills > 4
    assert left == 0
    assert tables_with(database_url, PRIVATE) == set()
