"""Sources of documents are plugins: how one is opened, and what holds for those of other packages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from webrag_core.errors import StoreError, WebragError
from webrag_core.history.as_of import AsOf
from webrag_core.history.document_apis.models import (
    DocumentApi,
    DocumentReply,
    DocumentVersion,
    TitledDocument,
    check_batch,
)
from webrag_core.history.document_apis.resolving import failure
from webrag_core.indexing.pipeline import Corpus
from webrag_core.plugins import DOCUMENTS, Plugin, failure_of


@asynccontextmanager
async def open_document_apis(
    corpus: Corpus, names: Iterable[str] | None = None
) -> AsyncIterator[dict[str, DocumentApi]]:
    """Sources by name, closed on exit. Without `names` ours: stored laws always, a web archive where MEMENTO_TIMEGATE
    is set. Folders under git are made by who knows them (`GitFolderApi`).

    Raises InvalidInputError for an unknown name, PluginError for a plugin that cannot be used, and what the plugin
    raises of ours.
    """
    if names is None:
        names = ["legal"] if corpus.settings.memento_timegate is None else ["legal", "memento"]
    async with AsyncExitStack() as stack:
        yield {name: await stack.enter_async_context(_opened(corpus, DOCUMENTS.find(name))) for name in names}


@asynccontextmanager
async def _opened(corpus: Corpus, plugin: Plugin) -> AsyncIterator[DocumentApi]:
    opening = plugin.make(corpus)
    if not isinstance(opening, AbstractAsyncContextManager):
        raise plugin.broken("makes no asynchronous context manager")
    async with AsyncExitStack() as stack:
        try:
            api = await stack.enter_async_context(opening)
        except WebragError:
            raise
        except Exception as error:
            raise plugin.broken(failure_of(error)) from error
        if not isinstance(api, DocumentApi):
            raise plugin.broken("gives no DocumentApi")
        if api.name != plugin.entry.name:
            raise plugin.broken(f"gives a source that calls itself {api.name!r}")
        yield api if plugin.is_ours else GuardedDocuments(plugin, api)


class GuardedDocuments:
    """A source of another package. Implements `DocumentApi`: what it returns is checked, and what it raises is a reply
    that failed, or a FetchError."""

    def __init__(self, plugin: Plugin, api: DocumentApi) -> None:
        self.name = api.name
        self._plugin = plugin
        self._api = api

    async def fetch(self, identifiers: Sequence[str], at: AsOf | None = None) -> list[DocumentReply]:
        """As the protocol says."""
        different = check_batch(identifiers)
        try:
            replies = await self._plugin.answer(self._api.fetch(different, at))
            if not isinstance(replies, list) or not all(isinstance(reply, DocumentReply) for reply in replies):
                raise self._plugin.unusable("gives no list of DocumentReply")
            by_identifier = {reply.identifier: reply for reply in replies}
            missing = self._plugin.unusable("gives no reply")
            return [by_identifier.get(identifier) or failure(identifier, missing) for identifier in identifiers]
        except StoreError:
            raise
        except WebragError as error:
            return [failure(identifier, error) for identifier in identifiers]

    async def versions(self, identifier: str) -> list[DocumentVersion]:
        """As the protocol says."""
        result = await self._plugin.answer(self._api.versions(identifier))
        if not isinstance(result, list) or not all(isinstance(version, DocumentVersion) for version in result):
            raise self._plugin.unusable("gives no list of DocumentVersion")
        return result

    async def search_titles(self, text: str) -> list[TitledDocument]:
        """As the protocol says."""
        result = await self._plugin.answer(self._api.search_titles(text))
        if not isinstance(result, list) or not all(isinstance(document, TitledDocument) for document in result):
            raise self._plugin.unusable("gives no list of TitledDocument")
        return result
