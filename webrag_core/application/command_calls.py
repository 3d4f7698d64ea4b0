"""A command that one process runs for another: what the other sends, and what runs it.

The other process is the command's terminal. It gets JSON objects: `out` and `err` (text of a stream), `live` (what a
live line says), and at last `end` (the exit code) or `not_served` (why it has to run the command itself; may be empty).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Literal, Protocol, TypeVar

from pydantic import Field

from webrag_core.application.services import Services
from webrag_core.retrieval.models import Contract

Result = TypeVar("Result")
Turn = Literal["read", "answer"]
"""What work has to wait for at a server: the turn of those that read, or of those that answer."""
Emit = Callable[[dict[str, str | int]], object]


class CommandCall(Contract):
    """A command with its arguments, and the terminal that it is printed on."""

    arguments: Annotated[list[str], Field(max_length=1_000)]
    progress: Literal["auto", "plain", "none"] = "auto"
    out_is_terminal: bool = False
    err_is_terminal: bool = False
    width: Annotated[int, Field(ge=1, le=10_000)] = 80
    height: Annotated[int, Field(ge=1, le=10_000)] = 25
    colours: Literal["standard", "256", "truecolor"] = "standard"
    plain: Annotated[bool, Field(description="Without colours (NO_COLOR)")] = False
    encoding: Annotated[str, Field(max_length=50)] = "utf-8"
    traceparent: Annotated[str | None, Field(max_length=512)] = None


class NotServedError(Exception):
    """Only the process that was called can do this. Its text is for people; empty where that is no news."""


class Opened(Protocol):
    """Runs work on the corpus that a server has open, in its turn."""

    def __call__(self, work: Callable[[Services], Coroutine[Any, Any, Result]], turn: Turn, /) -> Result: ...


class CommandRunner(Protocol):
    """Runs a command in a thread of its own; all that it prints goes to `emit`. Returns the exit code. Raises
    NotServedError."""

    def __call__(self, call: CommandCall, emit: Emit, opened: Opened, /) -> int: ...
