"""docs/reference/commands.md: every command with its arguments and options, out of the command line itself."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import typer
from typer.cli import get_docs_for_click
from typer.core import TyperGroup
from typer.main import get_group

from webrag_core.cli.main import app

REPOSITORY = Path(__file__).parent.parent

HEAD = """# All commands

Every command with its arguments and options, written by `make pages` from what `webrag COMMAND --help` says. What the
commands are for, at a glance: [commands](../reference.md#commands).
"""
_TITLE = re.compile(r"\A# .*\n")
_SHORTENED_LIST = re.compile(r"\*\*Commands\*\*:\n\n(?:\* .*\n)+\n")  # the sections below say the whole
_STYLE = re.compile(r"(?m)^\[dim\]|\[/dim\]$")  # of a terminal
_EMPTY_OPTIONS = re.compile(r"\*\*Options\*\*:\n\n+(?!\*)")


@cache
def command_line() -> TyperGroup:
    """All commands, those of the packages above the core too; each is registered once."""
    for plugin in sorted(entry_points(group="webrag.commands"), key=lambda entry: entry.name):
        plugin.load()(app)
    return get_group(app)


def page() -> str:
    """The page as Markdown."""
    group = command_line()
    text = get_docs_for_click(obj=group, ctx=typer.Context(group, info_name="webrag"), name="webrag")
    text = _TITLE.sub(HEAD, text).replace(f"{REPOSITORY}/", "")  # files of this clone that are defaults
    text = re.sub(r"(?m)^\* `--help`: .*\n", "", _SHORTENED_LIST.sub("", text))
    text = _STYLE.sub("", _EMPTY_OPTIONS.sub("", text))
    return re.sub(r"\n{3,}", "\n\n", text.replace(".  [", ". [")).strip() + "\n"
