"""The default link scorer `words-and-meaning`: shared words, meanings of words, direction of the whole text.

Links seldom use the words of a question, so each candidate is read three ways, all of them offline: words weighted by
how rare they are in the frontier, the best match of every query token among the candidate's tokens, and the cosine of
the texts. The weights are few, round and the same for every site.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from webrag_core.indexing.static_model import token_ids, token_vectors, token_weights
from webrag_core.indexing.terms import terms
from webrag_core.orchestration.link_scoring import FILE_ENDING, LinkCandidate, traced
from webrag_core.orchestration.models import ScoredCandidate

WORDS, MEANINGS, DIRECTION, SENTENCE = "words", "meanings", "direction", "sentence"
WEIGHTS = {WORDS: 0.30, MEANINGS: 0.30, DIRECTION: 0.30, SENTENCE: 0.10}
"""Weight of each part; they add up to 1."""

_MAX_ANCHORS = 300  # characters
_MAX_SENTENCE = 600

Array = NDArray[np.float32]


def words_and_meaning(candidates: Sequence[LinkCandidate], query: str) -> list[ScoredCandidate]:
    """Score all candidates against `query`; best first, equal scores by URL.

    score = .30 words + .30 meanings + .30 direction + .10 sentence, every part in [0, 1]:

    - `words`: share of the query's terms, weighted by their rarity among the candidates (BM25's idf), that occur in
      the anchor texts, the site map's title, or the URL's path.
    - `meanings`: mean over the query's tokens, weighted by token weight, of the best cosine with a token of these
      texts. Unrelated tokens reach some .2 as well: it orders links, it does not say that one is good.
    - `direction`: cosine of the weighted token means.
    - `sentence`: mean of `words` and `direction` for the sentence around the link and the map's description.

    A query or a candidate without a known token scores 0 on its parts. Pure; raises nothing.
    """
    names = [_name(candidate) for candidate in candidates]
    sentences = [_sentence(candidate) for candidate in candidates]
    asked = frozenset(terms(query))
    found = [asked.intersection(terms(name)) for name in names]
    weight = _rarity(asked, found, len(names))
    ids = token_ids([query, *names, *sentences])
    tokens = np.unique(ids[0])
    share = token_weights()[tokens]
    wanted = _mean(ids[0])
    scored = []
    for index, candidate in enumerate(candidates):
        told = ids[1 + len(names) + index]
        parts = {
            WORDS: _share(found[index], weight),
            MEANINGS: _meanings(tokens, share, ids[1 + index]),
            DIRECTION: _cosine(wanted, _mean(ids[1 + index])),
            SENTENCE: (_share(asked.intersection(terms(sentences[index])), weight) + _cosine(wanted, _mean(told))) / 2,
        }
        scored.append(traced(candidate, sum(WEIGHTS[part] * value for part, value in parts.items()), parts))
    return sorted(scored, key=lambda each: (-each.score, each.url))


def _name(candidate: LinkCandidate) -> str:
    anchors = " / ".join((*candidate.anchor_texts, *filter(None, [candidate.title])))[:_MAX_ANCHORS]
    return f"{anchors} {unquote(FILE_ENDING.sub('', urlsplit(candidate.url).path)).replace('/', ' ')}"


def _sentence(candidate: LinkCandidate) -> str:
    return f"{candidate.context} {candidate.description or ''}".strip()[:_MAX_SENTENCE]


def _rarity(asked: frozenset[str], found: Sequence[frozenset[str]], total: int) -> dict[str, float]:
    """BM25's idf of every term of the query among the candidates' names."""
    held = Counter(term for each in found for term in each)
    return {term: math.log(1 + max(total - held[term] + 0.5, 0.1) / (held[term] + 0.5)) for term in asked}


def _share(found: frozenset[str], weight: dict[str, float]) -> float:
    total = math.fsum(weight.values())  # exact: the order of a set is another one in every process
    return math.fsum(weight[term] for term in found) / total if total else 0.0


def _meanings(tokens: NDArray[np.uint16], share: Array, ids: NDArray[np.uint16]) -> float:
    if not len(ids) or not share.sum():
        return 0.0
    best = (token_vectors()[tokens] @ token_vectors()[np.unique(ids)].T).max(axis=1)
    return min(1.0, max(0.0, float(best @ share / share.sum())))


def _mean(ids: NDArray[np.uint16]) -> Array | None:
    """Weighted mean of the tokens' vectors, of unit length; None for a text without a token that says anything."""
    if not len(ids):
        return None
    mean = token_weights()[ids] @ token_vectors()[ids]
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / length, dtype=np.float32) if length else None


def _cosine(one: Array | None, other: Array | None) -> float:
    return 0.0 if one is None or other is None else max(0.0, float(one @ other))
