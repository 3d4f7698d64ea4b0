"""The file of a backup: a zip file with a member for each table, and a manifest that says what belongs to it.

It comes to its name when it is whole. A member is the output of COPY in text form, which every later version of
PostgreSQL and pgvector reads.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import zipfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, BinaryIO
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BaseModel, Field, ValidationError

from webrag_core.corpus.tables import MIGRATIONS, TABLES
from webrag_core.errors import InvalidInputError, StoreError

FORMAT = 1
DATA_TABLES = frozenset(table.name for table in TABLES) - {MIGRATIONS.name}
"""Names of the tables that a backup holds beside those of models' vectors, as far as the corpus has them."""
_MANIFEST = "manifest.json"
_MAX_MANIFEST = 16_000_000
_MAX_FILE = 64_000_000
_BATCH = 1 << 20
_LEVEL = 1  # of deflate: text shrinks to a third, and three times the effort saves a tenth more


def _below(path: str) -> str:
    """A path that leads nowhere but below its folder. Raises ValueError."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or not part.isprintable() or "\\" in part for part in parts):
        raise ValueError("leads out of its folder")
    return path


class StoredTable(BaseModel):
    """A table of the backup. `sha256` is that of its member."""

    name: Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]{0,62}$")]
    columns: list[Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]{0,62}$")]]
    rows: int = Field(ge=0)
    sha256: str

    @property
    def member(self) -> str:
        """Its name in the file."""
        return f"tables/{self.name}.copy"


class StoredFile(BaseModel):
    """A file of the home beside the database: `feedback/weights.json`."""

    path: Annotated[str, Field(pattern=r"^feedback/[\w-][\w.-]{0,100}$")]
    sha256: str

    @property
    def member(self) -> str:
        """Its name in the file."""
        return f"files/{self.path}"


class StoredRecord(BaseModel):
    """A file of Dagster's history, by its path below the folder of that."""

    path: Annotated[str, Field(min_length=1, max_length=1_000), AfterValidator(_below)]
    bytes: int = Field(ge=0)
    sha256: str

    @property
    def member(self) -> str:
        """Its name in the file."""
        return f"dagster/{self.path}"


class StoredModel(BaseModel):
    """An embedding model whose vectors are in the backup."""

    id: int = Field(ge=1, lt=2**31)
    provider: str
    name: str
    dimensions: int = Field(ge=1, le=16_000)
    state: str


class Manifest(BaseModel):
    """What a backup holds. `migrations` say which version of the schema it has; `settings` are without secrets;
    `corpus` is the number of the corpus, which earlier versions did not keep; `history` is Dagster's, where it was
    wanted."""

    format: int
    version: str
    made: AwareDatetime
    migrations: list[str]
    tables: list[StoredTable]
    sequences: dict[Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]{0,62}$")], int]
    models: list[StoredModel]
    settings: dict[str, Any]
    files: list[StoredFile] = []
    corpus: UUID | None = None
    history: list[StoredRecord] = []


