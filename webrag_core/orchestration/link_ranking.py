"""The default link scorer `words-and-meaning`: shared words, meanings of words, direction of the whole text.

Links seldom use the words of a question, so each candidate is read three ways, all of them offline: words weighted by
how rare they are in the frontier, the best match of every query token among the candidate's tokens, and the cosine of
the texts. The weights are few, round and the same for every site.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from webrag_core.indexing.passages import Passage, term_codes
from webrag_core.indexing.terms import terms
from webrag_core.orchestration.link_scoring import FILE_ENDING, LinkCandidate, traced
from webrag_core.orchestration.models import ScoredCandidate
from webrag_core.providers.static_model import token_ids, token_vectors, token_weights
from webrag_core.retrieval.scoring import QueryProfile, best_cosines, profile

WORDS, MEANINGS, DIRECTION, SENTENCE = "words", "meanings", "direction", "sentence"
WEIGHTS = {WORDS: 0.30, MEANINGS: 0.30, DIRECTION: 0.30, SENTENCE: 0.10}
"""Weight of each part; they add up to 1."""

_MAX_ANCHORS = 300  # characters
_MAX_SENTENCE = 600
_KEPT_TEXTS = 100_000  # about 300 bytes each
_KEPT_PATHS = 50_000
_KEPT_QUERIES = 16  # half a megabyte each

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Texts:
    """`tokens` are all of a text's tokens, repeated ones too; `lengths` those of their vectors' weighted sums, 0 for a
    text that says nothing."""

    passages: list[Passage]
    tokens: list[NDArray[np.uint16]]
    lengths: Array


_READ: dict[str, tuple[Passage, NDArray[np.uint16], float]] = {}


def words_and_meaning(candidates: Sequence[LinkCandidate], query: str) -> list[ScoredCandidate]:
    """Score all candidates against `query`; best first, equal scores by URL.

    score = .30 words + .30 meanings + .30 direction + .10 sentence, every part in [0, 1]:

    - `words`: share of the query's terms, weighted by their rarity among the candidates (BM25's idf), that occur in
      the anchor texts, the site map's title, or the URL's path.
    - `meanings`: mean over the query's tokens, weighted by token weight, of the best cosine with a token of these
      texts. Unrelated tokens reach some .2 as well: it orders links, it does not say that one is good.
    - `direction`: cosine of the weighted sums of token vectors.
    - `sentence`: mean of `words` and `direction` for the sentence around the link and the map's description.

    A query or a candidate without a known token scores 0 on its parts. Pure; raises nothing.
    """
    names = _read([_name(candidate) for candidate in candidates])
    sentences = _read([_sentence(candidate) for candidate in candidates])
    asked = profile(query, dict.fromkeys(terms(query), 1.0))
    asked = dataclasses.replace(asked, weights=_rarity(_held(asked, names), len(candidates)))
    alike = _alike(query)
    parts = {
        WORDS: _words(asked, names),
        MEANINGS: np.clip(asked.token_weights @ best_cosines(asked, names.passages), 0, 1),
        DIRECTION: _directions(alike, names),
        SENTENCE: (_words(asked, sentences) + _directions(alike, sentences)) / 2,
    }
    scored = []
    for index, candidate in enumerate(candidates):
        told = {part: float(values[index]) for part, values in parts.items()}
        scored.append(traced(candidate, math.fsum(WEIGHTS[part] * value for part, value in told.items()), told))
    return sorted(scored, key=lambda each: (-each.score, each.url))


def _name(candidate: LinkCandidate) -> str:
    anchors = " / ".join((*candidate.anchor_texts, *filter(None, [candidate.title])))[:_MAX_ANCHORS]
    return f"{anchors} {_path(candidate.url)}"


@lru_cache(maxsize=_KEPT_PATHS)
def _path(url: str) -> str:
    return unquote(FILE_ENDING.sub("", urlsplit(url).path)).replace("/", " ")


def _sentence(candidate: LinkCandidate) -> str:
    return f"{candidate.context} {candidate.description or ''}".strip()[:_MAX_SENTENCE]


def _read(texts: Sequence[str]) -> _Texts:
    """Each text cut once per process: a frontier keeps most of its links from round to round."""
    found = {text: _READ[text] for text in texts if text in _READ}
    unknown = [text for text in dict.fromkeys(texts) if text not in found]
    for text, ids in zip(unknown, token_ids(unknown), strict=True):
        total = token_weights()[ids] @ token_vectors()[ids]
        found[text] = Passage(term_codes(terms(text)), np.unique(ids)), ids, float(np.linalg.norm(total))
    if len(_READ) + len(unknown) > _KEPT_TEXTS:
        _READ.clear()
    _READ.update(found)
    return _Texts(
        [found[text][0] for text in texts],
        [found[text][1] for text in texts],
        np.array([found[text][2] for text in texts], dtype=np.float32),
    )


def _held(asked: QueryProfile, texts: _Texts) -> NDArray[np.bool_]:
    """Which text holds which term, shape (texts, terms)."""
    held = np.zeros((len(texts.passages), len(asked.codes)), dtype=bool)
    every, owner = _joined(passage.terms for passage in texts.passages)
    if len(asked.codes) and len(every):
        slot = np.minimum(np.searchsorted(asked.codes, every), len(asked.codes) - 1)
        at = asked.codes[slot] == every
        held[owner[at], slot[at]] = True
    return held


def _joined(arrays: Iterable[NDArray[np.unsignedinteger]]) -> tuple[NDArray[np.unsignedinteger], NDArray[np.intp]]:
    """All of them in one, and to which each entry belongs."""
    every = list(arrays)
    lengths = [len(array) for array in every]
    return np.concatenate(every) if every else np.empty(0, dtype=np.uint16), np.repeat(np.arange(len(every)), lengths)


def _rarity(held: NDArray[np.bool_], total: int) -> Array:
    """BM25's idf of every term of the query among the candidates' names."""
    number = held.sum(axis=0)
    return np.asarray(np.log(1 + np.maximum(total - number + 0.5, 0.1) / (number + 0.5)), dtype=np.float32)


def _words(asked: QueryProfile, texts: _Texts) -> Array:
    total = asked.weights.sum()
    held = _held(asked, texts)
    return np.asarray(held @ asked.weights / total if total > 0 else np.zeros(len(held)), dtype=np.float32)


@lru_cache(maxsize=_KEPT_QUERIES)
def _alike(query: str) -> Array:
    """Of every token of the vocabulary, its weight times the cosine to the query's weighted sum; 0 without one.

    It reads all vectors of the vocabulary, so a run, which asks the same in every round, has it done once.
    """
    asked = profile(query, {})
    wanted = asked.token_weights @ asked.tokens
    length = float(np.linalg.norm(wanted))
    found = np.zeros(len(token_weights()), dtype=np.float32)
    if length:
        found = np.asarray(token_weights() * (token_vectors() @ (wanted / length)), dtype=np.float32)
    found.flags.writeable = False
    return found


def _directions(alike: Array, texts: _Texts) -> Array:
    """Cosine of the query's and each text's weighted sum of token vectors, floored at 0."""
    tokens, owner = _joined(texts.tokens)
    sums = np.bincount(owner, weights=alike[tokens], minlength=len(texts.passages))
    found = np.divide(sums, texts.lengths, out=np.zeros(len(sums)), where=texts.lengths > 0)
    return np.asarray(np.clip(found, 0, 1), dtype=np.float32)
