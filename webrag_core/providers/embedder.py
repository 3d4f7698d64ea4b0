"""Embedding models behind one protocol, and the checks that every answer of theirs must pass."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from webrag_core.config import Settings
from webrag_core.errors import EmbeddingError
from webrag_core.providers.static_model import static_model

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What makes vectors comparable: two models that differ in any field never meet in one search."""

    provider: str
    name: str
    dimensions: int
    normalisation: str


class Embedder(Protocol):
    """Turns texts into vectors."""

    identity: ModelIdentity

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit-length float32 vectors, shape (len(texts), dimensions). Raises EmbeddingError."""
        ...

    async def aclose(self) -> None:
        """Release connections, if there are any."""
        ...


class WordLlamaEmbedder:
    """The offline default: 256-dimensional averages of static token vectors, in process."""

    identity = ModelIdentity("wordllama", "l2_supercat_256@0.4.0", 256, "l2")

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit-length float32 vectors, shape (len(texts), 256).

        A text without any token has no direction; it is embedded as a full stop, since a zero vector would be NaN
        once normalised. Raises EmbeddingError when the model's answer is not what it should be.
        """
        if not texts:
            return np.empty((0, self.identity.dimensions), dtype=np.float32)
        return await asyncio.to_thread(self._embed, [text if text.strip() else "." for text in texts])

    async def aclose(self) -> None:
        """Nothing to release."""

    def _embed(self, texts: list[str]) -> Vectors:
        vectors = np.asarray(static_model().embed(texts, norm=True), dtype=np.float32)
        return checked(vectors, len(texts), self.identity)


def checked(vectors: Vectors, count: int, identity: ModelIdentity) -> Vectors:
    """`vectors` if they are `count` finite rows of the model's dimensions; else EmbeddingError."""
    if vectors.shape != (count, identity.dimensions):
        raise EmbeddingError(
            f"{identity.name} gave vectors of shape {vectors.shape}, expected {(count, identity.dimensions)}"
        )
    if not np.isfinite(vectors).all():
        raise EmbeddingError(f"{identity.name} gave a vector that is not finite")
    return vectors


def identity_of(settings: Settings) -> ModelIdentity:
    """The identity of the model that these settings ask for, without loading anything."""
    if settings.embedding_base_url is None and settings.embedding_api_key is None:
        return WordLlamaEmbedder.identity
    return ModelIdentity("openai-compatible", settings.embedding_model, settings.embedding_dimensions, "l2")
