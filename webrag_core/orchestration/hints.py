"""What the hints of a request change after its query was analysed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from webrag_core.config import Settings
from webrag_core.indexing.markdown import plain_text
from webrag_core.orchestration.models import QueryType
from webrag_core.retrieval.models import RetrievalResult, RetrievedChunk
from webrag_core.retrieval.redundancy import text_overlap

LEFT_OUT = "passages that only repeat the known context were left out"

_INTENTS: dict[QueryType, str] = {
    "factual": "looking for a fact",
    "comparison": "looking for a comparison",
    "how_to": "looking for instructions",
    "exploratory": "looking for background",
}


def reranker_instruction(intent: QueryType | None, constraints: Sequence[str], settings: Settings) -> str | None:
    """What the reranker is told beside the query: the constraints, and the intent if it can follow an instruction.

    The local reranker only matches words, and those of an intent stand in no passage. None = nothing.
    """
    follows = settings.reranker_provider not in ("local", "none")
    parts = [_INTENTS[intent]] if intent is not None and follows else []
    return "; ".join([*parts, *constraints]) or None


def without_known(found: Sequence[RetrievalResult], known_context: str | None, ceiling: float) -> list[RetrievalResult]:
    """The results less the passages that `known_passages` names; those that hold none of them as they are."""
    known = known_passages((chunk for result in found for chunk in result.chunks), known_context, ceiling)
    return [
        result.model_copy(update={"chunks": [chunk for chunk in result.chunks if chunk.chunk_id not in known]})
        if any(chunk.chunk_id in known for chunk in result.chunks)
        else result
        for result in found
    ]


def known_passages(chunks: Iterable[RetrievedChunk], known_context: str | None, ceiling: float) -> frozenset[int]:
    """Ids of the chunks of which `known_context` covers the share `ceiling` in [0, 1] or more: redundant, as if a
    better passage had said the same (`text_overlap`; Markdown on either side does not count).

    What the context says in other words is not recognised. Empty without a context.
    """
    if known_context is None:
        return frozenset()
    context = plain_text(known_context)
    texts = {chunk.chunk_id: chunk.text for chunk in chunks}  # several sub-queries find the same
    shares = {chunk_id: text_overlap(plain_text(text), context) for chunk_id, text in texts.items()}
    return frozenset(chunk_id for chunk_id, share in shares.items() if share > 0 and share >= ceiling)
