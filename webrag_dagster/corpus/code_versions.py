"""Code versions of the corpus assets."""

from __future__ import annotations


def extractor() -> str:
    """Version of the HTML to Markdown conversion, links included."""
    from webrag_core.conversion.html import EXTRACTOR_VERSION

    return EXTRACTOR_VERSION


def chunker() -> str:
    """Version of the chunker with its configured limits. Raises InvalidInputError for invalid settings."""
    from webrag_core.config import load_settings
    from webrag_core.indexing.chunks import chunker_key

    settings = load_settings()
    return chunker_key(settings.parent_max_tokens, settings.child_target_tokens)


def index() -> str:
    """Of all that makes a page current: the embedding model, and the extraction of edges. Raises InvalidInputError."""
    from webrag_core.indexing.graph.model import EXTRACTION_VERSION

    return f"{embedding()}/{EXTRACTION_VERSION}"


def embedding() -> str:
    """Identity of the embedding model. Raises InvalidInputError for invalid settings."""
    from webrag_core.config import load_settings
    from webrag_core.providers.embedder import identity_of

    model = identity_of(load_settings())
    return model.key
