"""Query and document conventions of embedding models: a text prefix or a request field.

Taken from model cards and API references. Without them such a model ranks badly without any error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from webrag_core.config.embedding import EmbeddingSettings

InputType = Literal["document", "query"]

_TASK = "Given a web search query, retrieve relevant passages that answer the query"
_REPRESENT = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True, slots=True)
class InputConvention:
    """Prefixes, and the request field with its two values; empty for symmetric models."""

    query_prefix: str = ""
    document_prefix: str = ""
    field: str = ""
    query_value: str = ""
    document_value: str = ""

    def text(self, text: str, input_type: InputType) -> str:
        """Return the text with its prefix."""
        return (self.query_prefix if input_type == "query" else self.document_prefix) + text

    def body(self, input_type: InputType) -> dict[str, str]:
        """Return additional request fields."""
        return {self.field: self.query_value if input_type == "query" else self.document_value} if self.field else {}

    @property
    def of_documents(self) -> str:
        """Key of the document convention for stored vectors; empty without one."""
        return "; ".join(filter(None, (self.document_prefix, f"{self.field}={self.document_value}".strip("="))))


# the first pattern matching the lower-case model name applies
_CONVENTIONS = (
    (r"\be5-.*instruct", InputConvention(f"Instruct: {_TASK}\nQuery: ")),
    (r"\be5-(small|base|large)", InputConvention("query: ", "passage: ")),
    (r"\bbge-(small|base|large)-en", InputConvention(_REPRESENT)),
    (r"\bbge-(small|base|large)-zh", InputConvention("为这个句子生成表示以用于检索相关文章：")),
    (r"\bmxbai-embed-large", InputConvention(_REPRESENT)),
    (r"\bsnowflake-arctic-embed-.*v2", InputConvention("query: ")),
    (r"\bsnowflake-arctic-embed", InputConvention(_REPRESENT)),
    (r"\bnomic-embed-text", InputConvention("search_query: ", "search_document: ")),
    (r"\bembeddinggemma", InputConvention("task: search result | query: ", "title: none | text: ")),
    (r"\bqwen3-embedding", InputConvention(f"Instruct: {_TASK}\nQuery:")),
    (r"\bvoyage-", InputConvention(field="input_type", query_value="query", document_value="document")),
    (
        r"\bembed-(english|multilingual)-|\bembed-v4",  # Cohere
        InputConvention(field="input_type", query_value="search_query", document_value="search_document"),
    ),
    (
        r"\bjina-embeddings-v[3-9]",
        InputConvention(field="task", query_value="retrieval.query", document_value="retrieval.passage"),
    ),
)


def convention_of(settings: EmbeddingSettings) -> InputConvention:
    """Return the convention of EMBEDDING_MODEL, overridden by EMBEDDING_*_PREFIX and EMBEDDING_INPUT_TYPES."""
    name = settings.embedding_model.lower()
    convention = next((value for pattern, value in _CONVENTIONS if re.search(pattern, name)), InputConvention())
    if settings.embedding_query_prefix is not None:
        convention = replace(convention, query_prefix=settings.embedding_query_prefix)
    if settings.embedding_document_prefix is not None:
        convention = replace(convention, document_prefix=settings.embedding_document_prefix)
    if settings.embedding_input_types is not None:
        field, _, values = settings.embedding_input_types.partition("=")
        query, _, document = values.partition(",")
        convention = replace(convention, field=field, query_value=query, document_value=document)
    return convention
