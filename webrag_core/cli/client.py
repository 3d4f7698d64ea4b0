"""A command that a running server answers: this process is its terminal, and imports nothing else.

The server runs the very command (`cli.served`) on the corpus that it has open, and sends what the command prints. What
it cannot do for this process, and what it did not come to an end with, is done here, as if there were no server:
nothing is printed on stdout before the end has come.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
from time import monotonic

from webrag_core.cli.running_server import has_other_settings, server_of_this_code
from webrag_core.corpus_home import home_folder, settings_file, stray_env_files, stray_words
from webrag_core.private_file import open_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from webrag_core.cli.running_server import RunningServer

PATH = "/commands/run"
_CONNECT_SECONDS = 1.0
_SILENT_SECONDS = 15.0  # the server sends a blank line every two
_DRAW_SECONDS = 0.1
_LONGEST_TOKEN = 1_000
_MARGIN = 14  # columns that a live line leaves for spinner and time
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_CHOSEN_BY_VARIABLES = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "JUPYTER_COLUMNS", "JUPYTER_LINES")


class _Unanswered(Exception):
    """The server did not do it; its text says why, for people, where that is worth a line."""


def run(arguments: Sequence[str]) -> int | None:
    """The exit code of the command, run by the server of its corpus; None where this process has to run it."""
    style, command = _without_progress(arguments)
    if not command or "--help" in command or _is_unusual():
        return None
    server = server_of_this_code()
    if server is None or not server.runs(command):
        return None
    if has_other_settings(server):
        if not any(name.upper() == "WEBRAG_USE_SERVER" for name in os.environ):  # who sets it knows
            sys.stderr.write("the server of this corpus has other settings; this command goes on without it\n")
        return None
    for file in stray_env_files():
        sys.stderr.write(f"warning: {stray_words(file)}\n")
    live = _LiveLine() if style == "auto" and sys.stderr.isatty() else None
    printed: list[str] = []
    try:
        for line in _lines(server, {"arguments": command, "progress": style, **_terminal()}, live):
            if "out" in line:
                printed.append(line["out"])
            elif "err" in line:
                _clear(live)
                sys.stderr.write(line["err"])
                sys.stderr.flush()
            elif "end" in line:
                _clear(live)
                sys.stdout.write("".join(printed))
                sys.stdout.flush()
                return int(line["end"])
    except _Unanswered as error:
        _clear(live)
        if str(error):
            sys.stderr.write(f"{error}; this command goes on without it\n")
        return None
    return None


def _without_progress(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The style of `--progress`, and the command with its arguments; no command where other options stand before it."""
    style, rest = "auto", list(arguments)
    if rest[:1] == ["--progress"]:
        style, rest = "".join(rest[1:2]), rest[2:]
    elif rest and rest[0].startswith("--progress="):
        style, rest = rest[0].partition("=")[2], rest[1:]
    return (style, rest) if style in ("auto", "plain", "none") else ("auto", [])


def _is_unusual() -> bool:
    """Whether this output is one that a library knows best."""
    is_dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
    return is_dumb or any(name in os.environ for name in _CHOSEN_BY_VARIABLES)


def _terminal() -> dict[str, Any]:
    """What a console asks of its output: whether it is a terminal, its size, colours and encoding."""
    width, height = _size()
    return {
        "out_is_terminal": sys.stdout.isatty(),
        "err_is_terminal": sys.stderr.isatty(),
        "width": width,
        "height": height,
        "colours": _colours(),
        "plain": bool(os.environ.get("NO_COLOR")),
        "encoding": sys.stdout.encoding or "utf-8",
        "traceparent": os.environ.get("TRACEPARENT"),
    }


def _size() -> tuple[int, int]:
    """Columns and lines: of COLUMNS and LINES, else of the terminal of any standard stream, else 80 and 25."""
    width, height = 80, 25
    for descriptor in (0, 1, 2):
        try:
            width, height = os.get_terminal_size(descriptor)
            break
        except OSError:
            continue
    columns, lines = os.environ.get("COLUMNS", ""), os.environ.get("LINES", "")
    return int(columns) if columns.isdigit() else width or 80, int(lines) if lines.isdigit() else height or 25


