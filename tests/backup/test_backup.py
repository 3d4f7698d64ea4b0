"""A corpus becomes one file, and comes back as it was: rows, texts, searches; whatever breaks off loses nothing."""

from __future__ import annotations

import asyncio
import os
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests.backup.fetched_tea import fetched_tea
from tests.command_line import Webrag, webrag_here
from tests.conftest import fresh_database
from tests.web.tea_corpus import settings as tea_settings
from webrag_core.backup.archive import Manifest, open_archive
from webrag_core.backup.dump import BackupReport, back_up
from webrag_core.backup.load import RestoreReport, restore
from webrag_core.backup.series import SeriesReport, add_backup
from webrag_core.config import Settings
from webrag_core.corpus.tables import MIGRATIONS
from webrag_core.errors import InvalidInputError, StoreError
from webrag_core.store.database import Database
from webrag_core.store.migrate import migrate, migrations

__all__ = ["webrag_here"]


@pytest.fixture(scope="module")
def corpus(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    folder = tmp_path_factory.mktemp("tea")
    with fetched_tea(server_url, folder) as url:
        yield tea_settings(url, webrag_home=folder, mcp_auth_token="a-secret-of-sixteen-letters", webrag_max_pages=7)


@pytest.fixture
def empty(server_url: str, tmp_path: Path) -> Iterator[Settings]:
    with fresh_database(server_url) as url:
        yield tea_settings(url, webrag_home=tmp_path)


def backup(settings: Settings, file: Path) -> BackupReport:
    async def work() -> BackupReport:
        async with await Database.open(settings) as database:
            return await back_up(database, settings, file)

    return asyncio.run(work())


def rows(url: str) -> dict[str, list[str]]:
    """All rows of all tables that are kept, as text."""
    with psycopg.connect(url) as connection:
        names = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relpersistence = 'p'"
            " AND relnamespace = 'public'::regnamespace AND relname <> %s",
            (MIGRATIONS.name,),
        ).fetchall()
        return {
            name: sorted(
                row[0] for row in connection.execute(sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(name)))
            )
            for (name,) in names
        }


def test_a_corpus_comes_back_as_it_was(corpus: Settings, empty: Settings, tmp_path: Path) -> None:
    assert corpus.database_url is not None
    assert empty.database_url is not None
    file = tmp_path / "tea.zip"
    written = backup(corpus, file)
    assert oct(file.stat().st_mode & 0o777) == "0o600"
    assert os.listdir(tmp_path) == ["tea.zip"]
    report: RestoreReport = asyncio.run(restore(empty, file))
    assert report.violations == ()
    assert (report.rows, report.tables) == (written.rows, written.tables)
    assert report.settings == ("WEBRAG_MAX_PAGES=7",)
    assert rows(empty.database_url) == rows(corpus.database_url)
    assert len(rows(empty.database_url)["document_versions"]) == 5
    with psycopg.connect(empty.database_url) as connection:  # numbers go on behind those that were given
        connection.execute("INSERT INTO sources (key) VALUES ('other.example')")


def test_the_backup_holds_no_secret_and_no_address_of_the_database(corpus: Settings, tmp_path: Path) -> None:
    file = tmp_path / "tea.zip"
    backup(corpus, file)
    with zipfile.ZipFile(file) as archive:
        manifest = Manifest.model_validate_json(archive.read("manifest.json"))
        assert b"a-secret-of" not in b"".join(map(archive.read, archive.namelist()))
    assert manifest.settings == {"webrag_max_pages": 7, "webrag_reader": "none"}
    assert [model.state for model in manifest.models] == ["live"]


def test_a_backup_is_of_one_moment_while_others_write(corpus: Settings, tmp_path: Path) -> None:
    assert corpus.database_url is not None
    url = corpus.database_url

    async def work() -> None:
        async with await Database.open(corpus) as database:
            writing = asyncio.create_task(_write(database))
            await back_up(database, corpus, tmp_path / "tea.zip")
            writing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await writing

    asyncio.run(work())
    with psycopg.connect(url) as connection:
        connection.execute("DELETE FROM sources WHERE key LIKE 'moment-%'")
    with open_archive(tmp_path / "tea.zip") as archive:
        held = {table.name: table for table in archive.manifest.tables}

        async def keys() -> int:
            return b"".join([piece async for piece in archive.pieces(held["sources"])]).count(b"moment-")

        assert asyncio.run(keys()) % 2 == 0  # two at a time, or none of them


