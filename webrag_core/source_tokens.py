"""Tokens that read some sources alone, in a file of the home that nobody else can read. Of a token only its digest is
kept; servers see a change of the file with their next request."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from webrag_core.errors import InvalidInputError
from webrag_core.page_text import visible
from webrag_core.private_file import open_private, replace_private

logger = logging.getLogger(__name__)

FILE = "source-tokens.json"
"""Name of the file below WEBRAG_HOME."""
LONGEST_NAME = 100
_LONGEST = 10_000_000  # bytes of the file
_Stamp = tuple[int, int, int]


class SourceToken(BaseModel):
    """A token: its name, the keys of the sources that it reads, and the digest by which it is known."""

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
    sources: Annotated[tuple[str, ...], Field(min_length=1)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    made_at: AwareDatetime


class _Listed(BaseModel):
    tokens: list[SourceToken] = []


class SourceTokens:
    """The tokens of a home."""

    def __init__(self, home: Path) -> None:
        self._file = home / FILE
        self._stamp: _Stamp | None = None
        self._tokens: Sequence[SourceToken] = ()

    def current(self) -> Sequence[SourceToken]:
        """Those that hold now; the file is read where it changed. One that cannot be used holds none, and the log says
        why."""
        stamp = self._stamp_now()
        if stamp != self._stamp:
            try:
                self._tokens = self.listed()
            except InvalidInputError as error:
                logger.error("no token of some sources is accepted: %s", error.message)
                self._tokens = ()
            self._stamp = stamp
        return self._tokens

    def listed(self) -> list[SourceToken]:
        """All, by name. Raises InvalidInputError for a file that is not this user's alone, or holds something else."""
        try:
            with open_private(self._file) as stream:
                content = None if stream is None else stream.read(_LONGEST)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InvalidInputError(f"{self._file} cannot be read: {error.strerror}") from None
        if content is None:
            raise InvalidInputError(f"{self._file} is not yours alone: delete it, and make the tokens again")
        try:
            return sorted(_Listed.model_validate_json(content).tokens, key=lambda token: token.name)
        except ValidationError:
            raise InvalidInputError(f"{self._file} holds no list of tokens: delete it, and make them again") from None

    def add(self, name: str, sources: Sequence[str]) -> str:
        """Make a token that reads these sources, by key, and return it: it is shown this once. Raises
        InvalidInputError for a name that is taken or is none, and for a file that cannot be used."""
        if not name.strip() or len(name) > LONGEST_NAME or visible(name) != name:
            raise InvalidInputError(f"a token's name has 1 to {LONGEST_NAME} visible characters")
        with self._changing():
            tokens = self.listed()
            if any(token.name == name for token in tokens):
                raise InvalidInputError(f"there is a token {name}: remove it first, or choose another name")
            token = secrets.token_urlsafe(32)
            entry = SourceToken(
                name=name, sources=tuple(sources), sha256=digest(token.encode()), made_at=datetime.now(UTC)
            )
            self._write([*tokens, entry])
        return token

    def remove(self, name: str) -> SourceToken:
        """Revoke a token. Raises InvalidInputError where there is none of this name."""
        with self._changing():
            tokens = self.listed()
            removed = next((token for token in tokens if token.name == name), None)
            if removed is None:
                raise InvalidInputError(f"there is no token {name}; `webrag tokens list` shows them")
            self._write([token for token in tokens if token is not removed])
        return removed

    def _stamp_now(self) -> _Stamp | None:
        try:
            status = os.lstat(self._file)
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_ctime_ns

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Keep other commands from changing the file: what one of them revokes must not come back."""
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = os.open(self._file.parent, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise InvalidInputError(f"{self._file} cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def _write(self, tokens: list[SourceToken]) -> None:
        try:
            replace_private(self._file, _Listed(tokens=tokens).model_dump_json(indent=1).encode())
        except OSError as error:
            raise InvalidInputError(f"{self._file} cannot be written: {error.strerror}") from None


def digest(token: bytes) -> str:
    """What is kept of a token: it is random, so that no salt is needed."""
    return hashlib.sha256(token).hexdigest()
