"""What a tool found, in the one shape that the formatter knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from webrag_core.orchestration.models import OrchestrationResult
from webrag_core.providers.static_model import count_tokens
from webrag_core.retrieval.models import CitationSpan, RankedChunk
from webrag_core.retrieval.search import CorpusSearch

MOST_CITED = 20
_FAINT = 0.01  # relevance below which a passage is shown only among the first few
_FIRST = 3


def tokens(text: str) -> int:
    """Tokens of `text`; the vocabulary is small, so that no other tokenizer counts many more."""
    return count_tokens([text])[0]


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with the citation that proves it."""

    ranked: RankedChunk
    citation: CitationSpan


@dataclass(frozen=True, slots=True)
class Findings:
    """`hits` best first, `nearby` the parents beside strong ones, `numbers` the source number of each document."""

    query: str
    hits: Sequence[Hit]
    nearby: Sequence[RankedChunk] = ()
    whole: bool = False  # full context: everything, in reading order
    left_out: int = 0
    numbers: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls, query: str, hits: Sequence[Hit], nearby: Sequence[RankedChunk] = (), *, whole: bool = False
    ) -> Findings:
        """The best hits, numbered by page in the order of their first use."""
        ordered = sorted(hits, key=lambda hit: (-hit.citation.score, hit.citation.number))
        kept = [
            hit
            for rank, hit in enumerate(ordered)
            if whole or rank < _FIRST or (rank < MOST_CITED and hit.ranked.reranked_score >= _FAINT)
        ]
        numbers: dict[int, int] = {}
        for hit in kept:
            numbers.setdefault(hit.citation.document_id, len(numbers) + 1)
        beside = [one for one in nearby if one.chunk.document_id in numbers]
        return cls(query, kept, beside, whole, len(hits) - len(kept), numbers)

    def first(self, count: int) -> Findings:
        """The same with at most `count` hits."""
        return Findings.of(self.query, self.hits[:count], self.nearby, whole=self.whole)

    def number(self, document_id: int) -> int:
        """Of the source, from 1."""
        return self.numbers[document_id]


def found_by_answer(result: OrchestrationResult) -> Findings:
    """Citation n quotes the chunk that it was made of; chunks without one are neighbours."""
    chunks = {(one.chunk.version_id, one.chunk.chunk_index): one for one in result.chunks}
    by_span = {(one.chunk.version_id, one.chunk.match_start, one.chunk.match_end): one for one in chunks.values()}
    hits = [
        Hit(by_span[span], citation)
        for citation in result.citations
        if (span := (citation.version_id, citation.char_start, citation.char_end)) in by_span
    ]
    nearby = [one for one in result.chunks if one.is_locality_expanded]
    return Findings.of(result.query, hits, nearby, whole=result.mode == "full_context")


def found_by_search(found: CorpusSearch) -> Findings:
    """Citation n belongs to chunk n."""
    hits = [Hit(ranked, citation) for ranked, citation in zip(found.chunks, found.citations, strict=True)]
    return Findings.of(found.query, hits, whole=found.mode == "full_context")