class ArchiveWriter:
    """Writes the members of a backup."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file

    async def write(self, member: str, pieces: AsyncIterator[bytes]) -> tuple[int, str]:
        """Write a member out of pieces; return its line feeds, which are its rows, and its SHA-256."""
        digest, lines = hashlib.sha256(), 0
        with self._file.open(member, "w", force_zip64=True) as stream:
            batch = bytearray()
            async for piece in pieces:
                batch += piece
                if len(batch) >= _BATCH:
                    lines += batch.count(b"\n")
                    await asyncio.to_thread(_put, stream, bytes(batch), digest)
                    batch.clear()
            lines += batch.count(b"\n")
            await asyncio.to_thread(_put, stream, bytes(batch), digest)
        return lines, digest.hexdigest()

    def write_file(self, stored: StoredFile, content: bytes) -> None:
        """Write a file of the home."""
        self._file.writestr(stored.member, content)

    def size(self, member: str) -> int:
        """Bytes of a member that was written, as they were."""
        return self._file.getinfo(member).file_size

    def finish(self, manifest: Manifest) -> None:
        """Write what belongs to the backup, the last of it."""
        self._file.writestr(_MANIFEST, manifest.model_dump_json())


def _put(stream: Any, data: bytes, digest: Any) -> None:
    stream.write(data)
    digest.update(data)


@contextmanager
def new_archive(path: Path) -> Iterator[ArchiveWriter]:
    """A file that comes to its name when the block ends well, on the disk; whatever ends it earlier leaves no file of
    that name. Raises InvalidInputError for a name that is taken or cannot be written, StoreError for a full disk."""
    if path.exists():
        raise InvalidInputError(f"{path} is there already; a backup overwrites nothing")
    partial = path.with_name(f".{path.name}.partial")
    try:
        descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise InvalidInputError(f"no file can be made in {partial.parent}: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "wb") as stream:  # closing it writes what is left, and fails where that has no room
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InvalidInputError(f"another backup to {path} is being made") from None
            try:
                stream.truncate(0)
                with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
                    yield ArchiveWriter(archive)
                stream.flush()
                os.fsync(descriptor)
                os.link(partial, path)  # unlike a rename, it takes no name that somebody else took meanwhile
                _sync_folder(path.parent)
            finally:
                with suppress(OSError):
                    partial.unlink()
    except FileExistsError:
        raise InvalidInputError(f"{path} is there already; a backup overwrites nothing") from None
    except OSError as error:
        raise StoreError(f"the backup cannot be written: {error.strerror}", code="backup_failed") from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Archive:
    """A backup that is read."""

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        """Raises InvalidInputError for what is no backup, or one of a later format."""
        self._path = path
        self._file = file
        try:
            with file.open(_MANIFEST) as stream:
                content = _at_most(stream, _MAX_MANIFEST)
            self.manifest = Manifest.model_validate_json(content)
        except (KeyError, ValidationError, zipfile.BadZipFile, EOFError):
            raise self._broken("has no manifest") from None
        if self.manifest.format != FORMAT:
            raise InvalidInputError(
                f"{path} was made by WebRAG {self.manifest.version}, in a format that this version does not read"
            )

        self.digest = hashlib.sha256(content).hexdigest()
        """SHA-256 of the manifest, which has those of all members."""

    def pieces(self, table: StoredTable) -> AsyncIterator[bytes]:
        """The content of a table. Raises InvalidInputError, at its end, when it is not what was written."""
        return self._checked(table.member, table.sha256, table.name)

    def record(self, record: StoredRecord) -> AsyncIterator[bytes]:
        """The content of a file of Dagster's history. Raises as `pieces`."""
        return self._checked(record.member, record.sha256, record.member)

    async def _checked(self, member: str, sha256: str, name: str) -> AsyncIterator[bytes]:
        digest = hashlib.sha256()
        try:
            with self._file.open(member) as stream:
                while piece := await asyncio.to_thread(stream.read, _BATCH):
                    digest.update(piece)
                    yield piece
        except (KeyError, zipfile.BadZipFile, EOFError, OSError):
            raise self._broken(f"lacks {name}, or it is damaged") from None
        if digest.hexdigest() != sha256:
            raise self._broken(f"has another {name} than was written")

    def content(self, stored: StoredFile) -> bytes:
        """A file of the home. Raises InvalidInputError when it is not what was written."""
        try:
            with self._file.open(stored.member) as stream:
                content = _at_most(stream, _MAX_FILE)
        except (KeyError, zipfile.BadZipFile, EOFError, OSError):
            raise self._broken(f"lacks {stored.path}, or it is damaged") from None
        if hashlib.sha256(content).hexdigest() != stored.sha256:
            raise self._broken(f"has another {stored.path} than was written")
        return content

    def _broken(self, problem: str) -> InvalidInputError:
        return InvalidInputError(f"{self._path} is no whole backup: it {problem}")


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """A backup to read. Raises InvalidInputError for what is none."""
    try:
        with zipfile.ZipFile(path) as file:
            yield Archive(path, file)
    except zipfile.BadZipFile:
        raise InvalidInputError(f"{path} is no whole backup: it broke off, or is another kind of file") from None
    except FileNotFoundError:
        raise InvalidInputError(f"{path} is not there") from None


def _at_most(stream: BinaryIO | Any, most: int) -> bytes:
    content: bytes = stream.read(most + 1)
    if len(content) > most:
        raise EOFError
    return content
