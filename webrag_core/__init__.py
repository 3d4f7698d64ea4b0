"""WebRAG core: the library. Imports neither Dagster nor any user interface.

    from webrag_core import AnswerRequest, Corpus, OrchestratorEngine, load_settings

    async with Corpus.open(load_settings()) as corpus:
        result = await OrchestratorEngine(corpus).run(AnswerRequest(("https://example.org/",), "What is it for?"))

Public names (everything else may change):

- `Settings`, `load_settings`: configuration from the environment.
- `Corpus`: the open corpus; adds and refreshes pages.
- `AnswerRequest`, `OrchestratorEngine`, `OrchestrationResult`: follow links from a page to the evidence for a question.
- `Manager`, `Question`, `Answer`, `ExecutionPlan`: a plan, and an answer in prose by it, every sentence proved.
- `AnswerEvent`, `RunEvent`: what `Manager.stream` and `OrchestratorEngine.stream` tell step by step.
- `search`, `search_corpus`, `CorpusSearch`: search what is stored, with `SearchRequest`, `ScopeFilter`, `DateRange`,
  `Pattern`.
- `search_at`, `page_at`, `versions`, `compare`: what pages said then (`AsOf`), as `PageAt`, `PageHistory`,
  `PageComparison`.
- `citation_states`, `CitationState`: whether quotes still stand.
- `expand_related`, `hierarchy`, `linked_items`, `version_at`: read the graph, every edge with its quote.
- `CitationSpan`: a verbatim quote with its page version, offsets and hash.
- `WebRAG`: all of this without `async`, for scripts and notebooks.
- Errors, all of them a `WebragError` with a stable `code`:
  - `InvalidInputError`: an unusable argument or setting.
  - `FetchError`: fetching a URL failed; its `reason` is a `Reason`.
  - `StoreError`: the database failed. `IntegrityError`: stored data violates an invariant.
  - `AgentsFailedError`: no task of a plan brought a result.
  - `BusyError`: too many others are at work or waiting.
  - `GuardrailsViolationError`: a question or an answer is not let through.
  - `NotStoredError`: the caller names something that is not stored.
  - `OutOfReachError`: it is of a source that the caller's token does not read.
  - `MissingExtraError`: an extra of the package is not installed. `PluginError`: a plugin is broken or there twice.
  - `UnsupportedPlatformError`: the system has no POSIX; the import of this package raises it, as an ImportError.
  - `EmbeddingError`, `RerankError`, `ChatError`, `ReadingModelError`: a model failed.

Names are loaded when they are first used, so that importing one layer never pays for the others.
"""

from __future__ import annotations

import gc
from importlib import import_module

from webrag_core.posix import require_posix

TYPE_CHECKING = False  # as typing's, which a command that a server runs has no other use for
if TYPE_CHECKING:
    from webrag_core.answering.events import AnswerEvent
    from webrag_core.answering.manager import Manager, Question
    from webrag_core.answering.models import Answer
    from webrag_core.config import Settings, load_settings
    from webrag_core.errors import (
        AgentsFailedError,
        BusyError,
        ChatError,
        EmbeddingError,
        FetchError,
        GuardrailsViolationError,
        IntegrityError,
        InvalidInputError,
        MissingExtraError,
        NotStoredError,
        OutOfReachError,
        PluginError,
        ReadingModelError,
        Reason,
        RerankError,
        StoreError,
        UnsupportedPlatformError,
        WebragError,
    )
    from webrag_core.history.as_of import AsOf
    from webrag_core.history.citations import CitationState, citation_states
    from webrag_core.history.compare import PageComparison, compare
    from webrag_core.history.models import PageAt, PageHistory
    from webrag_core.history.pages import page_at, versions
    from webrag_core.history.past_search import search_at
    from webrag_core.indexing.pipeline import Corpus
    from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
    from webrag_core.orchestration.events import RunEvent
    from webrag_core.orchestration.models import OrchestrationResult
    from webrag_core.retrieval.graph.past import version_at
    from webrag_core.retrieval.graph.tasks import expand_related, hierarchy, linked_items
    from webrag_core.retrieval.models import CitationSpan
    from webrag_core.retrieval.request import DateRange, Pattern, ScopeFilter, SearchRequest
    from webrag_core.retrieval.search import CorpusSearch, search, search_corpus
    from webrag_core.routing.plan import ExecutionPlan
    from webrag_core.sync import WebRAG

    __version__: str

