"""What the embedded server is given of the machine, and vacuum after bulk loads."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest

from webrag_core.config import Settings, load_settings
from webrag_core.store import server_resources
from webrag_core.store.database import Database
from webrag_core.store.server_resources import ServerResources, memory_mb
from webrag_core.store.vacuum import vacuum_grown


def test_shares_of_the_memory_and_what_the_settings_say_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_resources, "memory_mb", lambda: 16_000)
    monkeypatch.setattr(server_resources, "_cores", lambda: 4)
    assert ServerResources.of_machine() == ServerResources(2000, 4000, 8000, 3)
    chosen = ServerResources.chosen(load_settings(database_shared_buffers=512, database_maintenance_workers=0))
    assert chosen == ServerResources(512, 4000, 8000, 0)
    monkeypatch.setattr(server_resources, "memory_mb", lambda: 200)
    monkeypatch.setattr(server_resources, "_cores", lambda: 1)
    assert ServerResources.of_machine() == ServerResources(128, 64, 128, 1)
    monkeypatch.setattr(server_resources, "memory_mb", lambda: 1_000_000)
    monkeypatch.setattr(server_resources, "_cores", lambda: 128)
    assert ServerResources.of_machine() == ServerResources(8192, 250_000, 500_000, 7)


def test_the_limit_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(server_resources, "_LIMITS", (limit, tmp_path / "absent"))
    whole = memory_mb()
    limit.write_text("max\n")
    assert memory_mb() == whole
    limit.write_text(f"{300 * 2**20}\n")
    assert memory_mb() == 300


def test_the_server_runs_with_them(server_url: str) -> None:
    with psycopg.connect(server_url) as connection:
        shown = [
            connection.execute(f"SHOW {name}").fetchone()
            for name in ("shared_buffers", "maintenance_work_mem", "max_parallel_maintenance_workers")
        ]
    assert shown == [("128MB",), ("128MB",), ("1",)]


def test_tables_that_have_grown_are_vacuumed_and_no_others(settings: Settings) -> None:
    async def body() -> None:
        async with await Database.open(settings) as database:
            async with database.connection() as connection:
                await connection.execute(
                    "INSERT INTO lexical_terms (term) SELECT n::text FROM generate_series(1, 2000) n"
                )
                await connection.execute("INSERT INTO sources (key) VALUES ('a.example')")
                await connection.execute("SELECT pg_stat_force_next_flush()")
                await connection.execute("SELECT 1")
            assert await vacuum_grown(database, ("lexical_terms", "sources")) == ["lexical_terms"]
            assert await vacuum_grown(database, ("lexical_terms", "sources")) == []

    asyncio.run(body())
