"""A list reads what it shows: of 3,000 answers, pages or sources no more rows than of 100.

What must be counted or named as a whole is said beside each list.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass

import httpx2
import psycopg
import pytest
from psycopg import sql

from tests.command_line import Webrag, webrag_here
from tests.conftest import fresh_database
from tests.rows_touched import rows_touched
from tests.web.serving import web_server
from webrag_core.answering.proof.recheck import recheck
from webrag_core.config import Settings
from webrag_core.corpus.outbox import Place, read_changes, unfinished_sources
from webrag_core.corpus.sources import count_sources, list_sources
from webrag_core.corpus.stated_dates import READER
from webrag_core.history import pages
from webrag_core.history.answers import list_answers
from webrag_core.history.citations import citation_states, each_citation_state
from webrag_core.history.latest_changes import CHANGE_KINDS, latest_changes
from webrag_core.store.database import Database

__all__ = ["webrag_here"]

FEW, MANY = 100, 3_000
BIG, OLD = "big.example", "host1.example"
TEXT = "# Page\n\nThe kettle holds three litres of water.\n"

# `size` of everything. Ids are given, so that rows of several tables name each other:
#   BIG, source 1, has the documents 1, 2, ... with two texts each, the versions 2n - 1 (past) and 2n;
#   the sources 2, 3, ... have a document each, 100,001, 100,002, ..., with one text; the first five are not indexed;
#   the page of OLD, source 2, was there and gone `size` times, before everything else changed;
#   answers in prose have the even ids, each after the run that gathered its evidence; both quote,
#   and three sentences of each say the same.
_GROW = """
INSERT INTO sources (id, key) OVERRIDING SYSTEM VALUE SELECT 1, {big};
INSERT INTO sources (id, key) OVERRIDING SYSTEM VALUE
SELECT n + 1, 'host' || n || '.example' FROM generate_series(1, {size}) n;

INSERT INTO documents (id, source_id, canonical_url, status, current_version, newest_version, work_version,
                       last_checked, next_check)
OVERRIDING SYSTEM VALUE
SELECT n, 1, 'https://' || {big} || '/' || n, 'ready', 2 * n, 2 * n, 2 * n, now(), now()
FROM generate_series(1, {size}) n
UNION ALL SELECT 100000 + n, n + 1, 'https://host' || n || '.example/',
                 CASE WHEN n > 5 THEN 'ready' ELSE 'running' END,
                 CASE WHEN n > 5 THEN 100000 + n END, 100000 + n, 100000 + n, now(), now()
FROM generate_series(1, {size}) n;

INSERT INTO document_versions (id, document_id, number, markdown, sha256, http_status, media_type, fetched_at,
                               superseded_at, extractor, dates_read)
OVERRIDING SYSTEM VALUE
SELECT 2 * n - 2 + number, n, number, text, encode(sha256(text::bytea), 'hex'), 200, 'text/html',
       '2024-01-01'::timestamptz + (n + 10000 * number) * interval '1 min',
       CASE number WHEN 1 THEN now() END, 'html-1', {reader}
FROM generate_series(1, {size}) n, generate_series(1, 2) number, LATERAL (SELECT {text} || number) t (text)
UNION ALL SELECT 100000 + n, 100000 + n, 1, {text}, encode(sha256({text}::bytea), 'hex'), 200, 'text/html',
                 '2023-01-01', NULL, 'html-1', {reader} FROM generate_series(1, {size}) n;

INSERT INTO version_periods (document_id, source_id, version_id, seen_from, seen_last, seen_until, basis)
SELECT document_id, 1, id, fetched_at, fetched_at, CASE WHEN superseded_at IS NOT NULL
       THEN fetched_at + interval '1 week' END, 'seen' FROM document_versions WHERE document_id <= {size}
