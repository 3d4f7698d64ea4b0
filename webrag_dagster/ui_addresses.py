"""Where the UI's server shows the files that materializations link to."""

from __future__ import annotations

from pathlib import Path

PREFIX = "webrag"
"""First part of their addresses."""
FOLDERS = ("answers", "graphs")
"""Folders below WEBRAG_HOME that are served, whole."""


def page_address(file: Path) -> str:
    """Where the UI serves a file of one of the folders."""
    return f"/{PREFIX}/{file.parent.name}/{file.name}"