async def _write(database: Database) -> None:
    number = 0
    while True:
        async with database.transaction() as connection:
            for _ in range(2):
                await connection.execute("INSERT INTO sources (key) VALUES (%s)", (f"moment-{number}.example",))
                number += 1


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.999])
def test_a_file_that_broke_off_is_no_backup_and_changes_nothing(
    corpus: Settings, empty: Settings, tmp_path: Path, share: float
) -> None:
    assert empty.database_url is not None
    backup(corpus, tmp_path / "tea.zip")
    whole = (tmp_path / "tea.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: int(len(whole) * share)])
    before = rows(empty.database_url)
    with pytest.raises(InvalidInputError, match="no whole backup"):
        asyncio.run(restore(empty, tmp_path / "cut.zip"))
    assert rows(empty.database_url) == before


def test_a_table_of_another_content_is_refused(corpus: Settings, empty: Settings, tmp_path: Path) -> None:
    assert empty.database_url is not None
    backup(corpus, tmp_path / "tea.zip")
    with (
        zipfile.ZipFile(tmp_path / "tea.zip") as old,
        zipfile.ZipFile(tmp_path / "forged.zip", "w") as new,
    ):
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content.replace(b"two minutes", b"ten minutes") if "versions" in name else content)
    before = rows(empty.database_url)
    with pytest.raises(InvalidInputError, match="another document_versions"):
        asyncio.run(restore(empty, tmp_path / "forged.zip"))
    assert {name: len(held) for name, held in rows(empty.database_url).items()} == {
        n: len(b) for n, b in before.items()
    }


def test_nothing_is_restored_over_a_corpus_and_nothing_written_over_a_file(corpus: Settings, tmp_path: Path) -> None:
    file = tmp_path / "tea.zip"
    backup(corpus, file)
    with pytest.raises(InvalidInputError, match="there already"):
        backup(corpus, file)
    with pytest.raises(InvalidInputError, match="a corpus already"):
        asyncio.run(restore(corpus, file))


def test_a_backup_of_a_newer_version_names_it(corpus: Settings, empty: Settings, tmp_path: Path) -> None:
    backup(corpus, tmp_path / "tea.zip")
    with (
        zipfile.ZipFile(tmp_path / "tea.zip") as old,
        zipfile.ZipFile(tmp_path / "newer.zip", "w") as new,
    ):
        manifest = Manifest.model_validate_json(old.read("manifest.json"))
        manifest.version = "7.1"
        manifest.migrations.append("9999_future.sql")
        new.writestr("manifest.json", manifest.model_dump_json())
    with pytest.raises(StoreError, match=r"use WebRAG 7\.1"):
        asyncio.run(restore(empty, tmp_path / "newer.zip"))


def test_of_a_series_the_latest_stay_and_files_of_other_names(corpus: Settings, tmp_path: Path) -> None:
    chosen = corpus.model_copy(update={"backup_folder": tmp_path / "series", "backups_kept": 2})
    (tmp_path / "series").mkdir()
    for name in ("corpus-20200101-000000.zip", "corpus-20210101-000000.zip", "mine.zip"):
        (tmp_path / "series" / name).write_bytes(b"old")

    async def work() -> SeriesReport:
        async with await Database.open(chosen) as database:
            return await add_backup(database, chosen)

    report = asyncio.run(work())
    assert report.deleted == ("corpus-20200101-000000.zip",)
    names = {"corpus-20210101-000000.zip", "mine.zip", report.backup.file.name}
    assert set(os.listdir(tmp_path / "series")) == names


async def migrate_to(url: str, names: list[str]) -> None:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await migrate(connection, only=names)


def test_a_migration_is_announced_and_what_was_there_is_kept(
    server_url: str, webrag_here: Webrag, tmp_path: Path
) -> None:
    older = [migration.name for migration in migrations() if migration.name < "0047_applied_by"]
    lost = [migration.name for migration in migrations() if migration.name not in older]
    with fresh_database(server_url, migrated=False) as url:
        asyncio.run(migrate_to(url, older))
        environment = {"DATABASE_URL": url, "WEBRAG_HOME": str(tmp_path / "home")}
        announced = webrag_here("db", "migrate", "--dry-run", **environment)
        assert all(name in announced.stdout for name in lost)
        assert not (tmp_path / "home" / "backups").exists()
        done = webrag_here("db", "migrate", **environment)
        assert all(name in done.stdout for name in lost)
        [kept] = (tmp_path / "home" / "backups").iterdir()
        with open_archive(kept) as archive:
            assert archive.manifest.migrations == older
        assert "applied:" not in webrag_here("db", "migrate", **environment).stdout
        with psycopg.connect(url) as connection:
            written = connection.execute(
                "SELECT version FROM schema_migrations WHERE name = %s", (lost[-1],)
            ).fetchone()
        assert written == (version("webrag"),)


def test_an_extension_that_is_too_old_is_named(corpus: Settings) -> None:
    assert corpus.database_url is not None
    with psycopg.connect(corpus.database_url, autocommit=True) as connection:
        old = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
        assert old is not None
        set_version = "UPDATE pg_extension SET extversion = %s WHERE extname = 'vector'"
        connection.execute(set_version, ("0.7.4",))
        try:
            with pytest.raises(StoreError, match=r"pgvector 0\.7\.4; WebRAG needs 0\.8"):
                asyncio.run(Database.open(corpus))
        finally:
            connection.execute(set_version, old)
