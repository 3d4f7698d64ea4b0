"""Migrations on a real server."""

from __future__ import annotations

import asyncio
import traceback

import psycopg
import pytest

from tests.conftest import apply_migrations
from webrag_core.config import Settings
from webrag_core.errors import StoreError
from webrag_core.store.database import Database
from webrag_core.store.migrate import migrations

pytestmark = pytest.mark.unmigrated


def test_each_migration_applies_once_and_in_order(database_url: str) -> None:
    names = [migration.name for migration in migrations()]
    assert names == sorted(names)
    assert asyncio.run(apply_migrations(database_url)) == names
    assert asyncio.run(apply_migrations(database_url)) == []


def test_concurrent_callers_wait_for_the_one_that_works(database_url: str) -> None:
    async def race() -> list[list[str]]:
        return await asyncio.gather(*(apply_migrations(database_url) for _ in range(5)))

    applied = asyncio.run(race())
    assert sorted(map(len, applied)) == [0, 0, 0, 0, len(migrations())]


def test_a_newer_database_is_refused_and_left_alone(settings: Settings, database_url: str) -> None:
    asyncio.run(apply_migrations(database_url))
    with psycopg.connect(database_url) as connection:
        connection.execute("INSERT INTO schema_migrations (name) VALUES ('9999_future.sql')")
    with pytest.raises(StoreError, match=r"9999_future\.sql") as caught:
        asyncio.run(Database.open(settings))
    assert caught.value.code == "database_too_new"


_BY_FILES = [f"{number:04}_of_then.sql" for number in range(1, 34)]
"""Names of what the schema stands for; only the last one is looked at."""


def noted(url: str, names: list[str]) -> None:
    """Have the database name these migrations in place of the schema."""
    with psycopg.connect(url) as connection:
        connection.execute("DELETE FROM schema_migrations WHERE name = '0034_schema.sql'")
        connection.cursor().executemany("INSERT INTO schema_migrations (name) VALUES (%s)", [(name,) for name in names])


def test_a_corpus_of_single_files_is_opened_from_the_last_of_them_on(settings: Settings, database_url: str) -> None:
    asyncio.run(apply_migrations(database_url))
    noted(database_url, [*_BY_FILES, "0034_answer_origins.sql"])
    assert asyncio.run(apply_migrations(database_url)) == []


def test_an_older_corpus_is_refused_with_the_version_that_migrates_it(settings: Settings, database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("CREATE TABLE schema_migrations (name text PRIMARY KEY)")
    noted(database_url, _BY_FILES)
    with pytest.raises(StoreError, match=r"its last migration is 0033.*WebRAG at commit 0477561") as caught:
        asyncio.run(Database.open(settings))
    assert caught.value.code == "database_too_old"


def test_a_migration_that_fails_leaves_nothing(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("CREATE TABLE answer_runs (id integer)")  # in the way of the first file
    with pytest.raises(psycopg.errors.DuplicateTable):
        asyncio.run(apply_migrations(database_url))
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT to_regclass('documents'), to_regclass('schema_migrations')").fetchone() == (
            None,
            None,
        )


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunter2@127.0.0.1:1/db",
        "postgresql://me:hunter2@no-such-host.invalid/db",
        "me:hunter2@127.0.0.1/db",
        "postgresql://me:hunter2@127.0.0.1:port/db",
    ],
)
def test_an_unreachable_database_tells_no_password(url: str) -> None:
    with pytest.raises(StoreError) as caught:
        asyncio.run(Database.open(Settings(database_url=url)))
    assert caught.value.code == "database_unavailable"
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))
