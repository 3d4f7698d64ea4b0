"""Imports run downwards only, and the core knows nothing above it (contracts in pyproject.toml)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

pytestmark = pytest.mark.slow


def test_import_contracts_hold() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-logo"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_commands_that_fail_early_do_not_pay_for_the_layers() -> None:
    code = (
        "import sys, webrag_core.cli.main, evals.commands, webrag_dagster.commands\n"
        "heavy = {*'dagster lxml markdown_it mcp numpy psycopg Stemmer starlette uvicorn'.split()}\n"
        "plugins = {name for name in sys.modules if name.startswith('webrag_core.') and name.endswith('.plugin')}\n"
        "print(heavy & set(sys.modules) | plugins)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