def _colours() -> str:
    """How many colours a terminal has, by the variables that say so."""
    term = os.environ.get("TERM", "").strip().lower()
    if os.environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return "truecolor"
    return "256" if term.rpartition("-")[2] in ("256color", "kitty") else "standard"


def _lines(server: RunningServer, call: Mapping[str, Any], live: _LiveLine | None) -> Iterator[dict[str, Any]]:
    """What the server sends, line by line. Raises _Unanswered."""
    try:
        connection = _connected(server.host, server.port)
    except OSError:
        raise _Unanswered from None
    where = f"the server at {server.host}:{server.port}"
    with connection:
        connection.settimeout(_SILENT_SECONDS)
        try:
            connection.sendall(_request(server, json.dumps(call).encode()))
            for place, line in enumerate(_received(connection, live)):
                if place == 0 and line.split()[1:2] != [b"200"]:
                    raise _Unanswered
                if not line.startswith(b"{"):
                    continue  # a header, or a sign of life
                message = json.loads(line)
                if "not_served" in message:
                    raise _Unanswered(message["not_served"])
                if "live" in message and live is not None:
                    live.text = message["live"]
                yield message
        except (OSError, ValueError) as error:
            raise _Unanswered(f"{where} does not answer ({error})") from None
    raise _Unanswered(f"{where} ended before the command did")


def _connected(host: str, port: int) -> socket.socket:
    """A connection to the server. Raises OSError. An address in numbers needs none of what names of hosts do."""
    if not host.replace(".", "").isdigit():
        return socket.create_connection((host, port), _CONNECT_SECONDS)
    connection = socket.socket(socket.AF_INET)
    connection.settimeout(_CONNECT_SECONDS)
    try:
        connection.connect((host, port))
    except OSError:
        connection.close()
        raise
    return connection


def _request(server: RunningServer, body: bytes) -> bytes:
    """The request, in the version of HTTP whose answers end with the connection."""
    head = [
        f"POST {PATH} HTTP/1.0",
        f"Host: {server.authority}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    if server.token is not None:
        head.append(f"Authorization: Bearer {_token(server.token)}")
    return "\r\n".join([*head, "", ""]).encode("latin-1") + body


def _token(place: str) -> str:
    """The token: of a variable, in the environment or the file of settings, else of a file of the home."""
    if place.isupper():
        value = os.environ.get(place)
        if value is None and (file := settings_file()) is not None:
            from dotenv import dotenv_values

            value = dotenv_values(file).get(place)
        if not value:
            raise _Unanswered
        return value.strip()
    with open_private(os.path.join(home_folder(), place)) as stream:
        if stream is None:
            raise _Unanswered
        return stream.read(_LONGEST_TOKEN).decode("ascii").strip()


def _received(connection: socket.socket, live: _LiveLine | None) -> Iterator[bytes]:
    """The lines of an answer. Raises OSError, TimeoutError too."""
    rest, heard = b"", monotonic()
    while True:
        if live is not None and not select.select([connection], [], [], _DRAW_SECONDS)[0]:
            live.draw()
            if monotonic() - heard > _SILENT_SECONDS:
                raise TimeoutError(f"nothing for {_SILENT_SECONDS:g} s")
            continue
        data = connection.recv(65_536)
        if not data:
            return
        heard = monotonic()
        *lines, rest = (rest + data).split(b"\n")
        yield from lines


class _LiveLine:
    """The line that says on a terminal what long work is doing."""

    def __init__(self) -> None:
        self.text = ""
        self._begun = monotonic()
        self._is_drawn = False

    def draw(self) -> None:
        """Draw it anew."""
        seconds = int(monotonic() - self._begun)
        sign = _SPINNER[int(monotonic() / _DRAW_SECONDS) % len(_SPINNER)]
        text = self.text[: max(20, _size()[0] - _MARGIN)]
        line = f"{sign} {text} {seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        encoding = sys.stderr.encoding or "utf-8"
        sys.stderr.write(f"\r\x1b[2K{line.encode(encoding, 'replace').decode(encoding)}")
        sys.stderr.flush()
        self._is_drawn = True

    def clear(self) -> None:
        """Take it away."""
        if self._is_drawn:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._is_drawn = False


def _clear(live: _LiveLine | None) -> None:
    if live is not None:
        live.clear()
