"""LlamaIndex with pgvector, as its documentation puts hybrid search together, in the environment of the peers.

Pages are cut by its default splitter (1,024 tokens, 200 of them shared by neighbours), stored by `VectorStoreIndex` in
a `PGVectorStore` with a text index, without a graph as by default, which makes its dense search exact. A question goes
to the dense and to the text retriever, five passages each, whose scores are put on a common scale and added up
(`QueryFusionRetriever`, mode `relative_score`).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from llama_index.core import Document, Settings, StorageContext, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import MetadataMode
from llama_index.vector_stores.postgres import PGVectorStore
from pydantic import PrivateAttr

from benchmarks.peers.lines import Page, Passage, Stored, serve, text_of
from benchmarks.peers.minilm import DIMENSIONS, MiniLM


class MiniLMEmbedding(BaseEmbedding):
    """The model as LlamaIndex takes one."""

    _model: MiniLM = PrivateAttr()

    def __init__(self, model: MiniLM) -> None:
        super().__init__(model_name="all-MiniLM-L6-v2")
        self._model = model

    def _get_text_embedding(self, text: str) -> list[float]:
        return [float(number) for number in self._model.vector(text)]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class LlamaIndexPeer:
    """An index in the database at these addresses, one for its synchronous and one for its asynchronous driver."""

    def __init__(self, url: str, async_url: str, model: MiniLM) -> None:
        Settings.embed_model = MiniLMEmbedding(model)
        Settings.llm = MockLLM()  # nothing is generated; without it one of a provider is looked for
        self._store = PGVectorStore(
            connection_string=url,
            async_connection_string=async_url,
            table_name="pages",
            hybrid_search=True,
            text_search_config="english",
            embed_dim=DIMENSIONS,
            initialization_fail_on_error=True,
        )
        self._retriever: QueryFusionRetriever | None = None

    def store(self, pages: Sequence[Page]) -> Stored:
        """Cut, embed and write all pages."""
        documents = [Document(text=text_of(page), metadata={"URL": page["url"]}) for page in pages]
        storage = StorageContext.from_defaults(vector_store=self._store)
        nodes = Settings.node_parser.get_nodes_from_documents(documents)
        index = VectorStoreIndex(nodes, storage_context=storage)
        self._retriever = QueryFusionRetriever(
            [index.as_retriever(vector_store_query_mode=mode, similarity_top_k=5) for mode in ("default", "sparse")],
            similarity_top_k=5,
            num_queries=1,  # no question is put in other words
            mode=FUSION_MODES.RELATIVE_SCORE,
            use_async=False,
        )
        return Stored(passages=len(nodes), file_bytes=0)

    def first_passages(self, question: str, count: int) -> list[Passage]:
        """The first passages of the fused lists."""
        assert self._retriever is not None
        hits = self._retriever.retrieve(question)[:count]
        return [Passage(url=hit.metadata["URL"], text=hit.node.get_content(MetadataMode.NONE)) for hit in hits]


def main() -> None:
    """Serve the bench."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--async-url", required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    options = parser.parse_args()
    serve(LlamaIndexPeer(options.url, options.async_url, MiniLM(options.model, options.vocabulary)))


if __name__ == "__main__":
    main()
