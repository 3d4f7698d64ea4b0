"""Shared fixtures: one embedded PostgreSQL per test session, one fresh database per test that asks for one."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from webrag_core.config import Settings
from webrag_core.store.embedded import embedded_url

REPOSITORY = Path(__file__).parent.parent
FROZEN_SITE = REPOSITORY / "evals" / "sites" / "python-3.11.warc.gz"

_OURS = {name.upper() for name in Settings.model_fields}


@pytest.fixture(autouse=True)
def _no_outside_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the developer's shell sets must not change a test."""
    for name in list(os.environ):
        if name.upper() in _OURS:
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Connection URL of a real PostgreSQL with pgvector that lives as long as the session."""
    return embedded_url(tmp_path_factory.mktemp("webrag"))


@pytest.fixture
def database_url(server_url: str) -> Iterator[str]:
    """A fresh, empty database; dropped afterwards."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    yield server_url.replace("/postgres?", f"/{name}?", 1)
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def settings(database_url: str) -> Settings:
    """Defaults, on the fresh database, with the frozen site in place of the web."""
    return Settings(_env_file=None, database_url=database_url, webrag_warc=FROZEN_SITE)


@pytest.fixture
def run() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Run a coroutine to its end."""
    return asyncio.run
