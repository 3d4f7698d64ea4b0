"""Files of a folder under git, with every version: identifiers are their paths in it, or their addresses."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import quote

from webrag_core.acquisition.git_dates import commit_days, segments
from webrag_core.acquisition.git_folder import FileHistory, GitFolder
from webrag_core.corpus.histories import HistoryDates, HistoryIngestor
from webrag_core.errors import InvalidInputError, StoreError, WebragError
from webrag_core.history.as_of import AsOf
from webrag_core.history.document_apis.models import (
    DocumentReply,
    DocumentVersion,
    TitledDocument,
    check_batch,
    midnight,
)
from webrag_core.history.document_apis.resolving import failure, known_versions, reply_at
from webrag_core.history.document_apis.titles import OF_FOLDERS, search_titles
from webrag_core.history.models import TimeAxis
from webrag_core.indexing.pipeline import Corpus


class GitFolderApi:
    """Implements `DocumentApi` over the history of a folder as it was when `folder` was made. `dates` says what days of
    commits mean (`HistoryDates`). A file is stored with its whole history when it is first asked for."""

    def __init__(self, corpus: Corpus, folder: GitFolder, dates: HistoryDates, *, name: str = "git_folder") -> None:
        self.name = name
        self._corpus = corpus
        self._folder = folder
        self._dates = dates
        self._time: TimeAxis = "valid" if dates == "in-force" else "seen"
        self._histories = HistoryIngestor(corpus.database, folder, dates)
        self._files = {file.url: file for file in folder.files}
        self._stored: set[str] = set()

    async def fetch(self, identifiers: Sequence[str], at: AsOf | None = None) -> list[DocumentReply]:
        """Store files, one after the other, and name their versions of a time. Raises as the protocol says."""
        batch = check_batch(identifiers)
        replies: dict[str, DocumentReply] = {}
        for identifier in batch:
            try:
                replies[identifier] = await self._reply(identifier, at)
            except StoreError:
                raise
            except WebragError as error:
                replies[identifier] = failure(identifier, error)
        return [replies[identifier] for identifier in identifiers]

    async def versions(self, identifier: str) -> list[DocumentVersion]:
        """The times of a file's texts, by the history; none of them is stored by this. Raises InvalidInputError for a
        file that is not in it."""
        file = self._file(identifier)
        if file is None:
            raise InvalidInputError(f"the folder has no text file {identifier[:200]!r} in its history")
        if self._dates == "in-force":
            days = commit_days(self._folder.commits)
            times = segments([(days[state.commit], state.blob) for state in file.states])
            return [
                DocumentVersion(url=file.url, start=midnight(time.start), end=midnight(time.end))
                for time in times
                if time.text is not None
            ]
        moments = [self._folder.commits[state.commit].committed.astimezone(UTC) for state in file.states]
        ends: list[datetime | None] = [*moments[1:], None]
        return [
            DocumentVersion(url=file.url, start=start, end=end)
            for state, start, end in zip(file.states, moments, ends, strict=True)
            if state.blob is not None
        ]

    async def search_titles(self, text: str) -> list[TitledDocument]:
        """Stored files of the folder, by title and path. Raises InvalidInputError."""
        async with self._corpus.database.connection() as connection:
            return await search_titles(connection, text, OF_FOLDERS, self._folder.base_url)

    def _file(self, identifier: str) -> FileHistory | None:
        path = identifier.strip().removeprefix("./")
        by_path = self._folder.base_url + quote(path.lstrip("/"), safe="/", errors="replace")
        return self._files.get(path) or self._files.get(by_path)

    async def _reply(self, identifier: str, at: AsOf | None) -> DocumentReply:
        file = self._file(identifier)
        if file is None:
            skipped = self._folder.skipped.get(identifier.strip())
            note = skipped or "the folder has no such text file in its history"
            return DocumentReply(identifier=identifier, status="not_found", note=note)
        async with self._corpus.database.connection() as connection:
            before = await known_versions(connection, file.url)
        if file.url not in self._stored:
            await self._corpus.add_history(self._histories, file)
            self._stored.add(file.url)
        return await reply_at(
            self._corpus.database, identifier, file.url, at, self._time, before=before, whole_history=True
        )
