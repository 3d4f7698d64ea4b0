"""Files of the runs of evaluations: run logs and reports, on this machine and where all machines see them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from upath import UPath  # comes with Dagster, whose I/O managers are made of it

from webrag_core.errors import InvalidInputError

if TYPE_CHECKING:
    from webrag_core.config.home import HomeSettings
    from webrag_core.config.platform import PlatformSettings

KEPT = 30
"""Runs of one suite whose files are kept."""
_KINDS = ("jsonl", "html")


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The run log and the HTML report of one run of a suite, while it is made. `shared` is the folder that all machines
    see; None = they stay where they are."""

    log: Path
    report: Path
    shared: UPath | None

    def keep(self, file: Path) -> str:
        """Copy a finished file to the shared folder, and return where it is then. Raises InvalidInputError."""
        if self.shared is None:
            return str(file)
        with _readable(self.shared, "written"):
            target = self.shared / file.name
            target.write_bytes(file.read_bytes())
            _delete_old(self.shared, KEPT)
        return str(target)


def run_files(settings: PlatformSettings, suite: str, run_id: str) -> RunFiles:
    """Names for a new run, in a folder that exists; files of all but the newest `KEPT` runs are deleted. Raises
    InvalidInputError for a shared folder that cannot be written."""
    folder = _home(settings) / suite
    folder.mkdir(parents=True, exist_ok=True)
    _delete_old(folder, KEPT - 1)
    stem = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{run_id[:8]}"
    shared = _shared(settings)
    if shared is not None:
        shared /= suite
        with _readable(shared, "written"):
            shared.mkdir(parents=True, exist_ok=True)
    return RunFiles(folder / f"{stem}.jsonl", folder / f"{stem}.html", shared)


def newest_logs(settings: PlatformSettings, suites: str) -> dict[str, Path]:
    """The newest run log of each suite whose name fits the pattern, by name. Those of the shared folder are copied here
    first. Raises InvalidInputError for one that cannot be read."""
    home, shared = _home(settings), _shared(settings)
    if shared is not None:
        with _readable(shared, "read"):
            for folder in shared.glob(suites):
                newest = max(folder.glob("*.jsonl"), key=lambda file: file.name, default=None)
                if newest is not None and not (copy := home / folder.name / newest.name).exists():
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_bytes(newest.read_bytes())
    logs = {folder.name: max(folder.glob("*.jsonl"), default=None) for folder in sorted(home.glob(suites))}
    return {name: log for name, log in logs.items() if log is not None}


def _home(settings: HomeSettings) -> Path:
    return settings.webrag_home.resolve() / "evals"


def _shared(settings: PlatformSettings) -> UPath | None:
    if settings.webrag_evals_folder is None:
        return None
    with _readable(settings.webrag_evals_folder, "opened"):
        return UPath(settings.webrag_evals_folder)


@contextmanager
def _readable(folder: UPath | str, what: str) -> Iterator[None]:
    """Raise InvalidInputError, with the setting's name, for what a file system of fsspec raises."""
    try:
        yield
    except (OSError, ValueError, ImportError) as error:
        raise InvalidInputError(f"WEBRAG_EVALS_FOLDER: {folder} cannot be {what}: {error}") from error


def _delete_old(folder: Path | UPath, kept: int) -> None:
    """Delete the files of all but the newest `kept` runs."""
    for kind in _KINDS:
        files: list[Path | UPath] = [*folder.glob(f"*.{kind}")]
        for old in sorted(files, key=lambda file: file.name)[:-kept]:
            old.unlink()
