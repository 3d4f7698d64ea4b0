"""Locks of others, statements without end, read-only and full databases: an answer, or an error with its reason."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from tests.command_line import Webrag, webrag_here
from tests.conftest import FROZEN_SITE
from tests.mcp_server.clients import called, connected, text_of
from webrag_core.config import Settings
from webrag_core.errors import StoreError
from webrag_core.store.database import Database

__all__ = ["webrag_here"]

PAGE = "https://docs.python.org/3.11/library/queue.html"
WARC = {"WEBRAG_WARC": str(FROZEN_SITE)}


@contextmanager
def locked(database_url: str, *tables: str) -> Iterator[None]:
    """Another session that holds ACCESS EXCLUSIVE locks."""
    with psycopg.connect(database_url) as other:
        for table in tables:
            other.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE".encode())
        yield


def code(output: str) -> str:
    return str(json.loads(output)["error"]["code"])


@pytest.mark.slow
def test_a_held_lock_ends_commands_and_tools(webrag_here: Webrag, settings: Settings, database_url: str) -> None:
    assert webrag_here("ingest", PAGE, **WARC).returncode == 0
    short = {"DATABASE_LOCK_TIMEOUT": "0.2", **WARC}

    async def tools() -> list[str]:
        limited = settings.model_copy(update={"database_lock_timeout": 0.2})
        async with connected(limited) as client:
            await called(client, "status")
            async with await psycopg.AsyncConnection.connect(database_url) as other:  # the server reads in this loop
                await other.execute("LOCK TABLE documents, document_versions IN ACCESS EXCLUSIVE MODE")
                results = [await called(client, "status"), await called(client, "ingest", urls=PAGE)]
            return [text_of(result) for result in results]

    with locked(database_url, "documents", "document_versions"):
        for command in (("status",), ("search", "queue"), ("ingest", PAGE, "--refresh")):
            done = webrag_here(*command, "--json", **short)
            assert done.returncode == 1, command
            assert code(done.stdout) == "database_busy", command
    for text in asyncio.run(tools()):
        assert "[ERROR] database_busy" in text
    with locked(database_url, "schema_migrations"):
        assert code(webrag_here("status", "--json", **short).stdout) == "database_busy"
    assert webrag_here("status", **short).returncode == 0


def test_a_statement_has_its_time_and_a_long_job_takes_its_own(settings: Settings) -> None:
    limited = settings.model_copy(update={"database_statement_timeout": 0.1})

    async def work() -> None:
        async with await Database.open(limited) as database:
            with pytest.raises(StoreError, match=r"0\.1 s") as caught:
                async with database.connection() as connection:
                    await connection.execute("SELECT pg_sleep(5)")
            assert caught.value.code == "database_busy"
            async with database.long_job() as connection:
                await connection.execute("SELECT pg_sleep(0.2)")

    asyncio.run(work())


def test_limits_of_the_address_are_kept(settings: Settings, database_url: str) -> None:
    own = f"{database_url}&options=-c%20statement_timeout%3D7s"

    async def limits() -> tuple[str, ...]:
        async with (
            await Database.open(settings.model_copy(update={"database_url": own})) as database,
            database.connection() as connection,
        ):
            cursor = await connection.execute(
                "SELECT current_setting('statement_timeout'), current_setting('lock_timeout')"
            )
            return await cursor.fetchone() or ()

    assert asyncio.run(limits()) == ("7s", "30s")


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        *[("53100", "disk_full"), ("25006", "database_read_only"), ("XX001", "database_damaged")],
        *[("57014", "database_busy"), ("55P03", "database_busy")],
    ],
)
def test_a_reason_of_its_own(settings: Settings, state: str, expected: str) -> None:
    async def work() -> None:
        async with await Database.open(settings) as database, database.connection() as connection:
            await connection.execute(f"DO $$ BEGIN RAISE SQLSTATE '{state}'; END $$".encode())

    with pytest.raises(StoreError, match=state) as caught:
        asyncio.run(work())
    assert caught.value.code == expected


def test_a_read_only_database_is_searched(webrag_here: Webrag, database_url: str) -> None:
    assert webrag_here("ingest", PAGE, **WARC).returncode == 0
    name = psycopg.conninfo.conninfo_to_dict(database_url)["dbname"]
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on".encode())
    found = webrag_here("search", "queue maxsize", "--json")
    assert found.returncode == 0, found.stdout
    assert PAGE in found.stdout
    assert webrag_here("status").returncode == 0
    assert code(webrag_here("ingest", PAGE, "--refresh", "--json", **WARC).stdout) == "database_read_only"
