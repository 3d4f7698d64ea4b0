"""Which reranker the settings ask for."""

from __future__ import annotations

from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.embedder import WordLlamaEmbedder
from webrag_core.orchestration.rerankers.local import LocalReranker
from webrag_core.orchestration.rerankers.protocol import Reranker
from webrag_core.orchestration.rerankers.remote import RemoteReranker


def make_reranker(settings: Settings) -> Reranker | None:
    """The configured reranker; None for `RERANKER_PROVIDER=none`, when retrieval scores stand as they are.

    Raises InvalidInputError when the provider has neither key nor URL, or its package is not installed.
    """
    provider = settings.reranker_provider
    if provider == "none":
        return None
    if provider == "local":
        return local_reranker()
    if settings.reranker_api_key is None and settings.reranker_base_url is None:
        raise InvalidInputError(
            f"RERANKER_PROVIDER={provider} needs RERANKER_API_KEY (or RERANKER_BASE_URL of a server that wants none)"
        )
    return _remote(provider)(settings)


def local_reranker() -> LocalReranker:
    """Always on the static model, whatever the corpus is embedded with: a passage is scored anew in every round, and
    an endpoint would be paid for each; and what a failing provider falls back to must not need a network."""
    return LocalReranker(WordLlamaEmbedder())


def _remote(provider: str) -> type[RemoteReranker]:
    from webrag_core.orchestration.rerankers.cohere import CohereReranker
    from webrag_core.orchestration.rerankers.jina import JinaReranker
    from webrag_core.orchestration.rerankers.zeroentropy import ZeroEntropyReranker

    adapters: tuple[type[RemoteReranker], ...] = (ZeroEntropyReranker, CohereReranker, JinaReranker)
    return {adapter.name: adapter for adapter in adapters}[provider]
