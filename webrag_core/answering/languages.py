"""Questions and evidence in different languages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from webrag_core.answering.models import SentenceCitation
from webrag_core.config import Settings
from webrag_core.indexing.unit_text import unit_text
from webrag_core.language.detection import detected_beyond_doubt
from webrag_core.retrieval.languages import crossing_note, embedder_knows

_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


def language_notes(question: str, citations: Sequence[SentenceCitation], settings: Settings) -> list[str]:
    """A note for evidence that is clearly in another language than the question."""
    own = detected_beyond_doubt(question)
    theirs = detected_beyond_doubt(" ".join(unit_text(_CODE.sub(" ", one.quote), "paragraph") for one in citations))
    if own is None or theirs is None or own == theirs:
        return []
    return [crossing_note(own, theirs, bridged=all(embedder_knows(one, settings) for one in (own, theirs)))]
