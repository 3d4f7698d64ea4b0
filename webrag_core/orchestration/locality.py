"""Locality expansion: the parents next to a good hit, attached to it. One database query, no scoring."""

from __future__ import annotations

from collections.abc import Sequence

from webrag_core.orchestration.models import RankedChunk
from webrag_core.retrieval.search import Searcher


async def neighbours(
    searcher: Searcher, hits: Sequence[RankedChunk], *, radius: int, min_score: float
) -> list[RankedChunk]:
    """Siblings within `radius` parents of each hit that scores at least `min_score`, without those already there.

    They carry score 0 and `is_locality_expanded`, and never enter stop decisions.
    """
    strong = [hit.chunk for hit in hits if hit.reranked_score >= min_score]
    if radius <= 0 or not strong:
        return []
    present = {hit.chunk.chunk_id for hit in hits}
    siblings = await searcher.siblings(strong, radius)
    return [
        RankedChunk(chunk=sibling, reranked_score=0.0, is_locality_expanded=True)
        for sibling in siblings
        if sibling.chunk_id not in present
    ]
