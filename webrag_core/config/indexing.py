"""How pages are cut."""

from __future__ import annotations

from pydantic import Field

from webrag_core.config.embedding import EmbeddingSettings


class IndexingSettings(EmbeddingSettings):
    """Indexing."""

    child_target_tokens: int = Field(default=256, ge=16, description="Tokens of a child chunk, the unit of search")
    parent_max_tokens: int = Field(
        default=1000, ge=64, description="Tokens of a parent chunk, the unit of evidence, at most"
    )
