"""Previews: pages that were fetched to see what they hold, ranked by their best passage before any of them is read.

A link says little about its target: on sites outside the fit the page that answers lies within a visited page's links
nine times in ten, and ranks low by the link's words. Its own best passage ranks it among the first three.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webrag_core.orchestration.frontier import Frontier
from webrag_core.retrieval.models import RetrievedChunk
from webrag_core.retrieval.reader import Reader
from webrag_core.retrieval.scope import Scope
from webrag_core.retrieval.searcher import Searcher

METERED_PREVIEWS = 3
"""Previews a round where every page costs money."""

_NO_BUDGET = 10**9  # tokens: a preview is ranked, not returned
_READ = 8  # previews, best by words and static vectors, that the reader orders


@dataclass(frozen=True, slots=True)
class RankedPreview:
    """A preview with the raw score in [0, 1] of its best passage, 0 for a page without any candidate passage, and what
    the reader says of that passage (None: not read)."""

    document_id: int
    url: str
    score: float
    reading: float | None = None


async def rank_previews(
    searcher: Searcher, queries: Sequence[str], frontier: Frontier, reader: Reader | None
) -> list[RankedPreview]:
    """The previews of `frontier`, best first, ties by URL; those that `reader` read come first, by what it says.

    `queries` are those of `Coverage`: scores are those for the last one.

    Previews and read pages are searched together, so that a word counts as rare in both or in neither.
    """
    previews = frontier.previews.values()
    if not previews:
        return []
    scope = Scope.of({**frontier.scope.depths, **{preview.document_id: preview.link_depth for preview in previews}})
    result = await searcher.retrieve(queries[-1], scope, mode="chunk", context_budget=_NO_BUDGET)
    best: dict[int, RetrievedChunk] = {}
    for chunk in sorted(result.chunks, key=lambda chunk: -chunk.raw_score):
        best.setdefault(chunk.document_id, chunk)
    scores = {document_id: chunk.raw_score for document_id, chunk in best.items()}
    order = sorted(previews, key=lambda preview: (-scores.get(preview.document_id, 0.0), preview.url))
    chosen = [item.document_id for item in order[:_READ] if item.document_id in best]
    readings = [] if reader is None else await reader.read_for(queries, [best[document_id] for document_id in chosen])
    by_id = dict(zip(chosen, readings, strict=False))
    ranked = [
        RankedPreview(item.document_id, item.url, scores.get(item.document_id, 0.0), by_id.get(item.document_id))
        for item in order
    ]
    return sorted(ranked, key=lambda passage: 2.0 if passage.reading is None else -passage.reading)
