"""Shared fixtures: one embedded PostgreSQL per test session, one fresh database per test that asks for one."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import time
import uuid
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import psycopg
import pytest
from filelock import FileLock
from psycopg import sql

from webrag_core.config import Settings
from webrag_core.corpus.tables import MIGRATIONS, table_of
from webrag_core.store.embedded import embedded_url
from webrag_core.store.migrate import migrate
from webrag_core.store.server_resources import ServerResources

if TYPE_CHECKING:
    from playwright.sync_api import Browser

REPOSITORY = Path(__file__).parent.parent
FROZEN_SITE = REPOSITORY / "evals" / "sites" / "python-3.11.warc.gz"

if sys.dont_write_bytecode:  # tests start Python a hundred times: let it compile the libraries once, to pytest's cache
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(REPOSITORY / ".pytest_cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a process of pytest's per core: a second thread only waits, busily

# no test may reach the corpus of whoever runs them; `_no_outside_settings` removes WEBRAG_HOME
os.environ["XDG_DATA_HOME"] = str(REPOSITORY / ".pytest_cache" / "data" / os.environ.get("PYTEST_XDIST_WORKER", "one"))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background: Dagster would have SIGTERM ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)

# no test depends on the clock: what is too slow is a matter of benchmarks
hypothesis.settings.register_profile(
    "without clock", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("without clock")

_OURS = {name.upper() for name in Settings.model_fields}


_COMPILING = pytest.StashKey[FileLock]()
_LONG_FILES = ("test_completeness.py", "test_gate.py", "test_worker.py", "test_engine.py", "test_naughty_strings.py")


def pytest_xdist_auto_num_workers() -> int:
    """As many processes as cores, at least two and at most four: each imports everything, which costs half a minute,
    and has a server."""
    return max(2, min(4, len(os.sched_getaffinity(0)))) if hasattr(os, "sched_getaffinity") else 2


def pytest_configure(config: pytest.Config) -> None:
    """In a fresh clone one process compiles all that the tests import, while it collects them: the others wait, as each
    of them would compile the same at the same time."""
    cache = config.cache
    if hasattr(config, "workerinput") and cache is not None:
        folder = cache.mkdir("compiled")
        lock = config.stash[_COMPILING] = FileLock(folder / "lock")
        lock.acquire()
        if (folder / "done").exists():
            lock.release()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files are handed out in this order: a long one at the end would leave a single process at work, and while the
    first file of `evals` records walks, the others would wait for it."""
    items.sort(key=lambda item: item.path.name not in _LONG_FILES)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was imported stays: the garbage collector need not look through it again and again, 3 % of the time."""
    gc.collect()
    gc.freeze()
    lock = session.config.stash.get(_COMPILING, None)
    if lock is not None and lock.is_locked:
        Path(lock.lock_file).with_name("done").touch()
        lock.release()


@pytest.fixture(autouse=True)
def _no_outside_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the developer's shell sets must not change a test."""
    for name in list(os.environ):
        if name.upper() in _OURS:
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Connection URL of a real PostgreSQL with pgvector that lives as long as the session.

    It never waits for the disk: its data need not outlive a loss of power, and every test makes a database.
    """
    # small, as there are several at a time, and what drops a table looks through all pages in memory
    url = embedded_url(tmp_path_factory.mktemp("webrag"), ServerResources(128, 128, 1024, 1))
    with psycopg.connect(url, autocommit=True) as connection:
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(name)))
        connection.execute("SELECT pg_reload_conf()")
    return url


@contextmanager
def fresh_database(server_url: str, *, migrated: bool = True) -> Iterator[str]:
    """URL of a database without pages on this server, migrated or without any table.

    Creating and dropping one costs a thousand files: a migrated one is emptied and given to the next test instead,
    unless a test left it in another shape.
    """
    spare = _spare_databases(server_url)
    if migrated and spare:
        name = spare.pop()
    else:
        name = f"test_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        if migrated:
            asyncio.run(apply_migrations(_database(server_url, name)))
    try:
        yield _database(server_url, name)
    finally:
        if migrated and _emptied(server_url, name):
            spare.append(name)
        else:
            _cleaners(server_url).pop(name, None)
            with psycopg.connect(server_url, autocommit=True) as connection:
                connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


_SHAPE = """
SELECT (SELECT array_agg(name ORDER BY name) FROM schema_migrations),
       (SELECT array_agg((n.nspname, c.relname, c.relkind, c.relnatts)::text ORDER BY n.nspname, c.relname)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND c.relname !~ '^vectors_'),
       pg_get_viewdef('contract.v_embedding'::regclass)
