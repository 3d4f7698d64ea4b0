"""A retriever for LangChain (the extra `langchain`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise ImportError("LangChain is not installed: pip install 'webrag[langchain]'") from error

from webrag_core.indexing.pipeline import Corpus
from webrag_core.integrations.passages import apassages, metadata_of, passages, request_of
from webrag_core.retrieval.models import RankedChunk
from webrag_core.retrieval.request import ScopeFilter
from webrag_core.sync import WebRAG


class WebragRetriever(BaseRetriever):
    """The best `k` passages of an open `WebRAG`; of an open `Corpus` with `ainvoke` only, in its own event loop.

    `sources` and `filters` restrict the search, `at` searches what the pages said then. Metadata as in
    `passages.metadata_of`; `source` is the URL, as LangChain's loaders call it. Raises WebragError.
    """

    corpus: WebRAG | Corpus
    k: int = 5
    sources: Sequence[str] | None = None
    filters: ScopeFilter | None = None
    at: str | None = None

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return _documents(passages(self.corpus, request_of(query, self.k, self.sources, self.filters), self.at))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        request = request_of(query, self.k, self.sources, self.filters)
        return _documents(await apassages(self.corpus, request, self.at))


def _documents(ranked: Iterable[RankedChunk]) -> list[Document]:
    return [
        Document(page_content=passage.chunk.text, metadata={"source": passage.chunk.source_url, **metadata_of(passage)})
        for passage in ranked
    ]
