"""The wheel of this clone, built from a copy of its sources, without network."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CLONE = Path(__file__).parents[2]
PACKAGES = ("webrag_core", "webrag_dagster", "evals")
_FILES = ("pyproject.toml", "webrag.py", "README.md", "LICENSE", "NOTICE", "dagster.yaml")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "python-*.warc.gz", "rust-*.warc.gz", "postgresql-*.warc.gz")
_BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"


def build_wheel(folder: Path) -> Path:
    """Build the wheel into `folder`, which exists; return its path. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as copy:
        source = Path(copy)
        for name in PACKAGES:
            shutil.copytree(CLONE / name, source / name, symlinks=True, ignore=_LEFT_OUT)
        for name in _FILES:
            shutil.copy(CLONE / name, source)
        subprocess.run([sys.executable, "-c", _BUILD, folder], cwd=source, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    return wheel
