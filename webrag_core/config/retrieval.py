"""What a search reads and returns."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from webrag_core.config.embedding import EmbeddingSettings
from webrag_core.config.home import HomeSettings
from webrag_core.config.reranking import RerankingSettings


class RetrievalSettings(HomeSettings, EmbeddingSettings, RerankingSettings):
    """Retrieval."""

    retrieval_full_context_threshold: int = Field(
        default=30_000, ge=0, description="Tokens up to which mode auto returns all of the scope"
    )
    retrieval_context_budget: int = Field(
        default=40_000, ge=1, description="Tokens of all passages of a result, at most"
    )
    retrieval_top_k_children_limit: int = Field(default=60, ge=1, description="Child chunks that dense search takes")
    retrieval_similarity_floor: float = Field(
        default=0.3, ge=-1, le=1, description="Cosine below which dense search drops a child chunk"
    )
    retrieval_depth_decay_rate: float = Field(
        default=0.05, ge=0, le=1, description="Share of its score that a page loses for each link from the start page"
    )
    retrieval_depth_floor: float = Field(
        default=0.80, ge=0, le=1, description="Least factor by which that distance multiplies a score"
    )
    retrieval_hnsw_ef_search: int = Field(
        default=100, ge=1, le=1000, description="Candidates of the vector index; more find more and take longer"
    )
    retrieval_resident_mb: int = Field(
        default=0,
        ge=0,
        description="Megabytes of memory in which a process that searches a large corpus often may hold its vectors,"
        " 320 for a million passages; 0 = none, the vector index is searched",
    )
    retrieval_windows: bool = Field(
        default=True,
        description="Whether the window vectors of `webrag model windows` are made, and used where the scope has them",
    )
    retrieval_weights_file: Path | None = Field(
        default=None, description="Released weights of the scorer; unset = WEBRAG_HOME/feedback/weights.json"
    )
    locality_expansion_radius: int = Field(
        default=1, ge=0, description="Chunks on each side of a strong hit that come along; 0 = none"
    )
    min_score_for_expansion: float = Field(
        default=0.5, ge=0, le=1, description="Score from which a hit brings its neighbours"
    )

    @property
    def searches_offline(self) -> bool:
        """Whether a search asks no endpoint, which may be paid for."""
        embeds = self.embedding_base_url is not None or self.embedding_api_key is not None
        return not embeds and self.reranker_provider in ("local", "none")
