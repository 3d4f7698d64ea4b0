"""Rank links by the configured reranker before any of them is paid for: their names and what stands around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webrag_core.errors import RerankError
from webrag_core.orchestration.link_scorers import LinkCandidate, link_text
from webrag_core.orchestration.models import ScoredCandidate
from webrag_core.providers.rerankers.protocol import Reranker

RERANKER = "reranker"
"""Name of the reranker's part in the breakdown of a link's score."""

_SENT = 50  # links, best by the link scorer


async def reranked_links(
    candidates: Sequence[ScoredCandidate],
    links: Mapping[str, LinkCandidate],
    reranker: Reranker,
    query: str,
    *,
    instruction: str | None,
    floor: float,
) -> tuple[list[ScoredCandidate], str | None]:
    """The candidates with the best 50 of those that score `floor` or more in the order of `reranker`, then the others;
    and why it did not order them, if so. `links` by URL.

    One request. Scores stay those of the link scorer, which the floor belongs to.
    """
    chosen = [candidate for candidate in candidates if candidate.score >= floor][:_SENT]
    if len(chosen) < 2:
        return list(candidates), None
    texts = [link_text(links[choice.url]) for choice in chosen]
    try:
        ranking = await reranker.rerank(query, texts, term_idf={}, instruction=instruction)
    except RerankError as error:
        return list(candidates), f"links are ranked without {error.provider}: {error.reason}"
    first = [
        chosen[row.index].model_copy(
            update={"score_breakdown": {**chosen[row.index].score_breakdown, RERANKER: row.relevance_score}}
        )
        for row in ranking.results
    ]
    sent = {choice.url for choice in chosen}
    return [*first, *(candidate for candidate in candidates if candidate.url not in sent)], None
