"""When an answer stops following links."""

from __future__ import annotations

from pydantic import Field

from webrag_core.config.reranking import RerankingSettings


class StoppingSettings(RerankingSettings):
    """Stopping."""

    webrag_policy: str = Field(default="calibrated", description="Stop policy of answers that name none")
    token_budget_saturation_ratio: float = Field(
        default=0.8, ge=0, le=1, description="seed-matrix: share of the context budget above which it counts as full"
    )
    redundancy_ceiling: float = Field(
        default=0.85, ge=0, le=1, description="Share of its word sequences in a better passage that drops one"
    )
    score_cliff_threshold: float = Field(
        default=0.15, ge=0, le=1, description="seed-matrix: fall of the score from the best passage that makes a cliff"
    )
    score_cliff_rank_k: int = Field(
        default=5, ge=2, description="seed-matrix: rank of the passage that the best one is compared with"
    )
    plateau_variance_threshold: float = Field(
        default=0.02, ge=0, description="seed-matrix: variance of the scores below which they count as alike"
    )
    plateau_top_n: int = Field(default=10, ge=2, description="seed-matrix: passages whose scores are looked at")
    diminishing_return_delta: float = Field(
        default=0.03,
        ge=0,
        description="seed-matrix: distance to the best score that counts as near, and the least gain",
    )
    mediocre_score_floor: float = Field(
        default=0.5, ge=0, le=1, description="seed-matrix: score from which the best, and on average all, count as good"
    )
    confidence_floor: float = Field(
        default=0.3, ge=0, le=1, description="seed-matrix: mean confidence below which it goes on"
    )
