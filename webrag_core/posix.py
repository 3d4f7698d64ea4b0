"""Refuse systems on which WebRAG cannot run: its workers, locks and embedded database need POSIX."""

from __future__ import annotations

import os


def require_posix(platform: str = os.name) -> None:
    """Raise UnsupportedPlatformError unless `platform`, a value of `os.name`, is a POSIX system."""
    if platform != "posix":
        from webrag_core.errors import UnsupportedPlatformError  # every start passes here, none needs it

        raise UnsupportedPlatformError("WebRAG needs a POSIX system: Linux, macOS or WSL")
