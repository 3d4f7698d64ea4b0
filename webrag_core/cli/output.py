"""Output of the command line: JSON for machines, rich on a terminal, plain lines elsewhere."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from pydantic import BaseModel
from rich.text import Text

from webrag_core.errors import InvalidInputError
from webrag_core.page_text import escaped
from webrag_core.showing import console
from webrag_core.showing.visible_output import VisibleConsole

if TYPE_CHECKING:  # commands that fail early or print help do not pay for the layers
    from webrag_core.showing.elements import Element

out = VisibleConsole(soft_wrap=True)
err = VisibleConsole(stderr=True, soft_wrap=True)

Time = Annotated[
    Literal["seen", "valid"],
    typer.Option(help="What --at means: when a text was seen, or when it holds by what it says of itself (valid)."),
]
"""Option that chooses one of two times, which are never mixed."""
Intents = Literal["factual", "comparison", "how_to", "exploratory"]
NOT_ANSWERED = 3
"""Exit code of `--fail-unless-answered`."""
FailUnlessAnswered = Annotated[
    bool,
    typer.Option(
        "--fail-unless-answered", help="Exit with 3 unless the status is answered; it is printed all the same."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, logs on stderr.")]


def tokens_charged(tokens: int) -> str:
    """What an embedding endpoint charged, to stand after the number of texts; nothing where it counts nothing."""
    return f" for {tokens:,} tokens" if tokens else ""


def print_json(value: BaseModel | dict[str, Any]) -> None:
    """Exactly one JSON object on stdout; on a terminal its invisible characters are escaped."""
    data = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    text = json.dumps(data, ensure_ascii=False, default=str)
    sys.stdout.write((escaped(text) if sys.stdout.isatty() else text) + "\n")


def print_table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A table whose cells are data, never mark-up, see `console.print_table`."""
    console.print_table(out, columns, rows)


def write_file(path: Path, text: str) -> None:
    """Write a file that the user named. Raises InvalidInputError when it cannot be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}") from error


def check_time(time: str, at: object) -> None:
    """Raise InvalidInputError where a kind of time is chosen and no date `at` that it is of."""
    if time == "valid" and at is None:
        raise InvalidInputError("--time needs --at")


def check_writable(path: Path) -> None:
    """Raise InvalidInputError for a path that `write_file` could not write, before the work for it begins."""
    folder = path.absolute().parent
    if path.is_dir():
        reason = "it is a folder"
    elif not folder.is_dir():
        reason = f"there is no folder {folder}"
    elif not os.access(path if path.exists() else folder, os.W_OK):
        reason = "permission denied"
    else:
        return
    raise InvalidInputError(f"{path} cannot be written: {reason}")


def complain(text: str, style: str | None = None) -> None:
    """A line on stderr."""
    console.print_line(err, text, style)


def print_line(text: str, style: str | None = None) -> None:
    """A line that may hold text of pages."""
    console.print_line(out, text, style)


def print_elements(parts: Sequence[Element], *, show_all: bool = False, proof: bool = False) -> None:
    """Print the elements of a result, see `terminal.print_view`."""
    from webrag_core.showing.terminal import print_view

    print_view(parts, out, show_all=show_all, proof=proof, more="--quotes N, --all or --json")


def print_wrapped(lead: str, text: Text, *, first: str | None = None, style: str = "") -> None:
    """A text that may hold words of pages, folded behind `lead`, see `console.print_wrapped`."""
    console.print_wrapped(out, lead, text, first=first, style=style)
