"""Search the indexed corpus: a request in, ranked parent chunks out. The only model call is the query's embedding.

Candidates come from dense search over children and BM25 over parents; by default one absolute score (`scoring`) ranks
them all, each parent with its best children. In full-context mode (the scope's parents fit the budget) every parent is
a candidate and nothing is cut, but scores are computed all the same: one scoring serves every round of a run.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection

from webrag_core.config.retrieval import RetrievalSettings
from webrag_core.errors import EmbeddingError, StoreError
from webrag_core.providers.embedder import Embedder, Vectors
from webrag_core.retrieval.chunk_store import ParentRow, load_siblings
from webrag_core.retrieval.filters import check_filters
from webrag_core.retrieval.graph.cross_modal import cross_modal
from webrag_core.retrieval.languages import weights_for
from webrag_core.retrieval.merging import within_budget
from webrag_core.retrieval.models import (
    CorpusStats,
    RetrievalResult,
    RetrievedChunk,
    Spelling,
    TimingInfo,
    respelled,
)
from webrag_core.retrieval.patterns import RetrievalContext, best_of, run_pattern
from webrag_core.retrieval.ranking import Depths, to_chunk
from webrag_core.retrieval.request import Mode, Pattern, SearchRequest
from webrag_core.retrieval.resident_index import AskedState, ResidentIndex, ask_state, residence_in
from webrag_core.retrieval.scope import Scope, ScopeSize, resolve_scope, scope_size, within_dates
from webrag_core.retrieval.spelling import find_spellings
from webrag_core.retrieval.weights import SHIPPED, ScoreWeights, weights_in_force
from webrag_core.retrieval.windows import WindowVectors, window_vectors
from webrag_core.store.database import Database

_RETIRED = (
    "the corpus was switched to another embedding model: pages changed since then are found by words only;"
    " restart with the settings of that model"
)
_MAX_CANDIDATES = 50  # parents that are read and scored per query


@dataclass(frozen=True, slots=True)
class _Searched:
    """What was found, by query the terms that are nowhere in the scope, its size, and the index in memory."""

    result: RetrievalResult
    absent: Mapping[str, frozenset[str]]
    size: ScopeSize
    resident: ResidentIndex | None


class Searcher:
    """Searches the indexed corpus. Each call takes one connection for one consistent snapshot.

    `embedder` embeds queries with the model `model_id`, whose vectors are compared. When it fails, the search goes on
    by words: `degraded` of the result then holds "dense" and `warnings` the reason. Only a semantic search, which has
    nothing else, raises EmbeddingError.
    """

    def __init__(self, database: Database, embedder: Embedder, model_id: int, settings: RetrievalSettings) -> None:
        self._database = database
        self._embedder = embedder
        self._model_id = model_id
        self._settings = settings

    async def retrieve(
        self, query: str, scope: Scope, *, mode: Mode = "auto", relaxed: int = 0, context_budget: int | None = None
    ) -> RetrievalResult:
        """Ranked parents of `scope` for `query`, best first, within `context_budget` tokens (None =
        RETRIEVAL_CONTEXT_BUDGET; at least one parent).

        `relaxed` doubles the number of candidates and lowers the similarity floor once per unit. `mode="auto"` takes
        the full context when it fits RETRIEVAL_FULL_CONTEXT_THRESHOLD. Raises InvalidInputError for an invalid query.
        """
        [result] = await self.retrieve_all([query], scope, mode=mode, relaxed=relaxed, context_budget=context_budget)
        return result

    async def retrieve_all(
        self,
        queries: Sequence[str],
        scope: Scope,
        *,
        mode: Mode = "auto",
        relaxed: int = 0,
        context_budget: int | None = None,
    ) -> list[RetrievalResult]:
        """As `retrieve` for each of the queries, at the same time; their vectors are one request."""
        requests = [SearchRequest(query=query, mode=mode, context_budget=context_budget) for query in queries]
        started = time.perf_counter()
        vectors, failure = await self._embed(queries, Pattern.RERANKED)
        embedded = time.perf_counter()

        residence = residence_in(self._database, self._model_id, self._settings.retrieval_resident_mb)

        async def search(at: int) -> RetrievalResult:
            vector = None if vectors is None else vectors[at : at + 1]
            async with self._database.pipelined_snapshot() as connection:
                state = await ask_state(connection, residence)
                searched = await self._search(connection, requests[at], vector, scope, state, relaxed)
            return _finished(searched.result, failure, started, embedded)

        return await asyncio.gather(*map(search, range(len(requests))))

    async def search(self, request: SearchRequest) -> RetrievalResult:
        """Run `request` over the ready pages that match its filters; ranks and scores as `retrieve`.

        Words that are written nowhere in the scope and are near to one that is (`retrieval.spelling`) are searched for
        as that one. Raises InvalidInputError for unknown names in a filter, StoreError(embedding_model_mismatch) when
        nothing is found because another model is live.
        """
        result, spellings = await self._find(request)
        if spellings:
            meant = replace(
                request,
                query=respelled(request.query, spellings),
                formulations=[respelled(other, spellings) for other in request.formulations],
            )
            first = result.timing
            result, _ = await self._find(meant)
            result.spellings = spellings
            result.timing = TimingInfo(
                embed_ms=first.embed_ms + result.timing.embed_ms,
                search_ms=first.search_ms + result.timing.search_ms,
                total_ms=first.total_ms + result.timing.total_ms,
            )
        return result

    async def _find(self, request: SearchRequest) -> tuple[RetrievalResult, list[Spelling]]:
        """What is found for the words as they are, and what those that are written nowhere may be meant for."""
        started = time.perf_counter()
        vectors, failure = await self._embed(request.queries, request.pattern)
        embedded = time.perf_counter()
        residence = residence_in(self._database, self._model_id, self._settings.retrieval_resident_mb)
        async with self._database.pipelined_snapshot() as connection:
            state = await ask_state(connection, residence)
            warnings = await check_filters(connection, request.filters)
            scope = await resolve_scope(connection, request.filters)
            scope, undated = await within_dates(connection, scope, request.date_ranges)
            searched = await self._search(connection, request, vectors, scope, state)
            spellings = await self._spellings(connection, searched, scope)
        result = searched.result
        if not state.is_live and result.corpus_stats.total_parent_chunks and not result.chunks:
            raise StoreError(_RETIRED, code="embedding_model_mismatch")
        if not state.is_live:
            warnings.insert(0, _RETIRED)
        if undated:
            warnings.append(f"pages without a date, excluded by the date filter: {undated}")
        result.warnings = [*warnings, *result.warnings]
        return _finished(result, failure, started, embedded), spellings

    async def siblings(self, hits: Sequence[RetrievedChunk], radius: int) -> list[RetrievedChunk]:
        """Parents at most `radius` positions from each hit, hits included, unscored, in reading order. Their depth is
        the hit's."""
        depths = {hit.document_id: hit.depth for hit in hits}
        async with self._database.pipelined_snapshot() as connection:
            rows: list[ParentRow] = await load_siblings(connection, hits, radius)
        return [to_chunk(row, depth=depths[row.document_id]) for row in rows]

    def context(
        self,
        query: str,
        vector: NDArray[np.float32] | None,
        scope: Scope,
        size: ScopeSize,
        *,
        full: bool = False,
        relaxed: int = 0,
        window: NDArray[np.float32] | None = None,
        resident: ResidentIndex | None = None,
    ) -> RetrievalContext:
        """What a retrieval pattern needs to know of one query, with the limits of the settings."""
        settings = self._settings
        return RetrievalContext(
            query=query,
            vector=vector,
            model_id=self._model_id,
            scope=scope,
            size=size,
            depths=Depths(scope.depths, settings.retrieval_depth_decay_rate, settings.retrieval_depth_floor),
            full=full,
            limit=settings.retrieval_top_k_children_limit * 2**relaxed,
            max_candidates=_MAX_CANDIDATES * 2**relaxed,
            floor=settings.retrieval_similarity_floor / 2**relaxed,
            ef_search=settings.retrieval_hnsw_ef_search * 2**relaxed,
            weights=weights_for(query, weights_in_force(settings), settings),
            window=window,
            resident=resident,
        )

    async def _embed(self, queries: Sequence[str], pattern: Pattern) -> tuple[Vectors | None, EmbeddingError | None]:
        try:
            return await self._embedder.embed(queries, "query"), None
        except EmbeddingError as error:
            if pattern is Pattern.SEMANTIC:
                raise EmbeddingError(
                    f"{pattern} needs the embedding model, which failed: {error.message}", code=error.code
                ) from None
            return None, error

    async def _search(
        self,
        connection: AsyncConnection,
        request: SearchRequest,
        vectors: Vectors | None,
        scope: Scope,
        state: AskedState,
        relaxed: int = 0,
    ) -> _Searched:
        settings = self._settings
        size = await scope_size(connection, scope)
        resident = await state.index(connection, size.indexes)
        budget = request.context_budget or settings.retrieval_context_budget
        full, warnings = _full_context(request.mode, size, settings.retrieval_full_context_threshold, budget)
        warnings += state.warnings
        release = None
        results = []
        windows = WindowVectors({}, None)
        if settings.retrieval_windows and request.pattern.reranks and state.has_windows:
            windows = await window_vectors(request.queries, size.children)
        if windows.failure is not None:
            warnings.append(f"searched without window vectors: {windows.failure}")
        for position, query in enumerate(request.queries):
            vector = None if vectors is None else vectors[position]
            window = windows.of.get(query)
            context = self.context(
                query, vector, scope, size, full=full, relaxed=relaxed, window=window, resident=resident
            )
            release = _release_of(request.pattern, weights_in_force(settings))
            if request.pattern is Pattern.GRAPH:
                results.append(await cross_modal(connection, context))
            else:
                results.append(await run_pattern(connection, request.pattern, context, request.cosine_weight))
        best = best_of(results)
        if release is not None:
            note = f"scored with released weights ({release}): probabilities were fitted with those that ship"
            warnings.append(note)
        chunks = best.chunks if full else within_budget(best.chunks, budget, tokens=lambda chunk: chunk.token_count)
        result = RetrievalResult(
            mode="full_context" if full else "chunk",
            pattern=request.pattern,
            model_id=self._model_id,
            weights=release,
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
            warnings=warnings,
        )
        return _Searched(result, best.absent, size, resident)

    async def _spellings(self, connection: AsyncConnection, searched: _Searched, scope: Scope) -> list[Spelling]:
        postings = None if searched.resident is None else searched.resident.postings
        results = [
            await find_spellings(connection, query, terms, scope, searched.size, postings)
            for query, terms in searched.absent.items()
        ]
        return list({spelling.typed: spelling for spellings in results for spelling in spellings}.values())


