"""What code a process runs: equal for two processes that make the same corpus of the same pages."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

from webrag_dagster.corpus import layers

CODE = "webrag/code"
"""Metadata key of the code location, and tag of runs on other machines: the identity of the code and its settings."""
_PACKAGES = ("webrag_core", "webrag_dagster", "evals")
_ROOT = Path(__file__).resolve().parents[2]


@cache
def code_identity() -> str:
    """Release, hash of the sources (not of `defs/sources`, which operators edit), versions of the corpus layers.

    The layers' versions hold the settings that shape a corpus, such as its embedding model. Fixed at the first call:
    call it when a process starts. Raises InvalidInputError for invalid settings.
    """
    versions = (layers.extractor_version(), layers.chunker_version(), layers.index_version())
    return " ".join((f"{version('webrag')}+{_sources()[:12]}", *versions))


def queue_of(identity: str) -> str:
    """The Celery queue of a code identity: only workers of the same code and settings read it."""
    return f"webrag-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"


def _sources() -> str:
    digest = hashlib.sha256()
    for package in _PACKAGES:
        for file in sorted((_ROOT / package).rglob("*")):
            name = file.relative_to(_ROOT).as_posix()
            if file.suffix in (".py", ".sql") and not name.startswith("webrag_dagster/defs/sources/"):
                digest.update(f"{name}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()
