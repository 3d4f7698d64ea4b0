"""Pages as a web archive has them (RFC 7089): identifiers are their addresses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from webrag_core.acquisition.memento.acquirer import MementoAcquirer
from webrag_core.acquisition.urls import page_url
from webrag_core.corpus.acquirers import make_memento_acquirer
from webrag_core.corpus.page_batches import gather_bounded
from webrag_core.errors import FetchError, Reason, StoreError, WebragError
from webrag_core.history.as_of import AsOf
from webrag_core.history.document_apis.models import DocumentReply, DocumentVersion, TitledDocument, check_batch
from webrag_core.history.document_apis.resolving import failure, known_versions, reply_at
from webrag_core.history.document_apis.titles import OF_ARCHIVES, search_titles
from webrag_core.indexing.pipeline import Corpus


class MementoApi:
    """Implements `DocumentApi` over an archive. What the corpus knows for certain of a date is not asked again."""

    name = "memento"

    def __init__(self, corpus: Corpus, archive: MementoAcquirer) -> None:
        self._corpus = corpus
        self._archive = archive

    async def fetch(self, identifiers: Sequence[str], at: AsOf | None = None) -> list[DocumentReply]:
        """Store the copies nearest to a time, a few at once. A date before the archive's first copy has no version:
        the copy is stored all the same, as the nearest one. Raises as the protocol says."""
        replies: dict[str, DocumentReply] = {}
        batch = check_batch(identifiers)
        moment = datetime.now(UTC) if at is None else at.end
        archive = self._archive.nearest_to(moment)
        # of the same database and model, with another way to pages
        corpus = Corpus(self._corpus.database, archive, self._corpus.settings, self._corpus.embedder)

        def done(identifier: str, reply: DocumentReply | FetchError) -> None:
            replies[identifier] = failure(identifier, reply) if isinstance(reply, FetchError) else reply

        async def work(identifier: str) -> DocumentReply:
            try:
                return await _reply(corpus, identifier, at)
            except (FetchError, StoreError):
                raise
            except WebragError as error:
                return failure(identifier, error)

        await gather_bounded(batch, work, done)
        return [replies[identifier] for identifier in identifiers]

    async def versions(self, identifier: str) -> list[DocumentVersion]:
        """The copies that the archive lists, by date; none of them is stored by this. Raises FetchError."""
        url = page_url(identifier)
        return [DocumentVersion(url=url, start=copy.at, address=copy.url) for copy in await self._archive.copies(url)]

    async def search_titles(self, text: str) -> list[TitledDocument]:
        """Pages of which a copy is stored. Raises InvalidInputError."""
        async with self._corpus.database.connection() as connection:
            return await search_titles(connection, text, OF_ARCHIVES)


@asynccontextmanager
async def open_api(corpus: Corpus) -> AsyncIterator[MementoApi]:
    """The plugin `memento` of the group `webrag.documents`. Raises InvalidInputError without MEMENTO_TIMEGATE."""
    archive = make_memento_acquirer(corpus.settings, corpus.database)
    try:
        yield MementoApi(corpus, archive)
    finally:
        await archive.aclose()


async def _reply(corpus: Corpus, identifier: str, at: AsOf | None) -> DocumentReply:
    url = page_url(identifier)
    if at is not None and at.in_future:
        note = f"{at.text} is in the future: no archive has copies of it"
        return DocumentReply(identifier=identifier, status="no_version_at", outside="unknown", url=url, note=note)
    async with corpus.database.connection() as connection:
        before = await known_versions(connection, url)
    if at is not None and before:
        known = await reply_at(corpus.database, identifier, url, at, "seen")
        if known.certainty == "certain":
            return known
    try:
        added = await corpus.add(url, refresh=True)
    except FetchError as error:
        if error.reason is Reason.PROVIDER_FAILED and error.status == 404:
            return DocumentReply(identifier=identifier, status="not_found", note=error.message, url=url)
        return failure(identifier, error, url=url)
    reply = await reply_at(corpus.database, identifier, added.url, at, "seen", before=before)
    if reply.status == "no_version_at":
        reply.nearest_version_id = added.version_id
    return reply
