"""Asset `backups`: a file of the corpus, the oldest ones deleted. Dagster's history goes into a backup by choice."""

from __future__ import annotations

import asyncio
from pathlib import Path

import dagster as dg
import pytest

from tests.conftest import fresh_database
from webrag_core.backup.archive import StoredRecord, open_archive
from webrag_core.backup.dump import BackupReport, back_up
from webrag_core.backup.load import restore
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.store.database import Database
from webrag_dagster.defs.backups import backups, nightly_backup
from webrag_dagster.instance import use_instance
from webrag_dagster.resources import CorpusResource


def test_each_run_makes_a_file_and_says_what_went(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("BACKUP_FOLDER", str(tmp_path / "series"))
    monkeypatch.setenv("BACKUPS_KEPT", "1")
    (tmp_path / "series").mkdir()
    (tmp_path / "series" / "corpus-20200101-000000.zip").write_bytes(b"old")
    with dg.DagsterInstance.ephemeral() as instance:
        done = dg.materialize([backups], instance=instance, resources={"corpus": CorpusResource()})
    [event] = done.asset_materializations_for_node("backups")
    assert event.metadata["deleted"].value == 1
    [file] = (tmp_path / "series").glob("*.zip")
    assert event.metadata["file"].value == str(file)
    with open_archive(file) as archive:
        assert archive.manifest.migrations


def test_the_schedule_waits_to_be_turned_on() -> None:
    assert nightly_backup.default_status is dg.DefaultScheduleStatus.STOPPED


def backed_up(settings: Settings, file: Path, *, with_dagster: bool) -> BackupReport:
    async def work() -> BackupReport:
        async with await Database.open(settings) as database:
            return await back_up(database, settings, file, with_dagster=with_dagster)

    return asyncio.run(work())


@dg.op
def steep(context) -> None:  # type: ignore[no-untyped-def]  # Dagster reads no postponed annotation
    context.log.info("the kettle sings")


@dg.job
def brew() -> None:
    steep()


@pytest.mark.slow
def test_the_history_comes_back_where_it_is_wanted(
    server_url: str, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, file, plain = tmp_path / "home", tmp_path / "all.zip", tmp_path / "plain.zip"
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("WEBRAG_HOME", str(home))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    settings = Settings(database_url=database_url, webrag_home=home)  # type: ignore[call-arg]
    with pytest.raises(InvalidInputError, match="no history of Dagster"):
        backed_up(settings, file, with_dagster=True)
    monkeypatch.setenv("DAGSTER_HOME", str(use_instance()))
    with dg.DagsterInstance.get() as instance:
        run = brew.execute_in_process(instance=instance).run_id
        assert backed_up(settings, file, with_dagster=True).dagster_files > 2  # while its files are open
    assert backed_up(settings, plain, with_dagster=False).dagster_files == 0
    assert not (home / "dagster" / ".backup").exists()
    monkeypatch.delenv("DAGSTER_HOME")
    new = tmp_path / "new"
    new.mkdir()
    with fresh_database(server_url) as url:
        restored = settings.model_copy(update={"database_url": url, "webrag_home": new})
        with pytest.raises(InvalidInputError, match="without --with-dagster"):
            asyncio.run(restore(restored, plain, with_dagster=True))
        assert any("was left out" in warning for warning in asyncio.run(restore(restored, file)).warnings)
        assert not (new / "dagster").exists()
        assert asyncio.run(restore(restored, file, with_dagster=True)).dagster_files > 2
    monkeypatch.setenv("WEBRAG_HOME", str(new))
    monkeypatch.setenv("DAGSTER_HOME", str(use_instance()))
    with dg.DagsterInstance.get() as instance:
        assert [held.run_id for held in instance.get_runs()] == [run]
        assert any("the kettle sings" in entry.user_message for entry in instance.all_logs(run))
        with pytest.raises(InvalidInputError, match="a history of Dagster in"):
            asyncio.run(restore(restored, file, with_dagster=True))


def test_a_path_that_leads_out_of_the_history_is_refused(tmp_path: Path) -> None:
    for path in ("../x", "a/../../x", "/etc/x", "a//b", "", "a\\b", "a\nb", "./x"):
        with pytest.raises(ValueError, match="path"):
            StoredRecord(path=path, bytes=0, sha256="")
    assert StoredRecord(path="history/runs/a b.db", bytes=0, sha256="").member == "dagster/history/runs/a b.db"
