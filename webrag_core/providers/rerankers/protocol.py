"""What every reranker promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field


class RerankResult(BaseModel):
    """One reranked passage: its position in the input and its relevance in [0, 1]."""

    model_config = ConfigDict(extra="forbid")

    index: int = Field(ge=0)
    relevance_score: float = Field(ge=0, le=1)
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Reranked:
    """One result per passage, best first; equal scores keep the input order. `warnings` are for the user; `squashed`:
    the provider's scores lay outside of [0, 1]."""

    results: list[RerankResult]
    warnings: tuple[str, ...] = ()
    squashed: bool = False


@runtime_checkable
class Reranker(Protocol):
    """Scores passages against a query in [0, 1]. A plugin of the group `webrag.rerankers` is called with the settings
    and the breakers (None without a database), and returns one."""

    name: str

    async def rerank(
        self,
        query: str,
        passages: Sequence[str],
        *,
        term_idf: Mapping[str, float],
        instruction: str | None = None,
    ) -> Reranked:
        """Score all passages. Raises RerankError when the provider fails, EmbeddingError when a model does."""
        ...
