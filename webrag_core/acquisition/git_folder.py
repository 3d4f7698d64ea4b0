"""A folder under git as a history of documents: path = document, each commit that touches it = a version.

The history is that of the branch itself (first parents): a merge is one change, on the day of the merge.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path, PurePosixPath
from urllib.parse import quote_from_bytes

from webrag_core.acquisition.git_commands import Repository
from webrag_core.acquisition.office_types import SUFFIXES
from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError, InvalidInputError
from webrag_core.foreign_values import whole_number

_TYPES = dict.fromkeys((".htm", ".html", ".xhtml"), "text/html") | dict.fromkeys((".md", ".markdown"), "text/markdown")
_TYPES |= dict.fromkeys((".adoc", ".org", ".rst", ".text", ".txt"), "text/plain")
_TYPES |= SUFFIXES
_FIELDS = "%H%x00%ad%x00%cd%x00%B%x00"
_DATE = re.compile(rb"(-?\d{1,20}) ([+-])(\d{2})(\d{2})")
_LONGEST_MESSAGE = 20_000  # characters
_LAST_SECOND = 4_102_444_800  # of 2099: later ones are mistakes
_FARTHEST_ZONE = 14 * 60  # minutes
_ID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FILE_MODES = (b"100644", b"100755")
_SPECIAL = {b"120000": "a symbolic link", b"160000": "another repository (a submodule)"}
_MOST_CHANGES = 3_000_000  # of all files together: some hundred bytes each in memory


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of the branch. `authored` is in the author's time zone, whose day is the day that was meant."""

    id: str
    authored: datetime
    committed: datetime
    message: str


@dataclass(frozen=True, slots=True)
class FileState:
    """What a path was from a commit on (`commit` is its place in the history); `blob` None = not there."""

    commit: int
    blob: str | None


@dataclass(frozen=True, slots=True)
class FileHistory:
    """All states of a path, in the order of the history. `name` is its file name without the ending."""

    url: str
    name: str
    media_type: str
    states: tuple[FileState, ...]


class GitFolder:
    """The history of a folder: its commits, and the files that documents can be made of. Reads git when it is made."""

    def __init__(self, folder: Path, base_url: str, *, revision: str = "HEAD") -> None:
        """`base_url` is the address below which its files get theirs. `revision` names a branch or a commit; with
        REVISION:FOLDER only that folder of the repository is read. Raises InvalidInputError.
        """
        self.base_url = _base(base_url)
        """Ends with a slash."""
        self.repository = Repository(folder)
        branch, _, inner = revision.partition(":")
        self._prefix = (f"{inner.strip('/')}/" if inner.strip("/") else "") or self.repository.prefix
        self.tip = self.repository.commit(branch or "HEAD")
        self.commits: list[Commit] = []
        self.skipped: dict[str, str] = {}
        """Paths without a document, with the reason."""
        self.refused: Counter[str] = Counter()
        """How many parts of the history were not taken as they are, by what they are."""
        states: dict[bytes, list[FileState]] = {}
        for path, state in self._changes():
            known = states.setdefault(path, [])
            if (known[-1].blob if known else None) != state.blob:
                known.append(state)
        self.files = [file for path in sorted(states) if (file := self._file(path, states[path])) is not None]
        if not self.files:
            raise InvalidInputError(f"{folder} has no text file in its history at {revision}")

    def close(self) -> None:
        """End the reading process."""
        self.repository.close()

    def _changes(self) -> Iterator[tuple[bytes, FileState]]:
        log = self.repository.fields(
            *("log", "--reverse", "--first-parent", "-m", "--raw", "-z", "--no-renames", "--no-abbrev"),
            *("--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-notes", "--no-color", "--encoding=UTF-8"),
            "--date=raw",
            *(f"--format={_FIELDS}", self.tip, "--", *([self._prefix] if self._prefix else [])),
        )
        changes = 0
        for token, _ in log:
            if token.lstrip(b"\n").startswith(b":"):
                modes = token.split()
                path, is_cut = next(log, (b"", True))
                if is_cut or len(modes) < 4 or not self.commits:
                    self.refused["changes of files that cannot be read"] += 1
                    continue
                changes += 1
                if changes > _MOST_CHANGES:
                    raise InvalidInputError(
                        f"the history has more than {_MOST_CHANGES:,} changes of files: name a folder of it, as in"
                        " HEAD:docs, or an earlier commit"
                    )
                if modes[1] in _SPECIAL:
                    self.refused[_SPECIAL[modes[1]]] += 1
                    self.skipped[path.decode(errors="replace")] = _SPECIAL[modes[1]]
                if modes[0].lstrip(b":") in _FILE_MODES or modes[1] in _FILE_MODES:
                    blob = modes[3].decode() if modes[1] in _FILE_MODES else None
                    yield path, FileState(len(self.commits) - 1, blob)
            elif _ID.fullmatch(token):
                parts = [next(log, (b"", True)) for _ in range(3)]
                self._add_commit(token.decode(), *(part for part, _ in parts), is_cut=parts[2][1])

    def _add_commit(self, identity: str, authored: bytes, committed: bytes, message: bytes, *, is_cut: bool) -> None:
        """Add a commit; where a date of it is none, that of the commit before stands for it, which no later text
        precedes."""
        known = _date(committed) or _date(authored)
        if known is None:
            known = self.commits[-1].committed if self.commits else datetime.fromtimestamp(0, UTC)
            self.refused["dates of commits: that of the commit before is taken"] += 1
        text = message[: 4 * _LONGEST_MESSAGE].decode(errors="replace")
        if is_cut or len(text) > _LONGEST_MESSAGE:
            self.refused["ends of long messages"] += 1
        self.commits.append(
            Commit(identity, _date(authored) or known, _date(committed) or known, text[:_LONGEST_MESSAGE])
        )

    def _file(self, path: bytes, states: Sequence[FileState]) -> FileHistory | None:
        inner = path.removeprefix(self._prefix.encode(errors="surrogateescape"))
        path_text = inner.decode(errors="replace")
        name = PurePosixPath(path_text)
        media_type = _TYPES.get(name.suffix.lower())
        if media_type is None:
            self.skipped[path_text] = "no text file"
            return None
        if {b"", b".", b".."} & set(inner.split(b"/")):
            self.skipped[path_text] = "no path"
            return None
        try:
            url = canonicalise(self.base_url + quote_from_bytes(inner, safe="/"))
        except FetchError as error:
            self.skipped[path_text] = error.message
            return None
        return FileHistory(url, name.stem, media_type, tuple(states))


def _base(url: str) -> str:
    try:
        base = canonicalise(url)
    except FetchError as error:
        raise InvalidInputError(error.message) from None
    if {"?", "#"} & set(base):
        raise InvalidInputError(f"{url} has a query: files cannot have addresses below it")
    return base if base.endswith("/") else base + "/"


def _date(raw: bytes) -> datetime | None:
    """Seconds since 1970 and a zone, which is UTC where no place on earth has it; None for what is no date."""
    match = _DATE.fullmatch(raw.strip())
    seconds = (
        None if match is None else whole_number(match[1].decode(), 1, _LAST_SECOND)
    )  # git writes 0 for what it cannot read
    if match is None or seconds is None:
        return None
    minutes = int(match[3]) * 60 + int(match[4])
    if minutes > _FARTHEST_ZONE or int(match[4]) >= 60:
        minutes = 0
    zone = timezone(timedelta(minutes=-minutes if match[2] == b"-" else minutes))
    return datetime.fromtimestamp(seconds, zone)
