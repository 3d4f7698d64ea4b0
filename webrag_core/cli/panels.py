"""The list of commands that `webrag --help` shows: groups by what one wants to do, and the order in them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperGroup

from webrag_core.cli.output import print_json

PANELS: Mapping[str, tuple[str, ...]] = {
    "Ask": ("ask", "answer", "search", "plan", "graph"),
    "Corpus": ("ingest", "refresh", "status", "verify", "forget", "prune"),
    "Sources": ("source", "watch"),
    "History": ("answers", "citations", "history", "feedback"),
    "Serve": ("serve", "mcp", "tokens", "up", "ui"),
    "Operate": ("backup", "restore", "demo", "model", "db", "eval", "replay"),
}
_PANEL_OF = {name: panel for panel, names in PANELS.items() for name in names}
_PLACE = {name: place for place, name in enumerate(_PANEL_OF)}


class Panels(TyperGroup):
    """The group of all commands. Usage errors obey --json, too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, command in self.commands.items():
            command.rich_help_panel = _PANEL_OF.get(name, "Others")  # type: ignore[attr-defined]

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of the panels; unknown ones at the end."""
        return sorted(super().list_commands(ctx), key=lambda name: _PLACE.get(name, len(_PLACE)))

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """As ever; a wrong option of `webrag` itself is said as JSON where that is wanted."""
        try:
            return super().make_context(*args, **kwargs)
        except typer.TyperException as error:
            _say_as_json(error)
            raise

    def invoke(self, ctx: Any) -> Any:
        """As ever; wrong usage of a command is said as JSON where that is wanted."""
        try:
            return super().invoke(ctx)
        except typer.TyperException as error:
            _say_as_json(error)
            raise


def _say_as_json(error: typer.TyperException) -> None:
    if "--json" in sys.argv:
        print_json({"error": {"code": "usage", "message": error.format_message()}})
