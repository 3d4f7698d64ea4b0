"""Recorded runs for the tests of what is made from them, and a home for the walks that tests ask for."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path

import pytest
from filelock import FileLock

from evals.walks.recorded import RecordedRun, load_run_log
from tests.evals.recordings import record_all


@dataclass(frozen=True)
class Recordings:
    """The same items under several policies and limits."""

    matrix: list[RecordedRun]
    until_cap: list[RecordedRun]
    two_rounds: list[RecordedRun]
    three_pages: list[RecordedRun]
    floored: list[RecordedRun]

    @property
    def all(self) -> list[RecordedRun]:
        return [*self.matrix, *self.until_cap, *self.two_rounds, *self.three_pages, *self.floored]


@pytest.fixture(scope="session")
def recordings(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    """Made once, by the first of pytest's processes that asks; the others wait and read."""
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent  # each process has a folder of its own in it
    folder = shared / "recordings"
    with FileLock(shared / "recordings.lock"):
        if not folder.exists():
            made = tmp_path_factory.mktemp("recording")
            record_all(server_url, made)
            made.rename(folder)
    return Recordings(**{field.name: load_run_log(folder / f"{field.name}.jsonl") for field in fields(Recordings)})


@pytest.fixture(scope="session")
def suite_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A `WEBRAG_HOME` for `webrag eval sitewalk`: its database is started once, and fills as they go."""
    return tmp_path_factory.mktemp("suite")
