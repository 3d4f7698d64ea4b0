"""Pool, transactions and snapshots."""

from __future__ import annotations

import ast
import asyncio

import psycopg
import pytest

from tests.conftest import REPOSITORY
from webrag_core.config import Settings
from webrag_core.errors import StoreError
from webrag_core.store.database import Database, require_sessions
from webrag_core.store.migrate import Migration, apply

EVERY_NOTE = "SELECT * FROM notes"


def test_a_transaction_is_all_or_nothing(settings: Settings) -> None:
    async def run() -> int:
        async with await Database.open(settings) as database:
            with pytest.raises(StoreError):  # noqa: PT012
                async with database.transaction() as connection:
                    await connection.execute("INSERT INTO sources (key) VALUES ('a.test')")
                    await connection.execute("SELECT 1/0")
            async with database.connection() as connection:
                row = await (await connection.execute("SELECT count(*) FROM sources")).fetchone()
                assert row is not None
                return int(row[0])

    assert asyncio.run(run()) == 0


def test_a_snapshot_sees_one_state_and_writes_nothing(settings: Settings) -> None:
    count = "SELECT count(*) FROM sources"

    async def run() -> None:
        async with await Database.open(settings) as database:
            async with database.snapshot() as reader:
                before = await (await reader.execute(count)).fetchone()
                async with database.transaction() as writer:
                    await writer.execute("INSERT INTO sources (key) VALUES ('a.test')")
                assert await (await reader.execute(count)).fetchone() == before == (0,)
            with pytest.raises(StoreError):
                async with database.snapshot() as reader:
                    await reader.execute("INSERT INTO sources (key) VALUES ('b.test')")

    asyncio.run(run())


def test_a_pipelined_snapshot_sees_one_state_and_survives_what_the_server_refuses(settings: Settings) -> None:
    async def run() -> None:
        async with await Database.open(settings) as database:
            count = "SELECT count(*) FROM sources"
            for _ in range(10):  # more often than there are connections
                async with database.pipelined_snapshot() as reader:
                    before = await reader.execute(count)
                    assert await before.fetchone() == (0,)
                    async with database.connection() as writer:
                        await writer.execute("INSERT INTO sources (key) VALUES ('a.example')")
                    after = await reader.execute(count)
                    assert await after.fetchone() == (0,)
                async with database.connection() as writer:
                    await writer.execute("DELETE FROM sources")
                for refused in ("SELECT 1 / 0", "INSERT INTO sources (key) VALUES ('b.example')", "not SQL"):
                    with pytest.raises(StoreError):  # noqa: PT012
                        async with database.pipelined_snapshot() as reader:
                            cursor = await reader.execute(refused.encode())
                            await reader.execute(count)
                            await cursor.fetchone()
                    with pytest.raises(ZeroDivisionError):  # noqa: PT012
                        async with database.pipelined_snapshot() as reader:
                            await reader.execute(count)
                            raise ZeroDivisionError

    asyncio.run(run())


async def _prepared_for_other_columns(database: Database, column: str) -> int:
    """Have the driver prepare a statement (after five times), then change what it gives. Its session's process."""
    async with database.connection() as connection:
        for _ in range(7):
            await connection.execute(EVERY_NOTE)
    with psycopg.connect(database.url, autocommit=True) as other:
        other.execute(f"ALTER TABLE notes ADD COLUMN {column} int".encode())
    return connection.info.backend_pid


def test_a_table_that_another_session_changes_is_read_with_a_new_plan(settings: Settings) -> None:
    """As beside `webrag db migrate`. What fails as a whole says what to do; the next attempt has a new plan."""

    async def run() -> None:
        async with await Database.open(settings) as database:
            async with database.connection() as connection:
                await connection.execute("CREATE TABLE notes (number int)")
                await connection.execute("INSERT INTO notes VALUES (7)")
            for column in ("second", "third"):
                pid = await _prepared_for_other_columns(database, column)
                async with database.connection() as connection:
                    assert connection.info.backend_pid == pid
                    cursor = await connection.execute(EVERY_NOTE)
                    assert [note.name for note in cursor.description or ()][-1] == column
            for column in ("transaction", "snapshot", "pipelined_snapshot"):
                pid = await _prepared_for_other_columns(database, f"{column}_column")
                with pytest.raises(StoreError, match="changed its tables") as caught:  # noqa: PT012
                    async with getattr(database, column)() as connection:
                        assert connection.info.backend_pid == pid
                        await (await connection.execute(EVERY_NOTE)).fetchone()
                assert caught.value.code == "database_busy"
                async with getattr(database, column)() as connection:
                    assert connection.info.backend_pid == pid
                    assert await (await connection.execute(EVERY_NOTE)).fetchone()

    asyncio.run(run())


