"""A disk that is full when one table is written, at each table and in each piece of work.

A trigger says what the server says where it cannot extend a file. The work must say so too, leave whole what was there,
and do all of it the next time, once.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.conftest import fresh_database
from tests.corpus.corpora import broken_rules, rows
from webrag_core.acquisition.sitemaps.models import MapEntry, MapSymbol
from webrag_core.answering.manager import Manager, Question
from webrag_core.application.watching import AddWatch
from webrag_core.config import Settings
from webrag_core.corpus.forget import forget
from webrag_core.corpus.removal_list import keep_removals
from webrag_core.corpus.retention import prune
from webrag_core.corpus.sources import attach_source
from webrag_core.corpus.tables import TABLES, table_of
from webrag_core.corpus.works import update_works
from webrag_core.errors import StoreError
from webrag_core.feedback.models import NewFeedback
from webrag_core.feedback.store import record
from webrag_core.history.citations import citation_states
from webrag_core.history.shares import add_share
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine

pytestmark = pytest.mark.slow

CELLAR, TEA, GONE = f"{HOME}docs/1.0/cellar", f"{HOME}docs/2.0/cellar", f"{HOME}gone"
QUESTION = "Who brews quinquina in a cellar?"
NEVER_WRITTEN = {
    "absent_map_files",
    "breakers",
    "counted_terms",
    "embedding_models",  # before the first piece of work
    "endpoints_used",
    "exposures",
    "host_leases",
    "host_paces",
    "outbox_readers",
    "schema_migrations",
    "skipped_urls",
    "spending",
    "texts_without_vector",
    "version_validity",
    "window_vectors",
}
"""What this work does not write: endpoints, hosts of the live web, other readers."""
_FULL = """
CREATE SCHEMA faults;
CREATE TABLE faults.disk (is_full boolean);
INSERT INTO faults.disk VALUES (true);
CREATE SEQUENCE faults.hits;
CREATE FUNCTION faults.write() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT is_full FROM faults.disk) THEN
        PERFORM nextval('faults.hits');  -- which a transaction that fails does not take back
        RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full';
    END IF;
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
END $$;
"""


def site() -> ServedPages:
    """Pages that link to each other, with a table, markup and versions in their paths."""

    def page(title: str, other: str) -> str:
        data = {"@context": "https://schema.org", "@type": "Article", "name": title, "isBasedOn": other}
        return html(
            title,
            f"{title} of Sutton brews quinquina in a cellar. <a href='{other}'>More of {title}</a></p>"
            f"<script type='application/ld+json'>{json.dumps(data)}</script>"
            f"<dl><dt>{title}ine</dt><dd>{title}ine is brewed in cellars.</dd></dl>"
            "<table><tr><th>Service</th><th>Port</th></tr><tr><td>brewer</td><td>4080</td></tr></table>"
            "<p>The end.",
        )

    pages = {CELLAR: page("Zorbel", TEA), TEA: page("Quixel", CELLAR), GONE: page("Farewell", TEA)}
    served = ServedPages({**pages, HOME: page("Home", CELLAR)}, {f"{HOME}moved": CELLAR})
    served.entries.append(MapEntry(CELLAR, "Zorbel in the map", "What it is", listed_in="feed", words="zorbel"))
    served.symbols = [MapSymbol(CELLAR, "zorbel.brew", "py:function", "zorbel.brew")]
    return served


@dataclass(slots=True)
class Work:
    """Pieces of work on one corpus, in order; each can be done again."""

    corpus: Corpus
    site: ServedPages
    answer_id: int = 0

    def pieces(self) -> list[tuple[str, Callable[[], Awaitable[object]]]]:
        """Their names, and what they do."""
        return [
            ("attach", self.attach),
            ("ingest", self.ingest),
            ("refresh", lambda: self.corpus.refresher().run("example.org")),
            ("works", lambda: update_works(self.corpus.database)),
            ("walk", self.walk),
            ("ask", self.ask),
            ("feedback", self.feedback),
            ("share", self.share),
            ("watch", self.watch),
            ("change", self.change),
            ("check", lambda: citation_states(self.corpus.database)),
            ("forget", self.forget),
            ("prune", lambda: prune(self.corpus.database, self.corpus.settings)),
        ]

    async def attach(self) -> None:
        async with self.corpus.database.connection() as connection:
            await attach_source(connection, HOME, 10)

    async def ingest(self) -> None:
        for url in (f"{HOME}moved", TEA, GONE, HOME):
            await self.corpus.add(url)

    async def walk(self) -> None:
        await OrchestratorEngine(self.corpus).run(AnswerRequest((CELLAR, HOME), QUESTION))

    async def ask(self) -> None:
        self.answer_id = (await Manager(self.corpus).answer(Question(QUESTION))).answer_id or 0

    async def feedback(self) -> None:
        new = NewFeedback(answer_id=self.answer_id, kind="helpful", actor="Ada", actor_kind="person", text="Good.")
        await record(self.corpus.database, new)

    async def share(self) -> None:
        async with self.corpus.database.transaction() as connection:
            await add_share(connection, self.answer_id, days=1)

    async def watch(self) -> None:
        await AddWatch.of(question=QUESTION).add(self.corpus.database)

    async def change(self) -> None:
        self.site.pages[TEA] = html("Quixel", "Quixel no longer brews anything since 1999, and has closed its cellar.")
        await self.corpus.add(TEA, refresh=True)

    async def forget(self) -> None:
        held = await rows(self.corpus.database, "SELECT FROM documents WHERE canonical_url = %s", GONE)
        if held:
            await forget(self.corpus.database, GONE, removed_by="a test")
        await keep_removals(self.corpus.database, self.corpus.settings)


async def counts(corpus: Corpus) -> dict[str, int]:
    """What must not be doubled."""
    names = ("documents", "document_versions", "version_periods", "chunks", "graph_edges", "watches", "removals")
    return {name: (await rows(corpus.database, f"SELECT count(*) FROM {name}"))[0][0] for name in names}  # noqa: S608


def failure(error: BaseException) -> StoreError | None:
    """What the database said, however deep."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(failure, error.exceptions)), None)
    if isinstance(error, StoreError) or error.__cause__ is None:
        return error if isinstance(error, StoreError) else None
    return failure(error.__cause__)


