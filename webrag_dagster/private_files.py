"""Files to look at that materializations link to: below WEBRAG_HOME, readable by their owner alone."""

from __future__ import annotations

from pathlib import Path

PREFIX = "webrag"
"""First part of the addresses at which the UI serves them."""


def write_private(folder: Path, name: str, text: str) -> Path:
    """Write a file, making its folder where needed. Returns the absolute path."""
    folder = folder.resolve()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return path


def page_address(file: Path) -> str:
    """Where the UI serves a file of one of the folders that it shows (`processes.ui_pages`)."""
    return f"/{PREFIX}/{file.parent.name}/{file.name}"
