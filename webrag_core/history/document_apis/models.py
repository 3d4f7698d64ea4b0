"""What is asked of a source of documents, and what it replies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import Literal, Protocol, runtime_checkable

from webrag_core.errors import InvalidInputError
from webrag_core.history.as_of import AsOf
from webrag_core.history.models import Certainty, TimeAxis
from webrag_core.retrieval.models import Contract

Status = Literal["stored", "already_stored", "not_found", "no_version_at", "failed"]
Outside = Literal["not_yet", "repealed", "unknown"]
"""Why no version is of a date: the document came later, it had ended by then, or nobody knows."""

MAX_IDENTIFIERS = 1_000
"""Of one batch."""


class DocumentReply(Contract):
    """What became of one identifier.

    `stored`: its version was not stored before; `already_stored`: it was, and nothing was stored; both have a version,
    of which [`char_start`, `char_end`) is meant (the whole text unless the identifier names a part). `no_version_at`:
    the document is known, but has no version of the date; `outside` says why, and `nearest_version_id` is a stored
    version that comes close, where there is one. `not_found`: there is no such document; `address` is where one could
    ask, if anywhere. `failed`: `code` says why, and `transient` whether to ask again may help.

    `certainty` and `time` as in `PageAt`. `note` is one sentence for people.
    """

    identifier: str
    status: Status
    code: str | None = None
    outside: Outside | None = None
    note: str
    url: str | None = None
    version_id: int | None = None
    version: int | None = None
    version_sha256: str | None = None
    title: str | None = None
    char_start: int | None = None
    char_end: int | None = None
    certainty: Certainty | None = None
    time: TimeAxis = "seen"
    nearest_version_id: int | None = None
    address: str | None = None
    transient: bool = False


class DocumentVersion(Contract):
    """A version that a source lists: from `start` to before `end` (None = no bound known), or a copy made at `start`.
    `version_id` is None for one that is not stored."""

    url: str
    start: datetime | None
    end: datetime | None = None
    version_id: int | None = None
    address: str | None = None


class TitledDocument(Contract):
    """A stored document whose title or address holds the words that were asked for."""

    url: str
    title: str | None
    version_id: int


@runtime_checkable
class DocumentApi(Protocol):
    """A source of documents. Whatever it replies is stored as a document, with its history. A plugin of the group
    `webrag.documents` is called with the open corpus, and returns an asynchronous context manager that gives one."""

    @property
    def name(self) -> str:
        """Its name in plans and settings."""
        ...

    async def fetch(self, identifiers: Sequence[str], at: AsOf | None = None) -> list[DocumentReply]:
        """Store the documents as they were at a time (None = now); a reply for each identifier, in order.

        Nothing is raised for an identifier. Raises InvalidInputError for more than `MAX_IDENTIFIERS`, StoreError.
        """
        ...

    async def versions(self, identifier: str) -> list[DocumentVersion]:
        """All versions that it knows of a document, by date. Raises InvalidInputError, FetchError."""
        ...

    async def search_titles(self, text: str) -> list[TitledDocument]:
        """Its stored documents with all words of `text` in title and address, the shortest title first, at most 20.
        Raises InvalidInputError for an empty text."""
        ...


def midnight(day: date | None) -> datetime | None:
    """The instant at which a day begins (UTC), as versions have it."""
    return None if day is None else datetime.combine(day, time(), UTC)


def check_batch(identifiers: Sequence[str]) -> list[str]:
    """The different identifiers of a batch. Raises InvalidInputError for more than `MAX_IDENTIFIERS`."""
    if len(identifiers) > MAX_IDENTIFIERS:
        raise InvalidInputError(f"{len(identifiers):,} identifiers; at most {MAX_IDENTIFIERS:,} at a time")
    return list(dict.fromkeys(identifiers))
