"""Return contract of the retrieval layer."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

from webrag_core.retrieval.recency import Recency
from webrag_core.retrieval.request import Pattern


class Contract(BaseModel):
    """Base: unknown fields are a bug, not data."""

    model_config = ConfigDict(extra="forbid")


class RetrievedChunk(BaseModel):
    """A parent chunk chosen for the context, with the child span that matched best.

    `text` is the exact slice [char_start, char_end) (Unicode code points, half-open) of the document version's
    Markdown; `match_start`/`match_end` delimit the best matching child in the same coordinates, and
    `match_heading_path` is where that child stands: a parent may span several sections.

    Scores, all in [0, 1] but the cosine: `raw_similarity` is the best child's cosine and `lexical_score` the share of
    the attainable BM25 score; `raw_score` is what the retrieval pattern makes of them (see `retrieval.patterns`),
    `score` is that less what the link depth costs and ranks the result; `relevance` is the calibrated probability of
    relevance that the raw score stands for, None for patterns whose raw scores have never been calibrated. A chunk
    that nobody scored (a neighbour) has 0. `dated` is what the page states: its last modification, else its
    publication, None when it states neither.
    """

    model_config = ConfigDict(extra="forbid")

    chunk_id: int
    document_id: int
    version_id: int
    version_sha256: str
    source_url: str
    title: str | None
    text: str
    heading_path: list[str]
    chunk_index: int
    char_start: int
    char_end: int
    match_start: int
    match_end: int
    match_heading_path: list[str]
    token_count: int
    score: float
    raw_score: float = 0.0
    relevance: float | None = 0.0
    raw_similarity: float
    lexical_score: float
    depth: int
    flags: list[str]
    fetched_at: datetime
    dated: datetime | None = None

    @property
    def section_heading(self) -> str | None:
        """The heading path of the matching child as one line, or None above the first heading."""
        return " > ".join(self.match_heading_path) or None

    @property
    def match_text(self) -> str:
        """The text of the best matching child."""
        return self.text[self.match_start - self.char_start : self.match_end - self.char_start]


class RankedChunk(Contract):
    """A retrieved parent chunk with its reranked score in [0, 1]."""

    chunk: RetrievedChunk
    reranked_score: float
    confidence: float | None = None
    is_locality_expanded: bool = False
    source_sub_query: str | None = None


class CorpusStats(BaseModel):
    """What the scope holds and which of its documents gave a result."""

    model_config = ConfigDict(extra="forbid")

    total_documents: int
    total_parent_chunks: int
    total_tokens: int
    documents_matched: list[str]


class TimingInfo(BaseModel):
    """Wall milliseconds of one retrieval."""

    model_config = ConfigDict(extra="forbid")

    embed_ms: float
    search_ms: float
    total_ms: float


class RetrievalResult(BaseModel):
    """Ranked parents for one query. Empty `chunks` with zero statistics for an empty scope.

    `term_idf` is the weight of each query term within the scope (a term that occurs nowhere has the highest).
    `model_id` names the one embedding model that query and chunks were compared with, `candidates` counts the parents
    that were looked at. `warnings` are for the user.
    """

    model_config = ConfigDict(extra="forbid")

    mode: Literal["full_context", "chunk"]
    pattern: Pattern = Pattern.RERANKED
    model_id: int
    candidates: int
    chunks: list[RetrievedChunk]
    term_idf: dict[str, float]
    corpus_stats: CorpusStats
    timing: TimingInfo
    recency: Recency | None = None
    warnings: list[str] = []


class CitationSpan(BaseModel):
    """A verbatim quote proved against a stored page version.

    `verbatim_text` equals `markdown[char_start:char_end]` of the version; `quote_sha256` is the sha256 of its UTF-8
    bytes, `version_sha256` that of the whole version.
    """

    model_config = ConfigDict(extra="forbid")

    number: int
    verbatim_text: str
    source_url: str
    title: str | None
    section_heading: str | None
    document_id: int
    version_id: int
    version_sha256: str
    char_start: int
    char_end: int
    quote_sha256: str
    score: float
