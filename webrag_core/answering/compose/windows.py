"""What the reader says of whole passages, by their best window: a sentence is worth what its passage promises, too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webrag_core.answering.compose.features import Array
from webrag_core.answering.units import Unit
from webrag_core.indexing.markdown import without_link_lines
from webrag_core.retrieval.models import RetrievedChunk
from webrag_core.retrieval.reader import Reader, best_window, focused_mean
from webrag_core.retrieval.redundancy import text_overlap

MAX_WINDOWS = 5
"""Passages of which a window is read, best first: about 16 ms each, once for a text."""
_HEADINGS = 2  # above a window, which is read below them
_ALIKE = 0.7  # share of a window's words in another one from which both say the same


async def window_readings(queries: Sequence[str], units: Sequence[Unit], reader: Reader | None) -> Array:
    """For each unit what the reader says of its passage, in [-1, 1]: the mean over `queries`, of which the last counts
    most. NaN for units of passages that are not read."""
    readings = np.full(len(units), np.nan)
    chunks = {unit.chunk.chunk_id: unit.chunk for unit in sorted(units, key=lambda unit: unit.rank)}
    if reader is None or not chunks:
        return readings
    read = list(chunks.values())[:MAX_WINDOWS]
    rows = [await reader.read_texts(query, [_window(query, chunk) for chunk in read]) for query in queries]
    scores = dict(zip((chunk.chunk_id for chunk in read), focused_mean(rows), strict=False))
    for index, unit in enumerate(units):
        readings[index] = scores.get(unit.chunk.chunk_id, np.nan)
    return readings


def reading_of(chunk_id: int, units: Sequence[Unit], readings: Array) -> float:
    """The reading of the passage `chunk_id`, of which `units` has one. The least of all for a passage that was not
    read; 0 where none was."""
    if np.isnan(readings).all():
        return 0.0
    place = next(index for index, unit in enumerate(units) if unit.chunk.chunk_id == chunk_id)
    return float(np.nan_to_num(readings[place], nan=np.nanmin(readings)))


def lead_of(chunk_id: int, units: Sequence[Unit], readings: Array) -> float:
    """The reading of the passage `chunk_id`, less the best of the passages that say something else, in [-2, 2]. 0 where
    the passage was not read, or no other: there is nothing to lead."""
    texts = {unit.chunk.chunk_id: unit.chunk.text for unit in units}
    scores = {unit.chunk.chunk_id: float(value) for unit, value in zip(units, readings, strict=True)}
    score_of_chunk = scores.get(chunk_id, np.nan)
    others = [
        score
        for other, score in scores.items()
        if other != chunk_id and not np.isnan(score) and text_overlap(texts[other], texts[chunk_id]) < _ALIKE
    ]
    return score_of_chunk - max(others) if others and not np.isnan(score_of_chunk) else 0.0


def _window(query: str, chunk: RetrievedChunk) -> str:
    window = best_window(query, without_link_lines(chunk.text))
    return f"{' > '.join(chunk.heading_path[-_HEADINGS:])}\n{window}" if window else ""
