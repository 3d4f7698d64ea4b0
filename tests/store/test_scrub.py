"""Tables are written anew as far as the role may, and what it may not reach is named."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql

from webrag_core.errors import StoreError
from webrag_core.store.database import Database, Limits
from webrag_core.store.scrub import rewrite

pytestmark = pytest.mark.slow


@pytest.fixture
def limited_url(database_url: str) -> Iterator[str]:
    """The database as a role sees it that owns one table of it and is no superuser."""
    role = f"limited_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role)))
        connection.execute(sql.SQL("GRANT USAGE, CREATE ON SCHEMA public TO {}").format(sql.Identifier(role)))
        connection.execute("CREATE TABLE notes (words text)")
        connection.execute(sql.SQL("ALTER TABLE notes OWNER TO {}").format(sql.Identifier(role)))
        yield f"{database_url}&options={quote(f'-c role={role}')}"
        connection.execute("DROP TABLE notes")
        connection.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(role)))
        connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


def test_what_the_role_may_not_do_is_named(limited_url: str) -> None:
    done = asyncio.run(rewrite(Database(limited_url, Limits(5, 60))))
    assert done.tables == 1
    assert [
        what for what in ("another role", "pg_statistic", "CHECKPOINT") if what not in " ".join(done.not_reached)
    ] == []


def test_a_session_that_sees_the_deleted_rows_is_named_and_nothing_written(database_url: str) -> None:
    with psycopg.connect(database_url) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM documents")
        with psycopg.connect(database_url, autocommit=True) as writer:
            writer.execute("INSERT INTO breakers (name) SELECT 'x' WHERE false")
            writer.execute("SELECT pg_current_xact_id()")
        with pytest.raises(StoreError, match="another session still reads") as refused:
            asyncio.run(rewrite(Database(database_url, Limits(0.5, 60))))
    assert refused.value.code == "database_busy"
