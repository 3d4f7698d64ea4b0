"""The four layers of the corpus: keys of their assets, partitions, code versions and states.

Partitions have one key per source (a site), or per shard of a large one; never one per page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import dagster as dg

if TYPE_CHECKING:
    from psycopg import AsyncConnection

    from webrag_dagster.corpus.state import Layer, Page


SOURCES = dg.DynamicPartitionsDefinition(name="webrag_source")
"""Keys are `webrag_core.corpus.sources.shard_keys`: host[:port], and the path of a section."""

_EARLIER_NAME = "source"

WEB_PAGES = "web_pages"
"""The change signals of the site: observed, never materialized."""
DOCUMENTS, LINKS, CHUNKS, EMBEDDINGS = "documents", "link_candidates", "chunks", "embeddings"

UPSTREAM: dict[str, str] = {DOCUMENTS: WEB_PAGES, LINKS: DOCUMENTS, CHUNKS: DOCUMENTS, EMBEDDINGS: CHUNKS}
"""Input of each layer, in order of materialization."""


def code_version(layer: str) -> str:
    """Code version of a layer's asset."""
    if layer in (DOCUMENTS, LINKS):
        return extractor_version()
    return chunker_version() if layer == CHUNKS else index_version()


def extractor_version() -> str:
    """Version of the HTML to Markdown conversion, links included."""
    from webrag_core.conversion.converted_page import EXTRACTOR_VERSION

    return EXTRACTOR_VERSION


def chunker_version() -> str:
    """Version of the chunker with its configured limits. Raises InvalidInputError for invalid settings."""
    from webrag_core.config import load_settings
    from webrag_core.indexing.chunks import chunker_key

    settings = load_settings()
    return chunker_key(settings.parent_max_tokens, settings.child_target_tokens)


def index_version() -> str:
    """Of all that makes a page current: the embedding model, and the extraction of edges. Raises InvalidInputError."""
    from webrag_core.indexing.graph.model import EXTRACTION_VERSION

    return f"{embedding_version()}/{EXTRACTION_VERSION}"


def embedding_version() -> str:
    """Identity of the embedding model. Raises InvalidInputError for invalid settings."""
    from webrag_core.config import load_settings
    from webrag_core.providers.embedder import identity_of

    model = identity_of(load_settings())
    return model.key


def register_partitions(instance: dg.DagsterInstance, keys: Iterable[str]) -> None:
    """Make `keys` known. An event of a key that is not known is kept, but shows nowhere."""
    new_keys = sorted(set(keys))
    if new_keys:
        instance.add_dynamic_partitions(str(SOURCES.name), new_keys)


def take_over_partitions(instance: dg.DagsterInstance, keys: Iterable[str]) -> list[str]:
    """Make those of `keys` known that earlier versions kept under a name without prefix, and return them. Events are
    kept by key, so that they show again. What is under that name stays: another code location may use it, too."""
    earlier = sorted(set(keys).intersection(instance.get_dynamic_partitions(_EARLIER_NAME)))
    register_partitions(instance, earlier)
    return earlier


async def state(connection: AsyncConnection, pages: Sequence[Page], layer: str) -> Layer:
    """Current state of one layer of a source."""
    from webrag_dagster.corpus import state as corpus_state

    if layer == DOCUMENTS:
        return corpus_state.documents_layer(pages)
    if layer == LINKS:
        return await corpus_state.links_layer(connection, pages)
    if layer == CHUNKS:
        return await corpus_state.chunks_layer(connection, pages, chunker_version())
    return await corpus_state.vectors_layer(connection, pages, embedding_version())
