"""Every table of the schema is listed once, with what of pages it holds; nothing of a forgotten page is left in any."""

from __future__ import annotations

import asyncio
import importlib
import json
import pkgutil
import re

import psycopg
import pytest
from psycopg import sql

from tests.acquisition.served_pages import HOME, ServedPages
from tests.corpus.corpora import broken_rules, rows
from webrag_core.acquisition.sitemaps.models import MapEntry, MapSymbol
from webrag_core.answering.manager import Manager, Question
from webrag_core.config import Settings
from webrag_core.corpus.forget import forget
from webrag_core.corpus.forgotten_words import redact_runs
from webrag_core.corpus.sources import attach_source
from webrag_core.corpus.tables import TABLES, VIEWS, table_of
from webrag_core.corpus.verification import RULES
from webrag_core.corpus.works import update_works
from webrag_core.feedback.models import Better, NewFeedback
from webrag_core.feedback.store import record
from webrag_core.history.citations import citation_states
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.store.database import Database

WORDS = {f"{HOME}docs/1.0/p": "zorbel", f"{HOME}docs/2.0/p": "quixel"}
"""Pages, and the word that stands in every text, name and property of each and nowhere else."""
ALIASES = {f"{HOME}moved/zorbel": f"{HOME}docs/1.0/p", f"{HOME}moved/quixel": f"{HOME}docs/2.0/p"}
PARTS = {"works.key", "work_members.label"}
"""Parts of addresses."""
OTHER_TEXTS = {"document_versions.markdown", "chunks.body"}
"""Texts of other pages, which may link to it."""
_KEYS = """
SELECT t.table_name, array_agg(k.column_name::text ORDER BY k.ordinal_position)
FROM information_schema.tables t
JOIN information_schema.table_constraints c USING (table_schema, table_name)
JOIN information_schema.key_column_usage k USING (constraint_schema, constraint_name)
WHERE t.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.constraint_type = 'PRIMARY KEY' GROUP BY 1
"""
_COLUMNS = """
SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables
 USING (table_schema, table_name)
WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND data_type IN ('text', 'jsonb', 'json', 'ARRAY', 'bytea')
"""
_CASCADES = """
SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint WHERE contype = 'f' AND confdeltype = 'c'
"""
_BY_TRIGGER = {
    ("document_sizes", "documents"),
    ("source_sizes", "sources"),
    ("month_sizes", "sources"),
    ("works", "work_members"),
}
"""What goes with another table without a foreign key: a trigger or a statement removes it."""


