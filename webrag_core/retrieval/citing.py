"""Numbered citations for a ranked evidence set."""

from __future__ import annotations

from collections.abc import Sequence

from webrag_core.retrieval.citations import extract_citation
from webrag_core.retrieval.models import CitationSpan, RankedChunk


def cite(chunks: Sequence[RankedChunk]) -> list[CitationSpan]:
    """Citation n quotes the best matching child of chunk n. Raises IntegrityError for a span outside its chunk."""
    return [
        extract_citation(
            ranked.chunk, ranked.chunk.match_start, ranked.chunk.match_end, number=number, score=ranked.reranked_score
        )
        for number, ranked in enumerate(chunks, start=1)
    ]
