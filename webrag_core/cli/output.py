"""Output of the command line: JSON for machines, rich on a terminal, plain lines elsewhere."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from pydantic import BaseModel
from rich.text import Text

from webrag_core.errors import InvalidInputError
from webrag_core.page_text import escaped
from webrag_core.showing import console as shown
from webrag_core.showing.visible_output import VisibleConsole

if TYPE_CHECKING:  # commands that fail early or print help do not pay for the layers
    from webrag_core.showing.elements import Element

out = VisibleConsole(soft_wrap=True)
err = VisibleConsole(stderr=True, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Streams:
    """Where a command of another process writes: its consoles, its stdout without one, and what its live line says."""

    out: VisibleConsole
    err: VisibleConsole
    write: Callable[[str], object]
    show: Callable[[str], object]


elsewhere: ContextVar[Streams | None] = ContextVar("webrag_streams", default=None)
"""Set where this process runs a command for another one (`cli.served`)."""


def console() -> VisibleConsole:
    """Where results go."""
    streams = elsewhere.get()
    return out if streams is None else streams.out


def error_console() -> VisibleConsole:
    """Where everything else goes."""
    streams = elsewhere.get()
    return err if streams is None else streams.err


def only_here() -> None:
    """Raise NotServedError where this process runs the command for another one."""
    if elsewhere.get() is not None:
        from webrag_core.application.command_calls import NotServedError

        raise NotServedError


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
    streams = elsewhere.get()
    is_terminal = sys.stdout.isatty() if streams is None else streams.out.is_terminal
    (sys.stdout.write if streams is None else streams.write)((escaped(text) if is_terminal else text) + "\n")


def print_table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A table whose cells are data, never mark-up, see `showing.console.print_table`."""
    shown.print_table(console(), columns, rows)


def write_file(path: Path, text: str) -> None:
    """Write a file that the user named. Raises InvalidInputError when it cannot be written."""
    only_here()
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
    only_here()
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
    shown.print_line(error_console(), text, style)


def print_line(text: str, style: str | None = None) -> None:
    """A line that may hold text of pages."""
    shown.print_line(console(), text, style)


def print_elements(parts: Sequence[Element], *, show_all: bool = False, proof: bool = False) -> None:
    """Print the elements of a result, see `terminal.print_view`."""
    from webrag_core.showing.terminal import print_view

    print_view(parts, console(), show_all=show_all, proof=proof, more="--quotes N, --all or --json")


def print_wrapped(lead: str, text: Text, *, first: str | None = None, style: str = "") -> None:
    """A text that may hold words of pages, folded behind `lead`, see `showing.console.print_wrapped`."""
    shown.print_wrapped(console(), lead, text, first=first, style=style)