def test_every_table_of_the_schema_is_listed_with_its_key(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        keys = {table_of(name).name: tuple(columns) for name, columns in connection.execute(_KEYS).fetchall()}
    assert keys == {table.name: table.key for table in TABLES if not table.per_model or table.name in keys}


def test_every_column_that_is_named_is_there(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        columns = {f"{name}.{column}" for name, column in connection.execute(_COLUMNS).fetchall()}
    assert set(columns_of_words()) <= columns


def test_rows_with_words_of_pages_go_or_lose_them() -> None:
    for table in TABLES:
        ways = (table.document, table.urls, table.source, table.goes_with, table.redaction, table.stays)
        assert any(ways), table.name


def test_what_goes_with_another_table_does(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        cascades = {(name, parent) for name, parent in connection.execute(_CASCADES).fetchall()}
    for table in TABLES:
        if table.goes_with is not None:
            assert (table.name, table.goes_with) in cascades | _BY_TRIGGER


def test_owners_and_functions_exist() -> None:
    for table in TABLES:
        importlib.import_module(table.owner)
        assert table.redaction is None or callable(pkgutil.resolve_name(table.redaction))


def test_every_rule_is_about_a_table_and_every_table_names_rules_that_are_there() -> None:
    assert {rule for table in TABLES for rule in table.invariants} == set(RULES)


def test_every_view_has_a_purpose(database_url: str) -> None:
    query = "SELECT table_name FROM information_schema.views WHERE table_schema = 'contract'"
    with psycopg.connect(database_url) as connection:
        assert {row[0] for row in connection.execute(query).fetchall()} == set(VIEWS)


def columns_of_words() -> list[str]:
    return [f"{table.name}.{column}" for table in TABLES for column in table.words]


def page_of(word: str, other: str, said: str) -> str:
    """A page that says its word wherever a page can say something, and links to another."""
    title = word.capitalize()
    data = {
        "@context": "https://schema.org",
        "@type": "Article",
        "@id": f"urn:{word}",
        "name": f"{title} article",
        "about": {"@type": "Thing", "name": f"{title} matter"},
        "isBasedOn": other,
    }
    return (
        f"<html><head><title>{title} handbook</title><meta name=description content='Of {word}'>"
        f"<script type='application/ld+json'>{json.dumps(data)}</script></head><body><main><h1>{title} handbook</h1>"
        f"<p>{title} {said} <a href='{other}' title='{word}'>after {word}</a></p>"
        f"<h2 id='{word}-kinds'>Kinds of {word}</h2><table><tr><th>Service</th><th>Port</th></tr>"
        f"<tr><td>brewer</td><td>{word} harbour 4080</td></tr>"
        f"<tr><td>steamer</td><td>{word} harbour 4081</td></tr></table>"
        f"<dl><dt>{title}ine</dt><dd>{title}ine is brewed in cellars.</dd></dl></main></body></html>"
    )


async def fill(corpus: Corpus, site: ServedPages) -> list[int]:
    """Everything that can hold a word of a page: versions, links, graph, map, inventory, works, answers, feedback.
    Returns the numbers of the answers."""
    async with corpus.database.connection() as connection:
        await attach_source(connection, HOME, 10)
    for url in (*ALIASES, HOME):
        await corpus.add(url, run_id="r1")
    await corpus.refresher().run("example.org")
    await update_works(corpus.database)
    first, last = WORDS
    await OrchestratorEngine(corpus).run(AnswerRequest((last, HOME), "Who brews quinquina in a cellar?"))
    await OrchestratorEngine(corpus).run(AnswerRequest((first,), "Who brews quinquina in a cellar?"))
    manager = Manager(corpus)
    for question in (
        Question("Who brews quinquina in a cellar?"),
        Question("What is the port of the steamer?"),
        Question(f"What links to {first}?"),
        Question(f"What links to {last}?"),
    ):
        answer = await manager.answer(question)
    for url, word in WORDS.items():
        new = NewFeedback(
            answer_id=answer.answer_id or 0,
            kind="better_source",
            actor="Ada",
            actor_kind="person",
            text=f"It is {word} green.",
            better=Better(url, f"{word} harbour 4080"),
        )
        await record(corpus.database, new)
        site.pages[url] = page_of(word, HOME, "no longer brews anything since 1999.")
        await corpus.add(url, run_id="r2", refresh=True)
    await citation_states(corpus.database)
    async with corpus.database.transaction() as connection:
        for url, word in WORDS.items():
            for statement in _SELDOM:
                await connection.execute(statement, {"url": url, "word": word, "failed": f"{url} did not answer"})
        cursor = await connection.execute("SELECT id FROM answer_runs ORDER BY id")
        return [int(row[0]) for row in await cursor.fetchall()]


_SELDOM = (
    "INSERT INTO skipped_urls (source_id, url, reason) SELECT id, %(url)s, 'page_limit' FROM sources",
    "UPDATE refresh_runs SET warnings = warnings || to_jsonb(%(failed)s::text)",
    "UPDATE answer_runs SET reason = concat_ws('; ', reason, %(failed)s::text),"
    " warnings = warnings || to_jsonb(%(failed)s::text)",
    "UPDATE route_tasks SET error = jsonb_build_object('code', 'failed', 'message',"
    " concat_ws('; ', error ->> 'message', %(failed)s::text))",
    "INSERT INTO watches (kind, url, heading, digest) VALUES ('section', %(url)s, ARRAY[%(word)s],"
    " decode(md5(%(url)s), 'hex'))",
    "INSERT INTO watches (kind, question, digest) VALUES ('question', concat('What links to ', %(url)s::text),"
    " sha256(convert_to(%(url)s::text, 'UTF8')))",
    "UPDATE citation_checks k SET facts_changed = ARRAY[%(word)s] FROM citations c JOIN document_versions v"
    " ON v.id = c.version_id JOIN documents d ON d.id = v.document_id"
    " WHERE d.canonical_url = %(url)s AND c.answer_id = k.answer_id AND c.number = k.number",
    "UPDATE document_versions v SET archive_url = concat('https://archive.example/web/2020/', %(url)s::text)"
    " FROM documents d WHERE d.id = v.document_id AND d.canonical_url = %(url)s",
)
"""What failures, watches, changed facts and archives write."""


def places(database_url: str, text: str) -> set[str]:
    """Columns of all tables, as table.column, in which a text stands."""
    query = "SELECT EXISTS (SELECT FROM {} t WHERE strpos(lower({}::text), %s) > 0)"
    found = set()
    with psycopg.connect(database_url) as connection:
        for name, column in connection.execute(_COLUMNS).fetchall():
            statement = sql.SQL(query).format(sql.Identifier(name), sql.Identifier(column))
            if connection.execute(statement, (text,)).fetchone() == (True,):
                found.add(f"{table_of(name).name}.{column}")
    return found


def filled(database_url: str) -> set[str]:
    """Tables with rows."""
    with psycopg.connect(database_url) as connection:
        names = [row[0] for row in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
        query = sql.SQL("SELECT EXISTS (SELECT FROM {})")
        return {
            table_of(name).name
            for name in names
            if connection.execute(query.format(sql.Identifier(name))).fetchone() == (True,)
        }


def test_nothing_of_a_forgotten_page_is_left_in_any_column(settings: Settings, database_url: str) -> None:
    first, last = WORDS
    links = "".join(f"<p>Tea is brewed <a href='{url}'>here</a>.</p>" for url in WORDS)
    pages = {
        first: page_of(WORDS[first], last, "of Sutton brews quinquina in a cellar."),
        last: page_of(WORDS[last], first, "of Upton brews quinquina in a cellar."),
        HOME: f"<html><head><title>Home</title></head><body><main><h1>Home</h1>{links}</main></body></html>",
    }
    site = ServedPages(pages, dict(ALIASES))
    for url, word in WORDS.items():
        site.entries.append(MapEntry(url, f"{word} in the map", f"What {word} is", listed_in="feed", words=word))
    site.symbols = [MapSymbol(url, f"{word}.brew", "py:function", f"{word}.brew") for url, word in WORDS.items()]

    async def work() -> None:
        async with Corpus.open(settings, site) as corpus:
            answers = await fill(corpus, site)
            for url, word in WORDS.items():
                assert places(database_url, word) | places(database_url, url) == set(columns_of_words()) - PARTS
            for url, word in WORDS.items():
                await forget(corpus.database, url, removed_by="test")
                assert places(database_url, word) == {"lexical_terms.term"}
                assert places(database_url, url) <= OTHER_TEXTS
                assert await broken_rules(corpus.database) == set()
            for target in (*map(str, answers), "example.org"):
                await forget(corpus.database, target, removed_by="test")
            kept = {table.name for table in TABLES if table.stays and table.answer is None}
            assert filled(database_url) - kept == set()

    asyncio.run(work())


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("{0}", "GONE"),
        ("What links to {0}?", "What links to GONE?"),
        ("See {0}#part, ({0}): {0}.", "See GONE, (GONE): GONE."),
        ("page:{0}", "page:GONE"),
        ("{0}x {0}/x {0}-x {0}.x {0}?x=1 {0}&x {0};x {0}%20x", None),
    ],
)
def test_an_address_goes_and_longer_ones_stay(settings: Settings, said: str, left: str | None) -> None:
    url = f"{HOME}a"
    given = said.format(url)

    async def work() -> None:
        async with await Database.open(settings) as database, database.connection() as connection:
            await connection.execute(
                "INSERT INTO answer_runs (kind, query, options, prose) VALUES ('prose', %s, '{}', to_jsonb(%s::text))",
                (given, given),
            )
            await redact_runs(connection, url)
            [(query, prose)] = await rows(database, "SELECT query, prose FROM answer_runs")
            assert query == prose
            assert re.sub("removed:[0-9a-f]{64}", "GONE", query) == (given if left is None else left)

    asyncio.run(work())
