"""What plugins are written with: see `docs/plugins.md`. Names beside these may change.

Each is loaded when it is first used: a format, which runs in a confined process, must not pay for the database.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webrag_core.acquisition.acquirer import AcquiredPage, Acquirer
    from webrag_core.acquisition.plugins import Fetching
    from webrag_core.acquisition.sitemaps.models import SiteMap
    from webrag_core.feedback.removed_text import RemovedText
    from webrag_core.feedback.scrub import ClearedRecords
    from webrag_core.history.document_apis.models import DocumentApi, DocumentReply, DocumentVersion, TitledDocument
    from webrag_core.history.document_apis.opening import open_document_apis
    from webrag_core.history.document_apis.resolving import failure, reply_at
    from webrag_core.providers.rerankers.protocol import Reranked, Reranker, RerankResult
    from webrag_core.store.breakers import Breakers

_MODULES = {
    "AcquiredPage": "acquisition.acquirer",
    "Acquirer": "acquisition.acquirer",
    "Breakers": "store.breakers",
    "ClearedRecords": "feedback.scrub",
    "DocumentApi": "history.document_apis.models",
    "DocumentReply": "history.document_apis.models",
    "DocumentVersion": "history.document_apis.models",
    "Fetching": "acquisition.plugins",
    "RemovedText": "feedback.removed_text",
    "RerankResult": "providers.rerankers.protocol",
    "Reranked": "providers.rerankers.protocol",
    "Reranker": "providers.rerankers.protocol",
    "SiteMap": "acquisition.sitemaps.models",
    "TitledDocument": "history.document_apis.models",
    "failure": "history.document_apis.resolving",
    "open_document_apis": "history.document_apis.opening",
    "reply_at": "history.document_apis.resolving",
}

__all__ = [
    "AcquiredPage",
    "Acquirer",
    "Breakers",
    "ClearedRecords",
    "DocumentApi",
    "DocumentReply",
    "DocumentVersion",
    "Fetching",
    "RemovedText",
    "RerankResult",
    "Reranked",
    "Reranker",
    "SiteMap",
    "TitledDocument",
    "failure",
    "open_document_apis",
    "reply_at",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"webrag_core.{_MODULES[name]}"), name)
