"""WebRAG core: the library. Knows nothing of Dagster or of any user interface.

    from webrag_core import AnswerRequest, Corpus, OrchestratorEngine, load_settings

    async with Corpus.open(load_settings()) as corpus:
        result = await OrchestratorEngine(corpus).run(AnswerRequest(("https://example.org/",), "What is it for?"))

The names are loaded when they are first used, so that importing one layer never pays for the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webrag_core.config import Settings, load_settings
    from webrag_core.errors import FetchError, InvalidInputError, WebragError
    from webrag_core.indexing.pipeline import Corpus
    from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
    from webrag_core.orchestration.models import OrchestrationResult
    from webrag_core.retrieval.search import search_corpus

_FACES = {
    "Settings": "config",
    "load_settings": "config",
    "FetchError": "errors",
    "InvalidInputError": "errors",
    "WebragError": "errors",
    "Corpus": "indexing.pipeline",
    "AnswerRequest": "orchestration.engine",
    "OrchestratorEngine": "orchestration.engine",
    "search_corpus": "retrieval.search",
    "OrchestrationResult": "orchestration.models",
}

__all__ = [
    "AnswerRequest",
    "Corpus",
    "FetchError",
    "InvalidInputError",
    "OrchestrationResult",
    "OrchestratorEngine",
    "Settings",
    "WebragError",
    "load_settings",
    "search_corpus",
]


def __getattr__(name: str) -> object:
    if name not in _FACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FACES[name]}"), name)
