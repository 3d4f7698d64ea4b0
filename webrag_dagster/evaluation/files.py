"""Where evaluation runs leave their files: run logs and HTML reports, the newest few of each suite."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webrag_core.config import Settings

KEPT = 30
"""Runs of one suite whose files are kept."""


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of one run of a suite."""

    log: Path
    report: Path


def run_files(settings: Settings, suite: str, run_id: str) -> RunFiles:
    """Names for a new run, in a folder that exists; files of all but the newest `KEPT` runs are deleted."""
    folder = settings.webrag_home.resolve() / "evals" / suite
    folder.mkdir(parents=True, exist_ok=True)
    for kind in ("jsonl", "html"):
        for old in sorted(folder.glob(f"*.{kind}"))[: -KEPT + 1]:
            old.unlink()
    stem = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{run_id[:8]}"
    return RunFiles(folder / f"{stem}.jsonl", folder / f"{stem}.html")
