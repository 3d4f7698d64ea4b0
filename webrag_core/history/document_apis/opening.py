"""The sources of documents that are configured."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from webrag_core.corpus.ingestor import make_memento_acquirer
from webrag_core.history.document_apis.legal import LegalApi
from webrag_core.history.document_apis.memento import MementoApi
from webrag_core.history.document_apis.models import DocumentApi
from webrag_core.indexing.pipeline import Corpus


@asynccontextmanager
async def open_document_apis(corpus: Corpus) -> AsyncIterator[dict[str, DocumentApi]]:
    """Sources by name: stored laws always, a web archive where MEMENTO_TIMEGATE is set. Connections to the archive are
    closed on exit. Folders under git are made by who knows them (`GitFolderApi`)."""
    async with AsyncExitStack() as stack:
        apis: dict[str, DocumentApi] = {"legal": LegalApi(corpus.database)}
        if corpus.settings.memento_timegate is not None:
            archive = make_memento_acquirer(corpus.settings, corpus.database)
            stack.push_async_callback(archive.aclose)
            apis["memento"] = MementoApi(corpus, archive)
        yield apis
