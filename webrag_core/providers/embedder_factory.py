"""The configured embedding model. A vendor's SDK is imported only when its model is asked for."""

from __future__ import annotations

from webrag_core.config import Settings
from webrag_core.providers.embedder import Embedder, WordLlamaEmbedder


def make_embedder(settings: Settings) -> Embedder:
    """The embedding model that the settings ask for: an OpenAI-compatible endpoint when EMBEDDING_BASE_URL or
    EMBEDDING_API_KEY is set, else the offline model.

    Opens nothing yet. Raises InvalidInputError when the endpoint's SDK is not installed.
    """
    if settings.embedding_base_url is None and settings.embedding_api_key is None:
        return WordLlamaEmbedder()
    from webrag_core.providers.openai_embedder import OpenAIEmbedder

    return OpenAIEmbedder(settings)
