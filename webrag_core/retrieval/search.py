"""Layer 3's face: a query and a scope in, ranked parent chunks out. No model call but embedding, no fetching.

Candidates come from dense search over children and BM25 over parents; all of them are scored anew by one absolute
score (`scoring`), each parent with its best child. In full-context mode (the scope's parents fit the threshold) every
parent is a candidate and nothing is cut, but scores are computed all the same, so that one scoring serves every round
of a run.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal

from webrag_core.config import Settings
from webrag_core.indexing.embedder import Embedder
from webrag_core.indexing.terms import terms
from webrag_core.retrieval.bm25 import search_parents
from webrag_core.retrieval.budget import within_budget
from webrag_core.retrieval.dense import ChildHit, search_children
from webrag_core.retrieval.families import ParentRow, load_children, load_parents, load_siblings
from webrag_core.retrieval.models import CorpusStats, RetrievalResult, RetrievedChunk, TimingInfo
from webrag_core.retrieval.passages import PassageCache
from webrag_core.retrieval.query import check_query
from webrag_core.retrieval.ranking import Depths, first_look, rank_parents, to_chunk
from webrag_core.retrieval.scope import Scope, ScopeSize, scope_size
from webrag_core.store.database import Database

Mode = Literal["auto", "chunk", "full_context"]

_PASSAGES = PassageCache()

_RESCORED = 50  # parents that are read and scored per query


class Searcher:
    """Searches the indexed corpus. Each call takes one connection for one consistent snapshot."""

    def __init__(self, database: Database, embedder: Embedder, model_id: int, settings: Settings) -> None:
        self._database = database
        self._embedder = embedder
        self._model_id = model_id
        self._settings = settings

    async def retrieve(
        self,
        query: str,
        scope: Scope,
        *,
        mode: Mode = "auto",
        relaxed: int = 0,
    ) -> RetrievalResult:
        """Ranked parents of `scope` for `query`, best first, within the context budget (at least one).

        `relaxed` doubles the number of candidates and lowers the similarity floor once per unit (expand_recall).
        `mode="auto"` takes the full context when it fits RETRIEVAL_FULL_CONTEXT_THRESHOLD.
        Raises InvalidInputError for a query that is empty or no text.
        """
        check_query(query)
        started = time.perf_counter()
        vector = (await self._embedder.embed([query]))[0]
        embedded = time.perf_counter()
        limit = self._settings.retrieval_top_k_children_limit * 2**relaxed
        floor = self._settings.retrieval_similarity_floor / 2**relaxed
        async with self._database.snapshot() as connection:
            size = await scope_size(connection, scope)
            full = _full_context(mode, size, self._settings)
            dense: list[ChildHit] = []
            if size.children:
                dense = await search_children(
                    connection,
                    self._model_id,
                    vector,
                    scope,
                    matching_rows=size.children,
                    limit=size.children if full else min(limit, size.children),
                    ef_search=self._settings.retrieval_hnsw_ef_search * 2**relaxed,
                )
            near: dict[int, float] = {}
            for hit in dense:  # best first
                if full or hit.similarity >= floor:
                    near.setdefault(hit.parent_id, hit.similarity)
            lexical = await search_parents(
                connection,
                terms(query),
                scope,
                limit=size.parents if full else min(limit, size.parents),
                also=sorted(near),
            )
            wanted = first_look(near, lexical, None if full else _RESCORED * 2**relaxed)
            children = await load_children(connection, self._model_id, vector, wanted)
            parents = await load_parents(connection, wanted)
        depths = Depths(scope.depths, self._settings.retrieval_depth_decay_rate, self._settings.retrieval_depth_floor)
        chunks = rank_parents(query, parents, children, lexical, depths, _PASSAGES)
        if not full:
            chunks = within_budget(
                chunks, self._settings.retrieval_context_budget, tokens=lambda chunk: chunk.token_count
            )
        ended = time.perf_counter()
        return RetrievalResult(
            mode="full_context" if full else "chunk",
            chunks=chunks,
            term_idf=lexical.idf,
            corpus_stats=CorpusStats(
                total_documents=size.documents,
                total_parent_chunks=size.parents,
                total_tokens=size.tokens,
                documents_matched=list(dict.fromkeys(chunk.source_url for chunk in chunks)),
            ),
            timing=TimingInfo(
                embed_ms=(embedded - started) * 1000,
                search_ms=(ended - embedded) * 1000,
                total_ms=(ended - started) * 1000,
            ),
        )

    async def siblings(self, hits: Sequence[RetrievedChunk], radius: int) -> list[RetrievedChunk]:
        """Parents at most `radius` positions before or after each hit, hits included, unscored, reading order. They
        are as far from the seed as the hit."""
        depths = {hit.document_id: hit.depth for hit in hits}
        async with self._database.snapshot() as connection:
            rows: list[ParentRow] = await load_siblings(connection, hits, radius)
        return [to_chunk(row, depth=depths[row.document_id]) for row in rows]


def _full_context(mode: Mode, size: ScopeSize, settings: Settings) -> bool:
    threshold = min(settings.retrieval_full_context_threshold, settings.retrieval_context_budget)
    fits = size.tokens <= threshold
    return fits if mode == "auto" else mode == "full_context" and size.tokens <= settings.retrieval_context_budget