async def whole(corpus: Corpus, served: ServedPages) -> dict[str, int]:
    for _, piece in Work(corpus, served).pieces():
        await piece()
    return await counts(corpus)


@pytest.fixture(scope="module")
def undisturbed(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    with fresh_database(server_url) as url:

        async def run() -> dict[str, int]:
            async with Corpus.open(on(url, tmp_path_factory.mktemp("whole")), served := site()) as corpus:
                return await whole(corpus, served)

        return asyncio.run(run())


def on(url: str, home: Any) -> Settings:
    return Settings(database_url=url, webrag_home=home, webrag_reader="none")  # type: ignore[call-arg]


@pytest.mark.parametrize("table", [table.name for table in TABLES])
def test_a_table_that_cannot_grow(table: str, undisturbed: dict[str, int], server_url: str, tmp_path: Any) -> None:
    with fresh_database(server_url) as url:
        hit, silent = asyncio.run(_disturbed(url, table, on(url, tmp_path), undisturbed))
    assert bool(hit) is (table not in NEVER_WRITTEN), hit
    assert silent == []


async def _disturbed(
    url: str, table: str, settings: Settings, undisturbed: dict[str, int]
) -> tuple[list[str], list[str]]:
    """Do all work, each piece with the table full and, where that fails, again. Returns the pieces that met it, and
    those of them that said nothing."""
    hit: list[str] = []
    silent: list[str] = []
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_FULL)
        async with Corpus.open(settings, served := site()) as corpus:
            work = Work(corpus, served)
            await corpus.model_id()
            for name, piece in work.pieces():
                _guard(connection, table)
                before, met = await counts(corpus), _hits(connection)
                error = await _error_of(piece)
                if error is not None:
                    said = failure(error)
                    assert said is not None, (name, repr(error))
                    assert said.code == "disk_full", (name, said.code, said.message)
                    hit.append(name)
                elif _hits(connection) > met:
                    silent.append(name)
                connection.execute("UPDATE faults.disk SET is_full = false")
                assert await broken_rules(corpus.database) == set(), name
                if hit[-1:] == [name]:
                    now = await counts(corpus)
                    kept = ("documents", "document_versions", "chunks", "watches")
                    assert name in ("forget", "prune") or all(now[kind] >= before[kind] for kind in kept), name
                    await piece()
                connection.execute("UPDATE faults.disk SET is_full = true")
            connection.execute("UPDATE faults.disk SET is_full = false")
            assert await broken_rules(corpus.database) == set()
            assert await counts(corpus) == undisturbed
    return hit, silent


async def _error_of(piece: Callable[[], Awaitable[object]]) -> Exception | None:
    try:
        await piece()
    except Exception as error:  # noqa: BLE001 (whatever the work raises is looked into)
        return error
    return None


def _hits(connection: psycopg.Connection) -> int:
    row = connection.execute("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM faults.hits").fetchone()
    assert row is not None
    return int(row[0])


def _guard(connection: psycopg.Connection, table: str) -> None:
    """Have writes to the table fail, where it is there and they do not yet."""
    names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    for (name,) in names:
        if table_of(name).name == table:
            statement = "CREATE OR REPLACE TRIGGER full_disk BEFORE INSERT OR UPDATE OR DELETE ON {} FOR EACH ROW"
            connection.execute(sql.SQL(f"{statement} EXECUTE FUNCTION faults.write()").format(sql.Identifier(name)))