def _release_of(pattern: Pattern, weights: ScoreWeights) -> str | None:
    """The released weights that score the candidates; None for those that ship, and for patterns that need none."""
    needed = pattern not in (Pattern.SEMANTIC, Pattern.HYBRID)
    return weights.digest if needed and weights != SHIPPED else None


def _finished(
    result: RetrievalResult, failure: EmbeddingError | None, started: float, embedded: float
) -> RetrievalResult:
    """Add timing, and the warning about a failed embedding."""
    ended = time.perf_counter()
    result.timing = TimingInfo(
        embed_ms=(embedded - started) * 1000,
        search_ms=(ended - embedded) * 1000,
        total_ms=(ended - started) * 1000,
    )
    if failure is not None:
        result.degraded = ["dense"]
        result.warnings.append(f"the embedding model failed; searched by words only: {failure.message}")
    return result


def _full_context(mode: Mode, size: ScopeSize, threshold: int, budget: int) -> tuple[bool, list[str]]:
    """Whether to use the full context, and a warning when a requested full context exceeds the budget."""
    if mode == "full_context":
        if size.tokens <= budget:
            return True, []
        return False, [
            f"full_context needs {size.tokens} tokens but RETRIEVAL_CONTEXT_BUDGET is {budget};"
            " returned the best chunks instead"
        ]
    if mode == "auto" and size.tokens <= threshold:
        if size.tokens <= budget:
            return True, []
        return False, [
            f"RETRIEVAL_FULL_CONTEXT_THRESHOLD ({threshold}) exceeds RETRIEVAL_CONTEXT_BUDGET ({budget}), and the scope"
            f" has {size.tokens} tokens; returned the best chunks instead"
        ]
    return False, []
