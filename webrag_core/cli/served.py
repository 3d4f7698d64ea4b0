"""Commands that a server runs for other processes: the same functions, on the corpus that the server has open."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from typing import IO, cast

import typer
from typer.core import TyperCommand, TyperGroup

from webrag_core.access_token import SERVE_TOKEN
from webrag_core.application.command_calls import CommandCall, CommandRunner, Emit, NotServedError, Opened
from webrag_core.cli import addresses
from webrag_core.cli.database import opened_by_server
from webrag_core.cli.failures import report_error
from webrag_core.cli.output import Streams, elsewhere
from webrag_core.cli.progress import set_style
from webrag_core.cli.running_server import RunningServer, code_mark, settings_mark
from webrag_core.config import Settings
from webrag_core.env_file import RETIRED
from webrag_core.errors import StoreError, WebragError
from webrag_core.origin import asked_by
from webrag_core.showing.visible_output import VisibleConsole, shown
from webrag_core.trace import traced

_READING = (
    ("search",),
    ("plan",),
    ("status",),
    ("history",),
    ("citations",),
    ("answers", "list"),
    ("answers", "show"),
    ("source", "list"),
    ("graph", "related"),
    ("graph", "under"),
    ("graph", "linked"),
    ("graph", "at"),
    ("graph", "works"),
)
_ANSWERING = (("ask",),)
_LEFT_TO_THE_PROCESS = frozenset({"busy", "timeout", "stopped"})
"""Codes of errors that come of the server and not of the command."""
_ENGINE_SHARE = 0.85  # of MCP_TOOL_TIMEOUT, see `application.services`


def described(chosen: Settings, settings: Settings) -> RunningServer:
    """The server with the settings that were `chosen`, and those that it runs with, for the file by which commands find
    it."""
    token = None
    if settings.mcp_auth_token is not None:
        token = SERVE_TOKEN if chosen.mcp_auth_token is None else "MCP_AUTH_TOKEN"
    names, host = list(Settings.model_fields), settings.mcp_host.strip("[]")
    return RunningServer(
        pid=os.getpid(),
        host=host,
        port=settings.mcp_port,
        authority=f"{f'[{host}]' if ':' in host else host}:{settings.mcp_port}",
        token=token,
        commands=[list(path) for path in _served(settings)],
        code=code_mark(),
        settings=settings_mark(str(settings.webrag_home), names),
        names=names,
        retired=[name.lower() for name in RETIRED],
    )


def command_runner(root: TyperGroup, settings: Settings) -> CommandRunner:
    """What runs the commands of `root` that a server with these settings can run as well as the process that was
    called."""
    paths = _served(settings)

    def run(call: CommandCall, emit: Emit, opened: Opened) -> int:
        path = next((path for path in paths if tuple(call.arguments[: len(path)]) == path), None)
        if path is None:
            raise NotServedError
        elsewhere.set(_streams(call, emit))
        opened_by_server.set(opened)
        addresses.begin()
        set_style(call.progress)
        with traced(call.traceparent), asked_by("cli"):
            return _run(_command(root, path), path[-1], call.arguments[len(path) :])

    return run


def _served(settings: Settings) -> Sequence[tuple[str, ...]]:
    """The commands; answers only where the server grants them the time that they have elsewhere."""
    has_time = settings.answer_seconds <= _ENGINE_SHARE * settings.mcp_tool_timeout
    return (*_READING, *_ANSWERING) if has_time else _READING


def _command(root: TyperGroup, path: Sequence[str]) -> TyperCommand:
    command = root
    for name in path:
        command = command.commands[name]  # type: ignore[assignment]
    return command  # type: ignore[return-value]


def _run(command: TyperCommand, name: str, arguments: Sequence[str]) -> int:
    try:
        with command.make_context(name, list(arguments)) as context:
            command.invoke(context)
    except typer.Exit as ended:
        return int(ended.exit_code)
    except typer.TyperException:
        raise NotServedError from None  # wrong usage, which is said with the name of the script
    except StoreError as error:
        raise NotServedError(f"the server's database fails ({error.code})") from error
    except WebragError as error:
        if error.code in _LEFT_TO_THE_PROCESS:
            raise NotServedError(f"the server has not done it: {error.message}") from error
        return report_error(error, as_json="--json" in arguments)
    return 0


class _Sent(io.TextIOBase):
    """A stream whose text is sent."""

    def __init__(self, send: Callable[[str], object], call: CommandCall) -> None:
        self._send = send
        self._encoding = call.encoding

    def write(self, text: str) -> int:
        """Send a text; returns its characters."""
        if text:
            self._send(text)
        return len(text)

    def writable(self) -> bool:
        """Always."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """That of the terminal."""
        return self._encoding


def _streams(call: CommandCall, emit: Emit) -> Streams:
    """Consoles like those that the process would have itself."""

    def console(name: str, is_terminal: bool) -> VisibleConsole:
        return VisibleConsole(
            file=cast(IO[str], _Sent(lambda text: emit({name: text}), call)),
            force_terminal=is_terminal,
            color_system=call.colours if is_terminal else None,
            no_color=call.plain,
            width=call.width,
            height=call.height,
            soft_wrap=True,
            legacy_windows=False,
        )

    def write(text: str) -> None:
        emit({"out": shown(text) if call.out_is_terminal else text})

    return Streams(
        out=console("out", call.out_is_terminal),
        err=console("err", call.err_is_terminal),
        write=write,
        show=lambda text: emit({"live": text}),
    )
