"""The token of this user's servers on this machine, in a file of the home that nobody else can read.

Loopback is open to every user of a machine. So a server that has no token in its settings takes this one: it stands in
the address that the server prints, and programs of the same user read the file. It stays the same across restarts.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from pydantic import SecretStr

from webrag_core.errors import InvalidInputError
from webrag_core.private_file import open_private
from webrag_core.store.private_folders import open_home, server_account

SERVE_TOKEN, UI_TOKEN = "serve-token", "ui-token"
"""Names of the files below WEBRAG_HOME: of `webrag serve` and `webrag mcp --http`, and of Dagster's UI."""
PARAMETER = "token"
"""In the query of an address."""
_LONGEST = 1_000  # bytes of the file


def local_token(home: Path, name: str) -> SecretStr:
    """The token in the file `name` of `home`, made on first use.

    Raises InvalidInputError where the file cannot be made, or others could read it or write to it.
    """
    file = home / name
    try:
        open_home(home, server_account())
        if not os.path.lexists(file):
            _make(file)
        return SecretStr(_read(file))
    except OSError as error:
        raise InvalidInputError(
            f"{file} cannot be used: {error.strerror}; without it every user of this machine could use the server: set"
            " a token, or WEBRAG_SERVE_OPEN=1 to allow just that"
        ) from error


def _make(file: Path) -> None:
    """Write a new token, whole from its first moment; a process that was faster keeps its own."""
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with open(descriptor, "w", encoding="ascii") as stream:
            stream.write(f"{secrets.token_urlsafe(32)}\n")
        os.link(fresh, file)
    except FileExistsError:
        return
    finally:
        fresh.unlink()


def _read(file: Path) -> str:
    with open_private(file) as stream:
        if stream is None:
            raise InvalidInputError(f"{file} is not yours alone: delete it, and a new one is made")
        text = stream.read(_LONGEST).decode("ascii", "replace").strip()
    if len(text) < 16 or not all("!" <= character <= "~" for character in text):
        raise InvalidInputError(f"{file} holds no token: delete it, and a new one is made")
    return text
