"""Layer 3's face: a request in, ranked parent chunks out. No model call but embedding, no fetching.

By default candidates come from dense search over children and BM25 over parents; all of them are scored anew by one
absolute score (`scoring`), each parent with its best child. In full-context mode (the scope's parents fit the
threshold) every parent is a candidate and nothing is cut, but scores are computed all the same, so that one scoring
serves every round of a run.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from psycopg import AsyncConnection

from webrag_core.config import Settings
from webrag_core.errors import StoreError
from webrag_core.providers.embedder import Embedder, Vectors
from webrag_core.retrieval.budget import within_budget
from webrag_core.retrieval.chunk_store import ParentRow, load_siblings
from webrag_core.retrieval.filters import check_filters
from webrag_core.retrieval.models import CorpusStats, RetrievalResult, RetrievedChunk, TimingInfo
from webrag_core.retrieval.patterns import Found, Look, best_of, find
from webrag_core.retrieval.ranking import Depths, to_chunk
from webrag_core.retrieval.recency import Recency, latest_date, names_years, within_dates
from webrag_core.retrieval.request import Mode, SearchRequest
from webrag_core.retrieval.scope import Scope, ScopeSize, resolve_scope, scope_size
from webrag_core.store.database import Database

__all__ = ["Mode", "SearchRequest", "Searcher"]

_RETIRED = (
    "the corpus was switched to another embedding model: pages that changed since are found by their words only;"
    " start anew with the settings of that model"
)
_RESCORED = 50  # parents that are read and scored per query


class Searcher:
    """Searches the indexed corpus. Each call takes one connection for one consistent snapshot.

    `model_id` is the model whose vectors are compared, `embedder` embeds the queries with it: no search mixes two.
    """

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
        request = SearchRequest(query=query, mode=mode)
        started = time.perf_counter()
        vectors = await self._embedder.embed(request.queries)
        embedded = time.perf_counter()
        async with self._database.snapshot() as connection:
            result = await self._look(connection, request, vectors, scope, relaxed)
        result.timing = _timing(started, embedded)
        return result

    async def search(self, request: SearchRequest) -> RetrievalResult:
        """What `request` asks for, in the ready pages that its filters let through; ranks and scores as `retrieve`.

        `recency` of the result says how final scores are to be weighed (None = not at all): it is left to the last
        stage, for it must be applied once. Raises InvalidInputError for names and dates that cannot be meant,
        StoreError(embedding_model_mismatch) when nothing can be found because another model is live.
        """
        started = time.perf_counter()
        vectors = await self._embedder.embed(request.queries)
        embedded = time.perf_counter()
        async with self._database.snapshot() as connection:
            retired = await self._retired(connection)
            names = await check_filters(connection, request.filters)
            scope = await resolve_scope(connection, request.filters)
            scope, undated = await within_dates(connection, scope, request.date_ranges)
            result = await self._look(connection, request, vectors, scope, relaxed=0)
            result.recency = await self._recency(connection, request, scope)
        if retired and result.corpus_stats.total_parent_chunks and not result.chunks:
            raise StoreError(_RETIRED, code="embedding_model_mismatch")
        left_out = [f"pages that state no date and were left out for it: {undated}"] if undated else []
        result.warnings = [*([_RETIRED] if retired else []), *names, *left_out]
        result.timing = _timing(started, embedded)
        return result

    async def siblings(self, hits: Sequence[RetrievedChunk], radius: int) -> list[RetrievedChunk]:
        """Parents at most `radius` positions before or after each hit, hits included, unscored, reading order. They
        are as far from the seed as the hit."""
        depths = {hit.document_id: hit.depth for hit in hits}
        async with self._database.snapshot() as connection:
            rows: list[ParentRow] = await load_siblings(connection, hits, radius)
        return [to_chunk(row, depth=depths[row.document_id]) for row in rows]

    async def _look(
        self, connection: AsyncConnection, request: SearchRequest, vectors: Vectors, scope: Scope, relaxed: int
    ) -> RetrievalResult:
        settings = self._settings
        size = await scope_size(connection, scope)
        full = _full_context(request.mode, size, settings)
        found: list[Found] = []
        for query, vector in zip(request.queries, vectors, strict=True):
            look = Look(
                query=query,
                vector=vector,
                model_id=self._model_id,
                scope=scope,
                size=size,
                depths=Depths(scope.depths, settings.retrieval_depth_decay_rate, settings.retrieval_depth_floor),
                full=full,
                limit=settings.retrieval_top_k_children_limit * 2**relaxed,
                kept=_RESCORED * 2**relaxed,
                floor=settings.retrieval_similarity_floor / 2**relaxed,
                ef_search=settings.retrieval_hnsw_ef_search * 2**relaxed,
            )
            found.append(await find(connection, request.pattern, look, request.weight))
        best = best_of(found) if len(found) > 1 else found[0]
        chunks = best.chunks
        if not full:
            chunks = within_budget(chunks, settings.retrieval_context_budget, tokens=lambda chunk: chunk.token_count)
        return RetrievalResult(
            mode="full_context" if full else "chunk",
            pattern=request.pattern,
            model_id=self._model_id,
            candidates=best.candidates,
            chunks=chunks,
            term_idf=best.term_idf,
            corpus_stats=CorpusStats(
                total_documents=size.documents,
                total_parent_chunks=size.parents,
                total_tokens=size.tokens,
                documents_matched=list(dict.fromkeys(chunk.source_url for chunk in chunks)),
            ),
            timing=TimingInfo(embed_ms=0, search_ms=0, total_ms=0),
        )

    async def _recency(self, connection: AsyncConnection, request: SearchRequest, scope: Scope) -> Recency | None:
        """Off without a boost, when years are asked for or named in the query, and where no page has a date."""
        boost = request.recency_boost
        if boost is None:
            boost = self._settings.agent_rerank_recency_boost
        if not boost or request.requested_years or names_years(request.queries):
            return None
        latest = await latest_date(connection, scope)
        return None if latest is None else Recency(boost, request.recent_year_window, latest)

    async def _retired(self, connection: AsyncConnection) -> bool:
        """Whether another model was made live since this process began, which goes on with the old vectors."""
        cursor = await connection.execute(
            "SELECT state = 'live' FROM embedding_models WHERE id = %s", (self._model_id,)
        )
        row = await cursor.fetchone()
        return row is None or not row[0]


def _timing(started: float, embedded: float) -> TimingInfo:
    ended = time.perf_counter()
    return TimingInfo(
        embed_ms=(embedded - started) * 1000,
        search_ms=(ended - embedded) * 1000,
        total_ms=(ended - started) * 1000,
    )


def _full_context(mode: Mode, size: ScopeSize, settings: Settings) -> bool:
    threshold = min(settings.retrieval_full_context_threshold, settings.retrieval_context_budget)
    fits = size.tokens <= threshold
    return fits if mode == "auto" else mode == "full_context" and size.tokens <= settings.retrieval_context_budget