UNION ALL SELECT id, source_id, current_version, '2023-01-01', now(), NULL, 'seen' FROM documents
WHERE id > 100000;
-- the first page of BIG was there and gone many times before, as was that of the second source
INSERT INTO version_periods (document_id, source_id, version_id, seen_from, seen_last, seen_until, basis)
SELECT document, source, CASE n % 2 WHEN 0 THEN version END, at, at, at + interval '1 min', 'seen'
FROM generate_series(1, {size}) n,
LATERAL (SELECT '2020-01-01'::timestamptz + n * interval '1 min') t (at),
(VALUES (1, 1, 1), (100001, 2, 100001)) p (document, source, version);

INSERT INTO answer_runs (id, kind, seed_url, query, policy, options, state, origin, prose)
OVERRIDING SYSTEM VALUE
SELECT 2 * n - 1, 'evidence', 'https://' || {big} || '/' || n, 'How much?', 'cost_aware', '{{}}'::jsonb, 'done',
       'answer', NULL
FROM generate_series(1, {size}) n
UNION ALL SELECT 2 * n, 'prose', NULL, 'How much?', NULL, '{{}}', 'done', 'cli',
                 jsonb_build_object('evidence_ids', jsonb_build_array(2 * n - 1))
FROM generate_series(1, {size}) n;
INSERT INTO citations (answer_id, number, version_id, char_start, char_end, quote_sha256, score)
SELECT answer, 1, 2 * ((answer + 1) / 2), 2, 6, encode(sha256('Page'), 'hex'), 1
FROM generate_series(1, 2 * {size}) answer;
INSERT INTO answer_sentences (answer_id, ordinal, text, proof, part, support)
SELECT 2 * n, ordinal, 'Page', 'verbatim', 1, 1 FROM generate_series(1, {size}) n, generate_series(1, 3) ordinal;
INSERT INTO sentence_citations (answer_id, ordinal, number)
SELECT answer_id, ordinal, 1 FROM answer_sentences;

