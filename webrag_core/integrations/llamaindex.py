"""A retriever for LlamaIndex (the extra `llamaindex`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise ImportError("LlamaIndex is not installed: pip install 'webrag[llamaindex]'") from error

from webrag_core.indexing.pipeline import Corpus
from webrag_core.integrations.passages import apassages, metadata_of, passages, request_of
from webrag_core.retrieval.models import RankedChunk
from webrag_core.retrieval.request import ScopeFilter
from webrag_core.sync import WebRAG

_FOR_PEOPLE = ["url", "title", "heading"]  # what a model is told of a passage's origin


class WebragRetriever(BaseRetriever):
    """The best `k` passages of an open `WebRAG`; of an open `Corpus` with `aretrieve` only, in its own event loop.

    `sources` and `filters` restrict the search, `at` searches what the pages said then. Metadata as in
    `passages.metadata_of`. Other options are those of `BaseRetriever`. Raises WebragError.
    """

    def __init__(
        self,
        corpus: WebRAG | Corpus,
        *,
        k: int = 5,
        sources: Sequence[str] | None = None,
        filters: ScopeFilter | None = None,
        at: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._corpus = corpus
        self._k = k
        self._sources = sources
        self._filters = filters
        self._at = at

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        request = request_of(query_bundle.query_str, self._k, self._sources, self._filters)
        return _nodes(passages(self._corpus, request, self._at))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        request = request_of(query_bundle.query_str, self._k, self._sources, self._filters)
        return _nodes(await apassages(self._corpus, request, self._at))


def _nodes(ranked: Iterable[RankedChunk]) -> list[NodeWithScore]:
    return [NodeWithScore(node=_node(passage), score=passage.reranked_score) for passage in ranked]


def _node(chunk: RankedChunk) -> TextNode:
    metadata = metadata_of(chunk)
    hidden = [name for name in metadata if name not in _FOR_PEOPLE]
    return TextNode(
        id_=f"webrag-{chunk.chunk.chunk_id}",
        text=chunk.chunk.text,
        start_char_idx=chunk.chunk.char_start,
        end_char_idx=chunk.chunk.char_end,
        metadata=metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
    )
