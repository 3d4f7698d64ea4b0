"""Merge the results of sub-queries and rounds into one evidence set within a token budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from webrag_core.retrieval.models import RankedChunk
from webrag_core.retrieval.redundancy import redundant_indices

Item = TypeVar("Item")


def within_budget(items: Iterable[Item], budget: int, tokens: Callable[[Item], int]) -> list[Item]:
    """Take items in order while they fit `budget` tokens, skipping those that do not; at least one."""
    taken: list[Item] = []
    used = 0
    for item in items:
        cost = tokens(item)
        if used + cost <= budget or not taken:
            taken.append(item)
            used += cost
    return taken


def by_score(chunks: Iterable[RankedChunk]) -> list[RankedChunk]:
    """Best first; equal scores by URL and reading order, so that two runs agree."""
    return sorted(chunks, key=lambda c: (-c.reranked_score, c.chunk.source_url, c.chunk.chunk_index))


def merge_sub_queries(results: Sequence[Sequence[RankedChunk]], *, limit: int) -> list[RankedChunk]:
    """At most `limit` chunks: each sub-query first gets its share (the first ones, when there are more sub-queries
    than places), the rest is filled by score.

    Scores of different sub-queries are not comparable, so none may crowd out another. A chunk that several
    sub-queries found keeps its best score.
    """
    share = max(1, limit // max(1, len(results)))
    chosen: dict[int, RankedChunk] = {}
    for ranked in results[:limit]:
        for chunk in by_score(ranked)[:share]:
            keep_best(chosen, chunk)
    for chunk in by_score(chunk for ranked in results for chunk in ranked):
        if len(chosen) < limit or chunk.chunk.chunk_id in chosen:
            keep_best(chosen, chunk)
    return by_score(chosen.values())


def accumulate(earlier: Sequence[RankedChunk], latest: Sequence[RankedChunk]) -> list[RankedChunk]:
    """The evidence of all rounds: a chunk seen again takes its latest score, none is lost to a worse round.

    A page that another run indexed anew in between counts as it is now: no evidence mixes two versions of it.
    """
    current = {chunk.chunk.document_id: chunk.chunk.version_id for chunk in latest}
    known = {
        chunk.chunk.chunk_id: chunk
        for chunk in earlier
        if current.get(chunk.chunk.document_id, chunk.chunk.version_id) == chunk.chunk.version_id
    }
    known.update({chunk.chunk.chunk_id: chunk for chunk in latest})
    return by_score(known.values())


def without_redundancy(chunks: Sequence[RankedChunk], ceiling: float) -> list[RankedChunk]:
    """Drop chunks whose text a better one already holds; best first in, best first out."""
    ordered = by_score(chunks)
    dropped = set(redundant_indices([chunk.chunk.text for chunk in ordered], ceiling))
    return [chunk for index, chunk in enumerate(ordered) if index not in dropped]


def fit_budget(chunks: Sequence[RankedChunk], budget: int) -> list[RankedChunk]:
    """Select chunks in the given order within `budget` tokens; see `within_budget`."""
    return within_budget(chunks, budget, tokens=lambda ranked: ranked.chunk.token_count)


def reading_order(chunks: Sequence[RankedChunk]) -> list[RankedChunk]:
    """Grouped by page, the page with the best hit first; within a page in reading order."""
    best: dict[str, float] = {}
    for chunk in chunks:
        url = chunk.chunk.source_url
        best[url] = max(best.get(url, 0.0), chunk.reranked_score)
    return sorted(chunks, key=lambda c: (-best[c.chunk.source_url], c.chunk.source_url, c.chunk.chunk_index))


def keep_best(chosen: dict[int, RankedChunk], chunk: RankedChunk) -> None:
    """Put a chunk among those that are chosen, by id; one that is there already keeps its better score."""
    known = chosen.get(chunk.chunk.chunk_id)
    if known is None or chunk.reranked_score > known.reranked_score:
        chosen[chunk.chunk.chunk_id] = chunk
