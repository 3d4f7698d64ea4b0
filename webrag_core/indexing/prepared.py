"""What a version becomes in the index, as far as no database is needed: pure, for one thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webrag_core.corpus.documents import StoredVersion
from webrag_core.indexing.chunker import Chunk
from webrag_core.indexing.chunks import child_columns
from webrag_core.indexing.graph.edges import PageInputs, edges_of
from webrag_core.indexing.graph.model import Extraction
from webrag_core.indexing.lexical import term_counts
from webrag_core.indexing.markdown import Block
from webrag_core.providers.static_model import token_ids


@dataclass(frozen=True, slots=True)
class PreparedPage:
    """Parents with their children, rows and term counts; texts to embed and their tokens by digest; edges.

    `columns` and `digests` are those of every child in reading order, `counts` those of every parent.
    """

    parents: Sequence[Chunk]
    digests: Sequence[str]
    texts: Mapping[str, str]
    tokens: Mapping[str, NDArray[np.uint16]]
    columns: Sequence[tuple[str, bytes]]
    counts: Sequence[Counter[str]]
    extraction: Extraction


def prepare(
    version: StoredVersion,
    inputs: PageInputs,
    blocks: Sequence[Block],
    parents: Sequence[Chunk],
    texts: Sequence[tuple[str, str]],
) -> PreparedPage:
    """Prepare a version from its blocks and chunks; `texts` are (sha256, embedding text) of every child."""
    digests = [digest for digest, _ in texts]
    tokens = token_ids([text for _, text in texts])
    return PreparedPage(
        parents,
        digests,
        dict(texts),
        dict(zip(digests, tokens, strict=True)),
        child_columns(texts, version.language, tokens),
        [
            term_counts(parent.heading_path, version.markdown[parent.char_start : parent.char_end], version.language)
            for parent in parents
        ],
        edges_of(version, inputs, blocks),
    )
