"""`webrag` as a user calls it: as the installed script, or here, for tests of a command and not of its process."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_group

from webrag_core.cli import main as cli

Webrag = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def webrag(database_url: str, tmp_path: Path) -> Webrag:
    """Run the installed `webrag` script on a fresh database, in an empty working directory."""

    def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [Path(sys.executable).with_name("webrag"), *arguments],
            cwd=tmp_path,
            env={**os.environ, "DATABASE_URL": database_url, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    return call


@cache
def _command() -> TyperGroup:
    """All commands, those of the packages above the core too, made once: `main` makes them whenever it is called."""
    for plugin in entry_points(group="webrag.commands"):
        plugin.load()(cli.app)
    return get_group(cli.app)


@pytest.fixture
def webrag_here(
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Webrag:
    """As `webrag`, without a process: what one call imports and loads, the next one need not. Log lines are in stderr
    as ever; an error that the command does not handle ends the test."""

    def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = _command()
        capsys.readouterr()
        with monkeypatch.context() as during:
            during.chdir(tmp_path)
            for name, value in {"DATABASE_URL": database_url, **environment}.items():
                during.setenv(name, value)
            during.setattr(sys, "argv", ["webrag", *arguments])
            during.setattr(cli, "entry_points", lambda group: ())
            during.setattr(cli, "app", command)
            during.setattr(logging.root, "handlers", [])  # so that the command sets up its own log
            with pytest.raises(SystemExit) as ended:
                cli.main()
        said = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, int(ended.value.code or 0), said.out, said.err)

    return call