"""


@lru_cache
def _spare_databases(server_url: str) -> list[str]:
    """Names of empty databases that no test uses."""
    return []


@lru_cache
def _cleaners(server_url: str) -> dict[str, psycopg.Connection]:
    """The connection that empties each database. It stays open: a new one has to read the catalog first, 10 ms."""
    return {}


@lru_cache
def _migrated_shape(server_url: str) -> tuple[object, ...]:
    """Shape of a database as migrations leave it; its last part is the view of the live model's vectors."""
    with fresh_database(server_url, migrated=False) as url:
        asyncio.run(apply_migrations(url))
        with psycopg.connect(url) as connection:
            shape = connection.execute(_SHAPE.encode()).fetchone()
    assert shape is not None
    return shape


async def apply_migrations(url: str) -> list[str]:
    """Apply what is missing and return the names."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        return await migrate(connection)


_CLOSE_OTHERS = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
_SIZES = """
SELECT c.relname, pg_relation_size(c.oid) FROM pg_class c
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
"""
_RESTART = """
SELECT count(setval(seqrelid, seqstart, false)) FROM pg_sequence WHERE pg_sequence_last_value(seqrelid) IS NOT NULL
"""
_LARGE = 500_000  # bytes; to truncate makes a file for each table and index, to delete leaves dead rows


def _emptied(server_url: str, name: str) -> bool:
    """Empty the database; False when it is not as migrations leave it."""
    cleaners = _cleaners(server_url)
    with suppress(KeyError, psycopg.OperationalError):  # a test that ends every connection ended this one, too
        return _empty(cleaners[name], name, _migrated_shape(server_url))
    cleaners[name] = psycopg.connect(_database(server_url, name), autocommit=True)
    cleaners[name].execute("SET session_replication_role = replica")  # rows go in any order, no trigger tells of it
    return _empty(cleaners[name], name, _migrated_shape(server_url))


def _empty(connection: psycopg.Connection, name: str, shape: tuple[object, ...]) -> bool:
    connection.execute(_CLOSE_OTHERS.encode())
    connection.execute(sql.SQL("ALTER DATABASE {} RESET ALL").format(sql.Identifier(name)))
    sizes = dict(connection.execute(_SIZES.encode()).fetchall())
    try:
        tables = {name: table_of(name) for name in sizes}
    except KeyError:
        return False  # a test made one of its own
    dropped = [name for name, table in tables.items() if table.per_model]
    emptied = {name: sizes[name] for name, table in tables.items() if table is not MIGRATIONS and not table.per_model}
    large = [name for name, size in emptied.items() if size > _LARGE]
    small = [name for name, size in emptied.items() if 0 < size <= _LARGE]
    if dropped:
        connection.execute(f"DROP TABLE {', '.join(dropped)} CASCADE".encode())
        connection.execute(f"CREATE OR REPLACE VIEW contract.v_embedding AS {shape[-1]}".encode())
    if small:
        deletions = [sql.SQL("DELETE FROM {}").format(sql.Identifier(table)) for table in small]
        connection.execute(sql.SQL("; ").join(deletions))
    if large:
        connection.execute(f"TRUNCATE {', '.join(large)} CASCADE".encode())
    connection.execute(_RESTART.encode())
    return connection.execute(_SHAPE.encode()).fetchone() == shape


def _database(server_url: str, name: str) -> str:
    return server_url.replace("/postgres?", f"/{name}?", 1)


@pytest.fixture
def database_url(server_url: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """A fresh, migrated database; one without any table for tests marked `unmigrated`."""
    with fresh_database(server_url, migrated=request.node.get_closest_marker("unmigrated") is None) as url:
        yield url


@pytest.fixture
def settings(database_url: str) -> Settings:
    """Defaults, on the fresh database, with the frozen site in place of the web.

    Two previews a round, and no reading model: together they take most of an answer's time. Tests of them ask for them.
    """
    return Settings(database_url=database_url, webrag_warc=FROZEN_SITE, webrag_previews=2, webrag_reader="none")


@pytest.fixture
def run() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Run a coroutine to its end."""
    return asyncio.run


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for all tests of a file: it takes a second to start. Tests that use it are marked `alone`."""
    from tests.browsing import launched  # its library takes half a second to import

    with launched() as browser:
        yield browser


@pytest.fixture
def time_zone(request: pytest.FixtureRequest) -> Iterator[str]:
    """The process in the time zone that is the parameter."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "TZ", request.param)
        time.tzset()
        yield request.param
    time.tzset()


def in_time_zone(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test in several time zones: its result must be the same."""
    zones = ("UTC", "America/New_York", "Asia/Tokyo", "Pacific/Kiritimati")
    return pytest.mark.usefixtures("time_zone")(pytest.mark.parametrize("time_zone", zones, indirect=True)(test))