require_posix()

_MODULES = {
    "AgentsFailedError": "errors",
    "BusyError": "errors",
    "Answer": "answering.models",
    "AnswerEvent": "answering.events",
    "AnswerRequest": "orchestration.engine",
    "AsOf": "history.as_of",
    "ChatError": "errors",
    "CitationSpan": "retrieval.models",
    "CitationState": "history.citations",
    "Corpus": "indexing.pipeline",
    "CorpusSearch": "retrieval.search",
    "DateRange": "retrieval.request",
    "EmbeddingError": "errors",
    "ExecutionPlan": "routing.plan",
    "FetchError": "errors",
    "GuardrailsViolationError": "errors",
    "IntegrityError": "errors",
    "InvalidInputError": "errors",
    "Manager": "answering.manager",
    "MissingExtraError": "errors",
    "NotStoredError": "errors",
    "OrchestrationResult": "orchestration.models",
    "OrchestratorEngine": "orchestration.engine",
    "OutOfReachError": "errors",
    "PageAt": "history.models",
    "PageComparison": "history.compare",
    "PageHistory": "history.models",
    "Pattern": "retrieval.request",
    "PluginError": "errors",
    "Question": "answering.manager",
    "ReadingModelError": "errors",
    "Reason": "errors",
    "RerankError": "errors",
    "RunEvent": "orchestration.events",
    "ScopeFilter": "retrieval.request",
    "SearchRequest": "retrieval.request",
    "Settings": "config",
    "StoreError": "errors",
    "UnsupportedPlatformError": "errors",
    "WebRAG": "sync",
    "WebragError": "errors",
    "citation_states": "history.citations",
    "compare": "history.compare",
    "expand_related": "retrieval.graph.tasks",
    "hierarchy": "retrieval.graph.tasks",
    "linked_items": "retrieval.graph.tasks",
    "load_settings": "config",
    "page_at": "history.pages",
    "search": "retrieval.search",
    "search_at": "history.past_search",
    "search_corpus": "retrieval.search",
    "version_at": "retrieval.graph.past",
    "versions": "history.pages",
}

__all__ = [
    "AgentsFailedError",
    "Answer",
    "AnswerEvent",
    "AnswerRequest",
    "AsOf",
    "BusyError",
    "ChatError",
    "CitationSpan",
    "CitationState",
    "Corpus",
    "CorpusSearch",
    "DateRange",
    "EmbeddingError",
    "ExecutionPlan",
    "FetchError",
    "GuardrailsViolationError",
    "IntegrityError",
    "InvalidInputError",
    "Manager",
    "MissingExtraError",
    "NotStoredError",
    "OrchestrationResult",
    "OrchestratorEngine",
    "OutOfReachError",
    "PageAt",
    "PageComparison",
    "PageHistory",
    "Pattern",
    "PluginError",
    "Question",
    "ReadingModelError",
    "Reason",
    "RerankError",
    "RunEvent",
    "ScopeFilter",
    "SearchRequest",
    "Settings",
    "StoreError",
    "UnsupportedPlatformError",
    "WebRAG",
    "WebragError",
    "__version__",
    "citation_states",
    "compare",
    "expand_related",
    "hierarchy",
    "linked_items",
    "load_settings",
    "page_at",
    "search",
    "search_at",
    "search_corpus",
    "version_at",
    "versions",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("importlib.metadata").version("webrag")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # what is imported stays: to look through it again and again takes a tenth of the time
    collects = gc.isenabled()
    gc.disable()
    try:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    finally:
        if collects:
            gc.enable()
