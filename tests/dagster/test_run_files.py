"""Files of evaluations: the newest stay, and where a shared folder is set every machine reads them."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest
from upath import UPath

from webrag_core.config import Settings, load_settings
from webrag_core.errors import InvalidInputError
from webrag_dagster.evaluation import run_files as files_of_runs
from webrag_dagster.evaluation.run_files import newest_logs, run_files


def settings(home: Path, shared: str | None = None) -> Settings:
    return load_settings(webrag_home=home, webrag_evals_folder=shared)


def test_without_a_shared_folder_files_stay_where_they_are(tmp_path: Path) -> None:
    files = run_files(settings(tmp_path), "sitewalk_a", "12345678-9")
    files.log.write_text("{}\n")
    assert files.keep(files.log) == str(files.log)
    assert newest_logs(settings(tmp_path), "sitewalk_*") == {"sitewalk_a": files.log}


@pytest.mark.parametrize("kind", ["memory://{name}", "file://{folder}/shared", "{folder}/shared"])
def test_another_machine_reads_what_a_run_left(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_of_runs, "KEPT", 2)
    shared = kind.format(folder=tmp_path, name=uuid4())
    one, other = settings(tmp_path / "one", shared), settings(tmp_path / "other", shared)
    assert newest_logs(other, "sitewalk_*") == {}
    for number in range(3):
        files = run_files(one, "sitewalk_a", f"{number}" * 8)
        files.log.write_text(f"run {number}\n")
        files.report.write_text("<p>A report</p>")
        places = [files.keep(files.report), files.keep(files.log)]
        assert [UPath(place).read_text() for place in places] == ["<p>A report</p>", f"run {number}\n"]
    assert len(list((UPath(shared) / "sitewalk_a").iterdir())) == 4
    [log] = newest_logs(other, "sitewalk_*").values()
    assert log.is_relative_to(tmp_path / "other")
    assert log.read_text() == "run 2\n"


@pytest.mark.parametrize("shared", ["nothing://x", "/proc/none"])
def test_a_shared_folder_that_cannot_be_written_says_so(shared: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="WEBRAG_EVALS_FOLDER"):  # before an hour of work
        run_files(settings(tmp_path, shared), "sitewalk_a", "12345678")
