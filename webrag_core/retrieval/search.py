"""Layer 3's face: a query and a scope in, ranked parent chunks out. No model call but embedding, no fetching.

Candidates come from dense search over children and BM25 over parents; each parent takes its best child. In
full-context mode (the scope's parents fit the threshold) every parent is a candidate and nothing is cut, but scores
are computed all the same, so that one scoring serves every round of a run.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Literal

from psycopg import AsyncConnection
from psycopg.rows import dict_row

from webrag_core.config import Settings
from webrag_core.indexing.embedder import Embedder
from webrag_core.indexing.markdown import plain_text
from webrag_core.indexing.terms import terms
from webrag_core.retrieval.bm25 import LexicalResult, search_parents
from webrag_core.retrieval.budget import within_budget
from webrag_core.retrieval.dense import ChildHit, children_of, search_children
from webrag_core.retrieval.models import CorpusStats, RetrievalResult, RetrievedChunk, TimingInfo
from webrag_core.retrieval.query import check_query
from webrag_core.retrieval.scope import Scope, ScopeSize, scope_size
from webrag_core.store.database import Database

Mode = Literal["auto", "chunk", "full_context"]

# equal shares: with a static embedder neither side is reliable alone
_LEXICAL_SHARE = 0.5


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
            lexical = await search_parents(
                connection, terms(query), scope, limit=size.parents if full else min(limit, size.parents)
            )
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
            wanted = {hit.parent_id for hit in dense if full or hit.similarity >= floor}
            wanted |= {hit.parent_id for hit in lexical.hits}
            children = dense if full else await children_of(connection, self._model_id, vector, sorted(wanted))
            rows = await _load_parents(connection, sorted(wanted))
        chunks = _rank(rows, children, lexical, scope, self._settings)
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
            rows = await _load_siblings(connection, hits, radius)
        return [_chunk(row, depth=depths[row["document_id"]]) for row in rows]


def _full_context(mode: Mode, size: ScopeSize, settings: Settings) -> bool:
    threshold = min(settings.retrieval_full_context_threshold, settings.retrieval_context_budget)
    fits = size.tokens <= threshold
    return fits if mode == "auto" else mode == "full_context" and size.tokens <= settings.retrieval_context_budget


_PARENTS = (
    "SELECT c.id, c.document_id, c.version_id, d.canonical_url, v.title, c.body, c.heading_path, c.ordinal,"
    " c.char_start, c.char_end, c.token_count, c.flags, v.fetched_at, v.sha256"
    " FROM chunks c JOIN document_versions v ON v.id = c.version_id JOIN documents d ON d.id = c.document_id"
)


async def _load_parents(connection: AsyncConnection, parent_ids: list[int]) -> list[dict[str, Any]]:
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(_PARENTS + " WHERE c.id = ANY(%s)", (parent_ids,))
        return await cursor.fetchall()


async def _load_siblings(
    connection: AsyncConnection, hits: Sequence[RetrievedChunk], radius: int
) -> list[dict[str, Any]]:
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(
            _PARENTS + " WHERE c.version_id = ANY(%(versions)s) AND c.level = 'parent' AND EXISTS (SELECT FROM"
            " unnest(%(versions)s::integer[], %(ordinals)s::integer[]) AS h (version, ordinal)"
            " WHERE h.version = c.version_id AND abs(h.ordinal - c.ordinal) <= %(radius)s)"
            " ORDER BY d.canonical_url, c.ordinal",
            {
                "versions": [hit.version_id for hit in hits],
                "ordinals": [hit.chunk_index for hit in hits],
                "radius": radius,
            },
        )
        return await cursor.fetchall()


def _chunk(
    row: dict[str, Any],
    *,
    match: ChildHit | None = None,
    score: float = 0.0,
    similarity: float = 0.0,
    lexical: float = 0.0,
    depth: int = 0,
) -> RetrievedChunk:
    return RetrievedChunk(
        chunk_id=row["id"],
        document_id=row["document_id"],
        version_id=row["version_id"],
        version_sha256=row["sha256"],
        source_url=row["canonical_url"],
        title=row["title"],
        text=row["body"],
        heading_path=row["heading_path"],
        chunk_index=row["ordinal"],
        char_start=row["char_start"],
        char_end=row["char_end"],
        match_start=match.start if match else row["char_start"],
        match_end=match.end if match else row["char_end"],
        match_heading_path=match.heading_path if match else row["heading_path"],
        token_count=row["token_count"],
        score=score,
        raw_similarity=similarity,
        lexical_score=lexical,
        depth=depth,
        flags=row["flags"],
        fetched_at=row["fetched_at"],
    )


def _rank(
    rows: Sequence[dict[str, Any]],
    children: Sequence[ChildHit],
    lexical: LexicalResult,
    scope: Scope,
    settings: Settings,
) -> list[RetrievedChunk]:
    """Fuse: half the share of the attainable BM25 score, half the best child's cosine (floored at 0), times the
    depth weight max(1 - depth * rate, floor). In [0, 1]; ties in reading order. The best `reranker_top_n` then
    have their matching child chosen by words as well."""
    families: dict[int, list[ChildHit]] = {}
    for hit in children:
        families.setdefault(hit.parent_id, []).append(hit)
    relative = {hit.parent_id: hit.relative for hit in lexical.hits}
    chunks = []
    for row in rows:
        best = max(families.get(row["id"], []), key=lambda child: (child.similarity, -child.start), default=None)
        similarity = best.similarity if best else 0.0
        depth = scope.depths.get(row["document_id"], 0)
        weight = max(1.0 - depth * settings.retrieval_depth_decay_rate, settings.retrieval_depth_floor)
        words = relative.get(row["id"], 0.0)
        fused = _LEXICAL_SHARE * words + (1 - _LEXICAL_SHARE) * max(0.0, similarity)
        chunks.append(
            _chunk(
                row,
                match=best,
                score=fused * weight,
                similarity=similarity,
                lexical=words,
                depth=depth,
            )
        )
    chunks.sort(key=lambda chunk: (-chunk.score, chunk.source_url, chunk.chunk_index))
    for chunk in chunks[: settings.reranker_top_n]:
        _choose_match(chunk, families.get(chunk.chunk_id, []), lexical.idf)
    return chunks


def _choose_match(chunk: RetrievedChunk, family: Sequence[ChildHit], idf: dict[str, float]) -> None:
    """The child that a citation will quote: best sum of cosine and IDF coverage of the query's words."""
    total = sum(idf.values())
    if len(family) < 2 or not total:
        return

    def worth(child: ChildHit) -> tuple[float, int]:
        body = chunk.text[child.start - chunk.char_start : child.end - chunk.char_start]
        have = set(terms(plain_text(body)))
        covered = sum(weight for term, weight in idf.items() if term in have) / total
        return covered + child.similarity, -child.start

    best = max(family, key=worth)
    chunk.match_start, chunk.match_end = best.start, best.end
    chunk.match_heading_path = best.heading_path
