"""Reading: does this passage answer the question? Late interaction between the tokens of both.

score = mean over the question's tokens, rare words weighing more, of the best cosine with a token of the passage's best
window (MaxSim, Khattab and Zaharia 2020), over the token states of a small encoder, untrained. Lines that only link are
not read: they promise an answer and give none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from webrag_core.config.reranking import RerankingSettings
from webrag_core.errors import ReadingModelError
from webrag_core.indexing.markdown import plain_text, without_link_lines
from webrag_core.indexing.passages import extract_passages
from webrag_core.indexing.terms import terms
from webrag_core.language.detection import detected
from webrag_core.providers.reading_model import token_states, token_words
from webrag_core.providers.static_model import word_rarities
from webrag_core.retrieval.models import RetrievedChunk
from webrag_core.retrieval.quotes import sentence_spans
from webrag_core.retrieval.scoring import products, profile, score_passages

WINDOW = 500
"""Characters of a window."""
_FOCUS = 2.0  # weight of a part beside the whole question, on which it may lean
_LEAST = 1e-3  # weight of the commonest word


class Reader:
    """The reader of a run. After its first failure it scores nothing, and `failure` says why."""

    def __init__(self) -> None:
        self.failure: str | None = None

    async def read(self, query: str, chunks: Sequence[RetrievedChunk]) -> list[float]:
        """Score the best window of each chunk's best match, in [-1, 1], in order, 0 for one of links alone; empty after
        a failure."""
        windows = [best_window(query, without_link_lines(chunk.match_text)) for chunk in chunks]
        headed = [
            f"{chunk.section_heading or ''}\n{window}" if window else ""
            for chunk, window in zip(chunks, windows, strict=True)
        ]
        return await self.read_texts(query, headed)

    async def read_for(self, queries: Sequence[str], chunks: Sequence[RetrievedChunk]) -> list[float]:
        """As `read`, the mean over `queries` (at least one), of which the last counts `_FOCUS` times."""
        readings = [await self.read(query, chunks) for query in queries]
        return focused_mean(readings)

    async def read_texts(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score texts of about one window each, in order; empty after a failure."""
        if not texts or self.failure is not None:
            return []
        try:
            return await asyncio.to_thread(reading_scores, query, texts)
        except ReadingModelError as error:
            self.failure = error.message
            return []


def make_reader(settings: RerankingSettings) -> Reader | None:
    """The reader of the settings, if any."""
    return Reader() if settings.webrag_reader != "none" else None


def focused_mean(rows: Sequence[Iterable[float]]) -> list[float]:
    """The mean, place by place, of the scores for each query, of which the last counts `_FOCUS` times; as long as the
    shortest row."""
    return [fmean(scores, [1.0] * (len(scores) - 1) + [_FOCUS]) for scores in zip(*rows, strict=False)]


def reading_scores(query: str, texts: Sequence[str]) -> list[float]:
    """MaxSim of the query and each text, in [-1, 1], in order; 0 for an empty one. Blocks: call it in a thread.

    Raises ReadingModelError.
    """
    question, *passages = token_states([query, *texts])
    return max_similarities(question, passages, _token_weights(query))


def max_similarities(
    question: NDArray[np.floating], passages: Sequence[NDArray[np.floating]], weights: NDArray[np.floating]
) -> list[float]:
    """MaxSim of unit vectors, shapes (n, d) and for each passage (m, d), averaged with `weights` (n,); 0 where either
    is empty."""
    filled = [index for index, passage in enumerate(passages) if len(passage)]
    scores = np.zeros(len(passages))
    if len(question) and filled:
        tokens = np.concatenate([passages[index] for index in filled]).astype(np.float32)
        starts = np.cumsum([0, *(len(passages[index]) for index in filled[:-1])])
        best = np.maximum.reduceat(products(question.astype(np.float32), tokens), starts, axis=1)
        scores[filled] = np.average(best, axis=0, weights=weights)
    return [float(score) for score in scores]


def _token_weights(query: str) -> NDArray[np.float32]:
    """Weight of each token: the rarity in general language of its word, shared by the tokens of the word; above 0."""
    words = token_words(query)
    rarities = word_rarities(words)
    return np.array([(rarity + _LEAST) / words.count(word) for word, rarity in zip(words, rarities, strict=True)])


@lru_cache(maxsize=512)  # a run reads most of its passages again in every round
def best_window(query: str, passage: str) -> str:
    """The consecutive sentences of `passage` (Markdown), at most WINDOW characters, that fit the query's words and
    meanings best, as plain text."""
    windows = _windows(passage)
    if len(windows) < 2:
        return plain_text(passage)[:WINDOW]
    texts = [plain_text(window) for window in windows]
    language = detected(query)
    target = profile(query, dict.fromkeys(terms(query, language), 1.0))
    scores = score_passages(target, extract_passages(texts, language))
    return texts[int(np.argmax(scores.coverage + scores.token_match))]


def _windows(passage: str) -> list[str]:
    """Windows of whole sentences, each from every second sentence on."""
    units = list(sentence_spans(passage))
    windows = []
    first = 0
    while first < len(units):
        last = first
        while last + 1 < len(units) and units[last + 1].end - units[first].start <= WINDOW:
            last += 1
        windows.append(passage[units[first].start : units[last].end][:WINDOW])
        if last + 1 == len(units):
            break
        first = first + max(1, (last + 1 - first) // 2)
    return windows
