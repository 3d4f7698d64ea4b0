"""Code versions of the corpus assets: what their content depends on besides their inputs."""

from __future__ import annotations


def extractor() -> str:
    """Of the HTML to Markdown conversion, links included."""
    from webrag_core.conversion.html import EXTRACTOR_VERSION

    return EXTRACTOR_VERSION


def chunker() -> str:
    """Of the chunker with the limits that are set. Raises InvalidInputError for settings that cannot be read."""
    from webrag_core.config import load_settings
    from webrag_core.indexing.chunks import chunker_key

    settings = load_settings()
    return chunker_key(settings.parent_max_tokens, settings.child_target_tokens)


def embedding() -> str:
    """Of the embedding model. Raises InvalidInputError for settings that cannot be read."""
    from webrag_core.config import load_settings
    from webrag_core.providers.embedder import identity_of

    model = identity_of(load_settings())
    return model.key