_TAKING = {"connection", "transaction", "snapshot", "pipelined_snapshot", "long_job"}


def _nested(text: str) -> list[str]:
    """Calls inside `async with database.connection()`, or the like, that are given the database to take another."""
    found = []
    for block in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.AsyncWith)):
        for place, item in enumerate(block.items):
            call = item.context_expr
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _TAKING):
                continue
            database = ast.unparse(call.func.value)
            if not database.endswith("database"):
                continue
            inside = [*(later.context_expr for later in block.items[place + 1 :]), *block.body]
            for inner in (node for part in inside for node in ast.walk(part) if isinstance(node, ast.Call)):
                given = {ast.unparse(value) for value in [*inner.args, *(one.value for one in inner.keywords)]}
                takes = isinstance(inner.func, ast.Attribute) and inner.func.attr in _TAKING
                if database in given or (takes and ast.unparse(inner.func).startswith(f"{database}.")):
                    found.append(f"{inner.lineno}: {ast.unparse(inner)}")
    return found


def test_nobody_holds_a_connection_while_taking_another() -> None:
    """With as many as the pool has, each would wait for the others."""
    files = [path for part in ("webrag_core", "webrag_dagster") for path in (REPOSITORY / part).rglob("*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    taking = {path: text for path, text in texts.items() if "database" in text and "async with" in text}
    assert {str(path): nested for path, text in taking.items() if (nested := _nested(text))} == {}
    assert _nested("async with await open() as database, database.connection() as c:\n    await repair(database)")
    assert _nested("async with self._database.snapshot() as c, self._database.connection() as d: pass")


@pytest.mark.parametrize("statement", ["DROP TYPE none", "COPY (SELECT 1) TO '/no/such/folder/file'", "LOAD 'none'"])
def test_only_what_creates_an_extension_says_that_it_lacks(settings: Settings, statement: str) -> None:
    """Other statements fail with the same states."""

    async def run() -> None:
        async with await Database.open(settings) as database:
            with pytest.raises(StoreError, match="refused a statement"):
                async with database.connection() as connection:
                    await connection.execute(statement.encode())

    asyncio.run(run())


@pytest.mark.unmigrated
def test_a_server_without_the_extension_is_named_as_such(database_url: str) -> None:
    async def run() -> None:
        async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
            missing = Migration("0001.sql", "CREATE EXTENSION IF NOT EXISTS no_such_extension")
            with pytest.raises(StoreError, match="lacks the pgvector extension"):
                await apply(connection, missing)

    asyncio.run(run())


def test_what_the_server_refuses_is_our_error_and_the_connection_goes_back(settings: Settings) -> None:
    async def run() -> None:
        async with await Database.open(settings) as database:
            for statement in ("SELECT * FROM no_such_table", "SELECT 1/0", "INSERT INTO sources (key) VALUES ('')"):
                for _ in range(3):
                    with pytest.raises(StoreError, match="SQLSTATE"):
                        async with database.connection() as connection:
                            await connection.execute(statement)
            async with database.connection() as connection:
                assert await (await connection.execute("SELECT 1")).fetchone() == (1,)

    asyncio.run(run())


def test_connections_cut_by_the_server_are_replaced(settings: Settings, database_url: str) -> None:
    async def run() -> None:
        async with await Database.open(settings) as database:
            with pytest.raises(StoreError):  # noqa: PT012
                async with database.connection() as connection:
                    with psycopg.connect(database_url, autocommit=True) as other:
                        other.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))
                    await connection.execute("SELECT 1")
            async with database.connection() as connection:
                assert await (await connection.execute("SELECT 1")).fetchone() == (1,)

    asyncio.run(run())


def test_a_closed_database_says_so(settings: Settings) -> None:
    async def run() -> None:
        database = await Database.open(settings)
        await database.close()
        with pytest.raises(StoreError):
            async with database.connection():
                pass

    asyncio.run(run())


def test_connections_that_share_a_session_are_refused(database_url: str) -> None:
    async def run() -> None:
        async with (
            await psycopg.AsyncConnection.connect(database_url, autocommit=True) as first,
            await psycopg.AsyncConnection.connect(database_url, autocommit=True) as second,
        ):
            await require_sessions(first, second)
            with pytest.raises(StoreError, match="transaction mode") as refused:
                await require_sessions(first, first)  # what a pooler's clients see
            assert refused.value.code == "database_pooled"

    asyncio.run(run())
