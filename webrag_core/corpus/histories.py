"""Store documents with their whole history, as an archive has it: every version, and when it was seen or in force.

Dates of the history are one of two times, by the caller's word. Of `seen` times each change is a sighting, and so is
the last instant before the next one: a history knows what was there in between. Of `in_force` times they are validity,
and nothing but the end of the history was seen: at the time of reading.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from psycopg import AsyncConnection

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.git_dates import CommitDay, commit_days, segments
from webrag_core.acquisition.git_folder import FileHistory, GitFolder
from webrag_core.conversion.converted_page import EXTRACTOR_VERSION, ConvertedPage
from webrag_core.conversion.worker import convert_in_worker
from webrag_core.corpus import documents
from webrag_core.corpus.documents import FetchRecord, StoredDocument
from webrag_core.corpus.periods import Sighting, basis_of, record_sighting
from webrag_core.corpus.stated_dates import Statement, ValidityBasis
from webrag_core.corpus.unforeseen import contained
from webrag_core.corpus.validity import write_stated, write_statements
from webrag_core.errors import FetchError, InvalidInputError, Reason
from webrag_core.store.database import Database

HistoryDates = Literal["in-force", "seen"]
ACQUIRER = "git"
_BASES: tuple[ValidityBasis, ...] = ("history", "undated")
_INSTANT = timedelta(microseconds=1)
_MOST_BYTES = 200_000_000  # of all versions of a file, which are in memory together
_NEVER = timedelta(days=36_500)  # a folder is read again when somebody says so


@dataclass(frozen=True, slots=True)
class HistoryOutcome:
    """Outcome of one file. `version_id` is what it is at the end; None where it is not there any more. `versions`
    counts its different texts."""

    url: str
    document_id: int
    version_id: int | None
    outcome: Literal["fetched", "unchanged"]
    versions: int


@dataclass(frozen=True, slots=True)
class _Text:
    page: AcquiredPage
    converted: ConvertedPage


class HistoryIngestor:
    """Stores the files of a folder under git. Safe to call concurrently for different files."""

    def __init__(self, database: Database, folder: GitFolder, dates: HistoryDates) -> None:
        self._database = database
        self._folder = folder
        self._dates = dates
        self._days = commit_days(folder.commits)
        self._moments = _moments(folder)
        self.read_at = datetime.now(UTC)

    def undated(self) -> int:
        """Number of commits of which only bounds are known; 0 unless dates are those of being in force."""
        return sum(not day.known for day in self._days) if self._dates == "in-force" else 0

    async def ingest(self, file: FileHistory) -> HistoryOutcome:
        """Store all versions of a file, unless it is stored with the same history.

        A state with fewer than three words counts as absent: an emptied file is how some histories repeal. Raises
        FetchError for a file of which no state is readable, InvalidInputError for an address that is stored from the
        web.
        """
        async with self._database.connection() as connection:
            await documents.refuse_forgotten(connection, file.url)
            stored = await documents.find_document(connection, file.url)
        if stored is not None and stored.acquirer not in (None, ACQUIRER):
            raise InvalidInputError(f"{file.url} is stored from {stored.acquirer}: choose another base address")
        mark = f'"{self._dates}:{self._folder.commits[file.states[-1].commit].id}"'
        known = stored is not None and stored.etag == mark and stored.extractor == EXTRACTOR_VERSION
        if stored is not None and known and stored.latest_version is not None:
            return await self._unchanged(file, stored)
        try:
            with contained(file.url):
                texts = await self._texts(file)
        except FetchError as error:
            await self._failed(file, error)
            raise
        async with self._database.transaction() as connection:
            write = self._write_seen if self._dates == "seen" else self._write_in_force
            document_id, version_id, versions = await write(connection, file, texts)
            # of the whole history, whichever of its states was stored last
            await connection.execute("UPDATE documents SET etag = %s WHERE id = %s", (mark, document_id))
            await self._record(connection, file, version_id, "fetched")
        return HistoryOutcome(file.url, document_id, version_id, "fetched", versions)

    async def _texts(self, file: FileHistory) -> dict[str, _Text]:
        """The readable texts by blob."""
        blobs = list(dict.fromkeys(state.blob for state in file.states if state.blob is not None))
        texts: dict[str, _Text] = {}
        size = 0
        for blob in blobs:
            (body,) = await asyncio.to_thread(self._folder.repository.read, [blob])
            if body is None:
                raise FetchError(Reason.TOO_LARGE, f"{file.url}: a version is missing from the copy or too large")
            headers = {"content-type": f"{file.media_type}; charset=utf-8"}
            page = AcquiredPage(file.url, file.url, 200, headers, body, self.read_at, len(body))
            try:
                converted = await convert_in_worker(page)
            except FetchError as error:
                if error.reason in (Reason.EMPTY_PAGE, Reason.NEEDS_SCRIPT):
                    continue
                raise
            texts[blob] = _Text(page, replace(converted, title=converted.title or file.name, canonical=None))
            size += len(body) + len(converted.markdown)
            if size > _MOST_BYTES:
                raise FetchError(Reason.TOO_LARGE, f"{file.url}: its versions have more than {_MOST_BYTES:,} bytes")
        if not texts:
            raise FetchError(Reason.EMPTY_PAGE, f"no version of {file.url} has three words")
        return texts

    async def _write_seen(
        self, connection: AsyncConnection, file: FileHistory, texts: Mapping[str, _Text]
    ) -> tuple[int, int | None, int]:
        """Each state as a sighting at its commit, and as another one just before the next."""
        document_id, last = 0, None
        versions: dict[int, datetime] = {}  # version -> the last moment of it
        ends = [self._moments[state.commit] - _INSTANT for state in file.states[1:]] + [self._moments[-1]]
        for state, end in zip(file.states, ends, strict=True):
            begin = self._moments[state.commit]
            text = texts.get(state.blob or "")
            last = None
            if text is not None:
                document_id, last = await self._store(connection, text, begin, sighting=False)
                versions[last] = max(end, begin)
            for at in (begin, end):
                if document_id and at >= begin:
                    sighting = Sighting(at, last, ACQUIRER, basis_of(ACQUIRER))
                    await record_sighting(connection, document_id, sighting)
        for version_id, at in versions.items():
            await write_statements(connection, version_id, (), _BASES)
            # read by what was in force, it had the moment of reading
            await connection.execute("UPDATE document_versions SET fetched_at = %s WHERE id = %s", (at, version_id))
        return document_id, last, len(versions)

    async def _write_in_force(
        self, connection: AsyncConnection, file: FileHistory, texts: Mapping[str, _Text]
    ) -> tuple[int, int | None, int]:
        """Each state as a time of being in force; the end of the history as seen now."""
        last = file.states[-1].blob if file.states[-1].blob in texts else None
        states: list[tuple[CommitDay, str]] = [(self._days[state.commit], state.blob or "") for state in file.states]
        times = [
            segment for segment in segments(states) if segment.text in texts
        ]  # what is absent or empty holds at no time
        ids: dict[str, int] = {}
        document_id = 0
        # what was corrected on the day on which it came into force never held
        past = [blob for blob in dict.fromkeys(time.text for time in times) if blob != last]
        for place, blob in enumerate(past):
            before = self.read_at - (len(past) - place) * _INSTANT
            document_id, ids[blob] = await self._store(connection, texts[blob], before, sighting=False)
        if last is not None:
            document_id, ids[last] = await self._store(connection, texts[last], self.read_at, sighting=True)
        else:
            absent = Sighting(self.read_at, None, ACQUIRER, basis_of(ACQUIRER))
            await record_sighting(connection, document_id, absent)
        by_version: dict[int, list[Statement]] = {version_id: [] for version_id in ids.values()}
        for time in times:
            basis: ValidityBasis = "history" if time.dated else "undated"
            by_version[ids[time.text]].append(Statement("in_force", time.start, time.end, basis))
        for version_id, statements in by_version.items():
            await write_statements(connection, version_id, statements, _BASES)
        return document_id, None if last is None else ids[last], len(set(ids.values()))

    async def _store(
        self, connection: AsyncConnection, text: _Text, at: datetime, *, sighting: bool
    ) -> tuple[int, int]:
        page = replace(text.page, fetched_at=at, asked_at=self.read_at)
        stored = await documents.store_version(
            connection, page, text.converted, ACQUIRER, self.read_at + _NEVER, sighting=sighting
        )
        await write_stated(connection, stored[1], text.converted.markdown)
        return stored

    async def _unchanged(self, file: FileHistory, stored: StoredDocument) -> HistoryOutcome:
        """The same history: only that it was read again is new."""
        latest = stored.latest_version
        assert latest is not None
        at = self.read_at if self._dates == "in-force" else self._moments[-1]
        async with self._database.transaction() as connection:
            await documents.lock_urls(connection, file.url)
            cursor = await connection.execute(
                "SELECT version_id IS NOT NULL FROM version_periods WHERE document_id = %s AND seen_until IS NULL",
                (stored.id,),
            )
            is_there = await cursor.fetchone() != (False,)
            again = Sighting(at, latest if is_there else None, ACQUIRER, basis_of(ACQUIRER))
            await record_sighting(connection, stored.id, again)
            await connection.execute("UPDATE documents SET last_checked = now() WHERE id = %s", (stored.id,))
            await self._record(connection, file, latest if is_there else None, "unchanged")
        texts = len({state.blob for state in file.states if state.blob is not None})
        return HistoryOutcome(file.url, stored.id, latest if is_there else None, "unchanged", texts)

    async def _failed(self, file: FileHistory, error: FetchError) -> None:
        async with self._database.transaction() as connection:
            await documents.lock_urls(connection, file.url)
            await documents.record_failure(connection, file.url, error, self.read_at + _NEVER)
            failed = FetchRecord(file.url, ACQUIRER, "failed", self.read_at, reason=error.reason.value)
            await documents.record_fetch(connection, failed)

    async def _record(
        self, connection: AsyncConnection, file: FileHistory, version_id: int | None, outcome: str
    ) -> None:
        seen_at = self.read_at if self._dates == "in-force" else self._moments[-1]
        record = FetchRecord(
            url=file.url,
            acquirer=ACQUIRER,
            outcome=outcome,
            started_at=self.read_at,
            final_url=file.url,
            version_id=version_id,
            seen_at=None if version_id is None else seen_at,
        )
        await documents.record_fetch(connection, record)


def _moments(folder: GitFolder) -> Sequence[datetime]:
    """When each commit came, in order: a clock that was slow does not turn the history round, none is ahead of now."""
    moments: list[datetime] = []
    now = datetime.now(UTC)
    for commit in folder.commits:
        at = min(commit.committed.astimezone(UTC), now)
        moments.append(at if not moments or at > moments[-1] else moments[-1] + 2 * _INSTANT)
    return moments
