"""Pruning deletes what the settings no longer keep, and nothing that somebody needs."""

from __future__ import annotations

import asyncio

import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules, rows
from webrag_core.config import Settings
from webrag_core.corpus.outbox import acknowledge, read_changes
from webrag_core.corpus.retention import prune
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.answers import broken_citations
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.store.database import Database

A, B = f"{HOME}a", f"{HOME}b"
NEVER = {"ledger_retention_days": 1.0, "outbox_retention_days": 1.0, "answer_round_retention_days": 1.0}


def settings_with(settings: Settings, **changes: object) -> Settings:
    return settings.model_copy(update={**NEVER, "retired_model_days": 1.0, "version_retention_days": 1.0, **changes})


async def aged(database: Database) -> None:
    """Make everything that is stored ten days older."""
    async with database.connection() as connection:
        for table, columns in {
            "fetch_log": ("started_at", "ended_at", "seen_at"),
            "version_periods": ("seen_from", "seen_last", "seen_until"),
            "corpus_log": ("logged_at",),
            "refresh_runs": ("started_at", "ended_at"),
            "answer_runs": ("started_at",),
            "document_versions": ("superseded_at", "fetched_at"),
            "documents": ("last_fetch_at", "announced_at"),
            "embedding_models": ("state_since",),
            "outbox_readers": ("read_at",),
        }.items():
            changes = ", ".join(f"{column} = {column} - interval '10 days'" for column in columns)
            await connection.execute(f"UPDATE {table} SET {changes}".encode())  # noqa: S608


async def build(corpus: Corpus, site: ServedPages) -> None:
    """Two pages with two versions each; an answer cites the first version of A."""
    for url in (A, B):
        await corpus.add(url)
    await OrchestratorEngine(corpus).run(AnswerRequest((A,), "What is the colour of the first tea?", scope="run"))
    for url in (A, B):
        site.pages[url] = html(url[-1].upper(), f"The second text of {url}. " * 30)
    for _ in range(2):
        await corpus.refresher().run("example.org")
    assert await broken_rules(corpus.database) == set()


def site() -> ServedPages:
    return ServedPages({url: html(url[-1].upper(), "The colour of the first tea is red. " * 30) for url in (A, B)})


def test_old_history_goes_and_state_and_cited_texts_stay(settings: Settings) -> None:
    async def work() -> None:
        served = site()
        async with Corpus.open(settings, served) as corpus:
            await build(corpus, served)
            await aged(corpus.database)
            await corpus.refresher().run("example.org")
            dry = await prune(corpus.database, settings_with(settings), dry_run=True)
            done = await prune(corpus.database, settings_with(settings))
            assert done == dry
            assert done["ledger_lines"] > 4
            assert done["outbox_lines"] == 4
            assert done["refreshes"] == 2
            assert done["texts"] == 1, "that of B; the one of A is cited"
            assert done["answer_rounds"] > 0
            assert await broken_rules(corpus.database) == set()
            async with corpus.database.connection() as connection:
                citations, broken = await broken_citations(connection)
            assert citations > 0
            assert broken == []
            kept = "SELECT d.canonical_url, v.number, v.markdown IS NULL FROM document_versions v JOIN documents d"
            assert await rows(corpus.database, f"{kept} ON d.id = v.document_id ORDER BY 1, 2") == [
                (A, 1, False),
                (A, 2, False),
                (B, 1, True),
                (B, 2, False),
            ]
            assert sum((await prune(corpus.database, settings_with(settings))).values()) == 0

    asyncio.run(work())


def test_a_pruned_text_comes_back_when_the_page_says_it_again(settings: Settings) -> None:
    async def work() -> None:
        served = site()
        first = served.pages[B]
        async with Corpus.open(settings, served) as corpus:
            await build(corpus, served)
            await aged(corpus.database)
            await prune(corpus.database, settings_with(settings))
            served.pages[B] = first
            await corpus.add(B, refresh=True)
            assert await rows(
                corpus.database,
                "SELECT v.number, v.pruned_at, v.superseded_at FROM documents d JOIN document_versions v"
                " ON v.id = d.current_version WHERE d.canonical_url = %s",
                B,
            ) == [(1, None, None)]
            assert await broken_rules(corpus.database) == set()

    asyncio.run(work())


def test_by_default_every_text_stays(settings: Settings) -> None:
    async def work() -> None:
        served = site()
        async with Corpus.open(settings, served) as corpus:
            await build(corpus, served)
            await aged(corpus.database)
            assert (await prune(corpus.database, settings))["texts"] == 0

    asyncio.run(work())


@pytest.mark.parametrize("reads", [False, True])
def test_lines_that_a_reader_has_not_read_stay(settings: Settings, reads: bool) -> None:
    async def work() -> None:
        served = site()
        async with Corpus.open(settings, served) as corpus:
            await corpus.add(A)
            async with corpus.database.snapshot() as connection:
                place = (await read_changes(connection, None)).place
            await corpus.add(B)
            async with corpus.database.snapshot() as connection:
                changes = await read_changes(connection, place)
            assert changes.sources == (("example.org", 1),)
            async with corpus.database.connection() as connection:
                await acknowledge(connection, "follower", changes.place if reads else place)
            await aged(corpus.database)
            assert (await prune(corpus.database, settings_with(settings)))["outbox_lines"] == (2 if reads else 1)
            assert await broken_rules(corpus.database) == set()
            gone = settings_with(settings, outbox_reader_days=5.0)
            assert (await prune(corpus.database, gone))["outbox_lines"] == (0 if reads else 1)

    asyncio.run(work())


def test_a_retired_model_goes_with_its_table(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, site()) as corpus:
            await corpus.add(A)
            async with corpus.database.connection() as connection:
                await connection.execute(
                    "INSERT INTO embedding_models (provider, name, dimensions, normalisation, state)"
                    " VALUES ('old', 'old', 2, 'l2', 'building')"
                )
                await connection.execute("CREATE TABLE vectors_2 (chunk_id bigint, document_id integer)")
                await connection.execute("UPDATE embedding_models SET state = 'retired' WHERE name = 'old'")
            young = settings_with(settings)
            assert (await prune(corpus.database, young))["retired_models"] == 0
            await aged(corpus.database)
            assert (await prune(corpus.database, young, dry_run=True))["retired_models"] == 1
            assert (await prune(corpus.database, young))["retired_models"] == 1
            assert await rows(corpus.database, "SELECT to_regclass('vectors_2')::text") == [(None,)]
            assert await broken_rules(corpus.database) == set()

    asyncio.run(work())