INSERT INTO corpus_log (source_id, document_id, version_id, change)
SELECT 1, n, 2 * n, 'version' FROM generate_series(1, {size}) n;
"""


def grow(url: str, size: int) -> None:
    """Store a corpus of this size, with few statements for each table."""
    values = {"size": size, "big": BIG, "text": TEXT, "reader": READER}
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")  # no trigger that works for each row
        connection.execute(sql.SQL(_GROW).format(**{name: sql.Literal(value) for name, value in values.items()}))
        connection.execute("ANALYZE")


@dataclass(frozen=True, slots=True)
class Stored:
    """A corpus of one size, and a client of the application over it."""

    url: str
    client: httpx2.Client

    @property
    def settings(self) -> Settings:
        """Defaults on this corpus, without the reading model."""
        return Settings(database_url=self.url, webrag_reader="none")

    def reads(self, work: Callable[[], object]) -> Counter[str]:
        """Rows of each table that the work reads."""
        with rows_touched(self.url) as touched:
            work()
        return touched

    def core(self, work: Callable[[Database], Awaitable[object]]) -> Counter[str]:
        """Rows that work of the core reads."""

        async def opened() -> None:
            async with await Database.open(self.settings) as database:
                await work(database)

        return self.reads(lambda: asyncio.run(opened()))

    def web(self, path: str) -> Counter[str]:
        """Rows that a page or an operation of REST reads."""
        return self.reads(lambda: self.client.get(path).raise_for_status())


@pytest.fixture(scope="module")
def stored(server_url: str) -> Iterator[tuple[Stored, Stored]]:
    """A corpus with few and one with many of everything."""
    with fresh_database(server_url) as small, fresh_database(server_url) as large:
        for url, size in ((small, FEW), (large, MANY)):
            grow(url, size)
        settings = [Settings(database_url=url, webrag_reader="none") for url in (small, large)]
        with web_server(settings[0]) as few, web_server(settings[1]) as many:
            for client in (few, many):
                client.get("/").raise_for_status()  # what it does once is done
            yield Stored(small, few), Stored(large, many)


def grows(stored: tuple[Stored, Stored], work: Callable[[Stored], Counter[str]]) -> tuple[str, ...]:
    """The tables of which the work reads more rows in the large corpus; another plan may read a few more or fewer."""
    few, many = map(work, stored)
    assert few.total() > 0
    grown = tuple(sorted(table for table in many if many[table] > 2 * few[table] + 10))
    print({table: (few[table], many[table]) for table in grown})  # what pytest shows of a failure
    return grown


def test_the_counter_tells_a_scan_of_a_table_from_a_look_up(stored: tuple[Stored, Stored]) -> None:
    _, many = stored

    def reads(statement: str) -> int:
        with rows_touched(many.url) as touched, psycopg.connect(many.url) as connection:
            connection.execute(statement.encode())
        return touched["documents"]

    assert reads("SELECT FROM documents WHERE id = 7") == 1
    assert reads("SELECT FROM documents ORDER BY id LIMIT 5") == 5
    assert reads("SELECT FROM documents WHERE reason = 'no index has it'") == 2 * MANY


@pytest.mark.parametrize("every_run", [False, True])
def test_a_list_of_answers(stored: tuple[Stored, Stored], every_run: bool) -> None:
    async def work(database: Database) -> None:
        assert len(await list_answers(database, limit=5, every_run=every_run)) == 5
        assert len(await list_answers(database, limit=5, every_run=every_run, before=21, offset=3)) == 5

    assert grows(stored, lambda one: one.core(work)) == ()


@pytest.mark.parametrize("path", ["/api/answers?limit=5", "/answers?page=1"])
def test_a_list_of_answers_over_http(stored: tuple[Stored, Stored], path: str) -> None:
    assert grows(stored, lambda one: one.web(path)) == ()


def test_the_front_page(stored: tuple[Stored, Stored]) -> None:
    # its form names every source
    assert grows(stored, lambda one: one.web("/")) == ("sources",)


def test_a_list_of_answers_on_the_command_line(stored: tuple[Stored, Stored], webrag_here: Webrag) -> None:
    def work(one: Stored) -> Counter[str]:
        return one.reads(lambda: webrag_here("answers", "list", "--limit", "5", "--json", DATABASE_URL=one.url))

    assert grows(stored, work) == ()


def test_the_sensor_of_changes(stored: tuple[Stored, Stored]) -> None:
    async def look(database: Database) -> None:
        async with database.snapshot() as connection:
            seen.append((await read_changes(connection, seen[-1] if seen else None)).place)

    def work(one: Stored) -> Counter[str]:
        seen.clear()
        one.core(look)  # the first look reads all
        return one.core(look)

    seen: list[Place] = []
    assert grows(stored, work) == ()


def test_what_stopped_half_way(stored: tuple[Stored, Stored]) -> None:
    async def work(database: Database) -> None:
        async with database.snapshot() as connection:
            assert len(await unfinished_sources(connection)) == 5

    assert grows(stored, lambda one: one.core(work)) == ()


@pytest.mark.parametrize(
    "path",
    [
        "/history/changes",
        pytest.param(f"/history/changes?source={BIG}&kind=changed", marks=pytest.mark.slow),
        pytest.param(f"/history/changes?source={OLD}", marks=pytest.mark.slow),
        pytest.param(f"/api/changes/latest?source={OLD}&limit=5", marks=pytest.mark.slow),
        f"/sources/{OLD}/feed.atom",
    ],
)
def test_the_latest_changes(stored: tuple[Stored, Stored], path: str) -> None:
    assert grows(stored, lambda one: one.web(path)) == ()


def test_a_part_of_the_changes_of_a_source(stored: tuple[Stored, Stored]) -> None:
    # all are counted: the periods of the source's documents; their texts are looked up for those that are shown
    path = f"/api/changes?target={BIG}&limit=5&offset=5"
    assert set(grows(stored, lambda one: one.web(path))) <= {"documents", "version_periods"}


def test_the_last_periods_of_a_page(stored: tuple[Stored, Stored]) -> None:
    # all of its periods are counted
    path = f"/api/history?url=https://{BIG}/1&limit=5"
    assert set(grows(stored, lambda one: one.web(path))) <= {"version_periods"}


def test_parts_of_lists_are_parts_of_the_whole(stored: tuple[Stored, Stored]) -> None:
    few, _ = stored

    async def work(database: Database) -> None:
        async with database.connection() as connection:
            whole = await pages.changes(connection, BIG)
            assert {one.kind for one in whole} == set(CHANGE_KINDS)
            assert await pages.count_changes(connection, BIG) == len(whole) == 3 * FEW
            parts = [await pages.changes(connection, BIG, limit=70, offset=start) for start in range(0, 3 * FEW, 70)]
            assert [change for part in parts for change in part] == whole
            latest = await latest_changes(connection, BIG, limit=3 * FEW)
            assert sorted(latest, key=lambda one: (one.by, one.url)) == whole
            for kind in CHANGE_KINDS:
                of_kind = await latest_changes(connection, BIG, kind=kind, limit=3 * FEW)
                assert of_kind == [one for one in latest if one.kind == kind]
            story = await pages.versions(database, f"https://{BIG}/1")
            short = await pages.versions(database, f"https://{BIG}/1", last=5)
            assert short.periods == story.periods[-5:]
            assert await pages.count_periods(connection, f"https://{BIG}/1") == len(story.periods)
            sources = await list_sources(connection)
            assert await list_sources(connection, limit=7, offset=3) == sources[3:10]
            assert await count_sources(connection) == len(sources)

    few.core(work)


def test_a_part_of_the_sources(stored: tuple[Stored, Stored]) -> None:
    # all are counted; documents only of those that are shown
    assert grows(stored, lambda one: one.web("/api/sources?limit=5&offset=5")) == ("sources",)


def test_the_state_of_quotes(stored: tuple[Stored, Stored]) -> None:
    async def of_answers(database: Database) -> None:
        assert len(await citation_states(database, answers=[2, 3, 4, 7, 8])) == 5

    async def of_documents(database: Database) -> None:
        assert len(await citation_states(database, documents=[2, 3, 4])) == 6

    assert grows(stored, lambda one: one.core(of_answers)) == ()
    assert grows(stored, lambda one: one.core(of_documents)) == ()


def test_sentences_are_proved_again(stored: tuple[Stored, Stored]) -> None:
    async def of_an_answer(database: Database) -> None:
        async with database.connection() as connection:
            assert len([name async for name, _ in recheck(connection, 2)]) == 3

    async def of_all(database: Database) -> None:
        async with database.connection() as connection:
            assert len([name async for name, _ in recheck(connection)]) == 3 * FEW

    few, _ = stored
    assert grows(stored, lambda corpus: corpus.core(of_an_answer)) == ()
    assert few.core(of_all)["document_versions"] <= FEW  # each version once, for three sentences


def test_the_states_of_all_quotes_are_read_in_parts(stored: tuple[Stored, Stored]) -> None:
    async def first(database: Database) -> None:
        async with aclosing(each_citation_state(database, answers=every)) as states:
            assert (await anext(states)).answer_id == every[-1]

    async def all_of_them(database: Database) -> None:
        assert [one.answer_id for one in await citation_states(database)] == [*reversed(every)]

    # the first state costs a part, and all parts together what they hold: no part is found by way of those before
    reads: list[tuple[int, int]] = []
    for one, size in zip(stored, (FEW, MANY), strict=True):
        every = range(1, 2 * size + 1)
        reads.append((one.core(first).total(), one.core(all_of_them).total() // size))
    assert reads[1][0] <= reads[0][0]
    assert reads[1][1] <= 2 * reads[0][1]


def test_a_search_by_valid_time(stored: tuple[Stored, Stored]) -> None:
    # the pages that do not say when they hold are counted; the versions are loaded of the others only
    body = {"question": "How much does the kettle hold?", "at": "2024-06-01", "time": "valid"}

    def work(one: Stored) -> Counter[str]:
        return one.reads(lambda: one.client.post("/api/search", json=body).raise_for_status())

    assert set(grows(stored, work)) <= {"documents", "version_periods"}
