"""Locality: the neighbours of strong hits, as context beside them."""

from __future__ import annotations

from collections.abc import Sequence

from webrag_core.retrieval.models import RankedChunk, RetrievedChunk
from webrag_core.retrieval.searcher import Searcher


async def neighbours(
    searcher: Searcher, hits: Sequence[RankedChunk], *, radius: int, min_score: float
) -> list[RankedChunk]:
    """Siblings within `radius` parents of each hit that scores at least `min_score`, without the hits themselves.

    Those of the best hit come first, so that a budget cuts those of the worst; per hit in reading order. They carry
    score 0 and `is_locality_expanded`, and never enter stop decisions. `hits` best first.
    """
    strong = [hit.chunk for hit in hits if hit.reranked_score >= min_score]
    if radius <= 0 or not strong:
        return []
    present = {hit.chunk.chunk_id for hit in hits}
    siblings = [chunk for chunk in await searcher.siblings(strong, radius) if chunk.chunk_id not in present]
    siblings.sort(key=lambda sibling: _nearest_hit(sibling, strong, radius))
    return [RankedChunk(chunk=sibling, reranked_score=0.0, is_locality_expanded=True) for sibling in siblings]


def _nearest_hit(sibling: RetrievedChunk, hits: Sequence[RetrievedChunk], radius: int) -> int:
    """Index of the best hit within `radius` of `sibling`."""
    return next(
        index
        for index, hit in enumerate(hits)
        if hit.version_id == sibling.version_id and abs(hit.chunk_index - sibling.chunk_index) <= radius
    )
