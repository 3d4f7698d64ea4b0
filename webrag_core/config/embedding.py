"""The model that embeds texts, and its endpoint."""

from __future__ import annotations

from pydantic import Field

from webrag_core.config.group import SettingsGroup
from webrag_core.config.values import BaseUrl, Key


class EmbeddingSettings(SettingsGroup):
    """Embedding."""

    embedding_base_url: BaseUrl = Field(
        default=None, description="OpenAI-compatible endpoint, as http://127.0.0.1:8000/v1; unset = offline model"
    )
    embedding_api_key: Key = Field(
        default=None, repr=False, description="Alone it means https://api.openai.com/v1; unset = offline model"
    )
    embedding_model: str = Field(
        default="text-embedding-3-small",
        min_length=1,
        description="Name of the endpoint's model; the offline one has none",
    )
    embedding_dimensions: int = Field(
        default=1536, ge=1, le=4000, description="Length of the model's vectors; the vector index holds 4,000 at most"
    )
    embedding_languages: str | None = Field(
        default=None,
        pattern=r"^ *(\*|[A-Za-z]{2,3}( *, *[A-Za-z]{2,3})*)? *$",
        description="Languages that the model knows, as en,de; * = any; unset = any of an endpoint's model, and of the"
        " offline one English, others as far as its vocabulary has their words",
    )
    embedding_query_prefix: str | None = Field(
        default=None, description="Put before a query; unset = what the model's name implies (E5, BGE, Nomic, Qwen3 …)"
    )
    embedding_document_prefix: str | None = Field(
        default=None, description="Put before a document; unset = what the model's name implies"
    )
    embedding_input_types: str | None = Field(
        default=None,
        pattern=r"^(\w+=[\w.]+,[\w.]+)?$",
        description="Request field with its values for queries and documents, as input_type=query,document;"
        " blank = no field; unset = what the model's name implies (Voyage, Cohere, Jina)",
    )
    embedding_batch_size: int = Field(default=256, ge=1, description="Texts in one request to an embedding endpoint")
    embedding_max_workers: int = Field(default=4, ge=1, description="Requests to the endpoint at the same time")
    embedding_timeout: float = Field(default=30.0, gt=0, description="Seconds for one batch, retries included")
    embedding_max_wait: float = Field(
        default=90.0,
        ge=0,
        description="Seconds that a batch of documents waits besides, when the endpoint limits requests (429, 503)",
    )
