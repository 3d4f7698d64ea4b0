"""Asset keys of the four corpus layers, their code versions and their states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from webrag_dagster.corpus import code_versions

if TYPE_CHECKING:
    from psycopg import AsyncConnection

    from webrag_dagster.corpus.state import Layer, Page

WEB_PAGES = "web_pages"
"""The change signals of the site: observed, never materialized."""
DOCUMENTS, LINKS, CHUNKS, EMBEDDINGS = "documents", "link_candidates", "chunks", "embeddings"

UPSTREAM: dict[str, str] = {DOCUMENTS: WEB_PAGES, LINKS: DOCUMENTS, CHUNKS: DOCUMENTS, EMBEDDINGS: CHUNKS}
"""Input of each layer, in order of materialization."""


def code_version(layer: str) -> str:
    """Code version of a layer's asset."""
    if layer in (DOCUMENTS, LINKS):
        return code_versions.extractor()
    return code_versions.chunker() if layer == CHUNKS else code_versions.index()


async def state(connection: AsyncConnection, pages: Sequence[Page], layer: str) -> Layer:
    """Current state of one layer of a source."""
    from webrag_dagster.corpus import state as corpus_state

    if layer == DOCUMENTS:
        return corpus_state.documents_layer(pages)
    if layer == LINKS:
        return await corpus_state.links_layer(connection, pages)
    if layer == CHUNKS:
        return await corpus_state.chunks_layer(connection, pages, code_versions.chunker())
    return await corpus_state.vectors_layer(connection, pages, code_versions.embedding())
