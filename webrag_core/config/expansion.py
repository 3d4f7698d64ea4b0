"""How an answer follows links."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from webrag_core.config.group import SettingsGroup

LinkScorer = Literal["words-and-meaning", "seed-weights"]


class ExpansionSettings(SettingsGroup):
    """Expansion."""

    max_expansion_depth: int = Field(default=5, ge=0, description="Rounds of expansion at most")
    max_candidates_per_iteration: int = Field(default=5, ge=1, description="Links that one round follows, at most")
    webrag_link_scorer: LinkScorer = Field(
        default="words-and-meaning", description="How links are ranked; seed-weights is the specification's formula"
    )
    expansion_min_candidate_score: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Links below are never followed; unset = 0.12 for seed-weights, 0.02 for words-and-meaning",
    )
    webrag_max_pages: int = Field(
        default=30, ge=1, description="Pages one answer run may take in, seed included; as many may fail besides"
    )
    webrag_previews: int = Field(
        default=10, ge=0, description="Links fetched before each decision to see what they hold; 0 = none"
    )
    webrag_site_index: bool = Field(
        default=True, description="Read a site's search index, inventory and sitemaps before links are followed"
    )
    webrag_preview_timeout: float = Field(
        default=10.0, gt=0, description="Seconds for the previews of one round (not when replayed)"
    )
    webrag_answer_timeout: float = Field(default=120.0, gt=0, description="Seconds for one answer run")

    @property
    def link_floor(self) -> float:
        """Score below which a link is not followed: what is set, else what fits the scorer. The specification's .12
        belongs to its own formula; scores of the other scorer lie lower."""
        if self.expansion_min_candidate_score is not None:
            return self.expansion_min_candidate_score
        return 0.12 if self.webrag_link_scorer == "seed-weights" else 0.02
