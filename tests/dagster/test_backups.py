"""Asset `backups`: a file of the corpus, the oldest ones deleted."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from webrag_core.backup.archive import open_archive
from webrag_dagster.defs.backups import backups, nightly_backup
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
    [file] = (tmp_path / "series").iterdir()
    assert event.metadata["file"].value == str(file)
    with open_archive(file) as archive:
        assert archive.manifest.migrations


def test_the_schedule_waits_to_be_turned_on() -> None:
    assert nightly_backup.default_status is dg.DefaultScheduleStatus.STOPPED
