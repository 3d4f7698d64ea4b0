"""Who orders passages."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from webrag_core.config.group import SettingsGroup
from webrag_core.config.values import BaseUrl, Key, Trimmed, installed
from webrag_core.plugins import RERANKERS


class RerankingSettings(SettingsGroup):
    """Reranking."""

    reranker_provider: str = Field(
        default="local",
        description="Who orders passages: local, none (the order of retrieval), or a plugin: zeroentropy, cohere, jina",
    )
    reranker_api_key: Key = Field(default=None, repr=False, description="Key of that provider")
    reranker_model: Trimmed = Field(default=None, description="Unset = the provider's default")
    reranker_base_url: BaseUrl = Field(default=None, description="Self-hosted or gateway; unset = the provider's")
    reranker_timeout: float = Field(default=10.0, gt=0, description="Seconds for one request, never retried")
    reranker_top_n: int = Field(
        default=20, ge=1, le=1000, description="Passages that a search returns, and a round of an answer uses"
    )
    webrag_reader: Literal["minilm", "none"] = Field(
        default="minilm", description="Model that reads passages for the order of previews and the judge"
    )

    @field_validator("reranker_provider")
    @classmethod
    def _a_reranker_that_is_there(cls, name: str) -> str:
        return installed(RERANKERS, name)
