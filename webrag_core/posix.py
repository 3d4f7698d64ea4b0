"""Refuse systems on which WebRAG cannot run: its workers, locks and embedded database need POSIX."""

from __future__ import annotations

import os

from webrag_core.errors import UnsupportedPlatformError


def require_posix(platform: str = os.name) -> None:
    """Raise UnsupportedPlatformError unless `platform`, a value of `os.name`, is a POSIX system."""
    if platform != "posix":
        raise UnsupportedPlatformError("WebRAG needs a POSIX system: Linux, macOS or WSL")
