"""Link scorers: rank the links that a run could follow, before any of them is fetched.

`words-and-meaning` is the default. Links rarely use the words of a question, so each candidate is compared in three
ways, all offline: shared words weighted by their rarity among the candidates, the best match of every query token
among the candidate's tokens, and the cosine of the whole texts. `seed-weights` is the specification's formula (000,
section 10), kept as the baseline.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from webrag_core.config import LinkScorer
from webrag_core.indexing.passages import Passage, term_codes
from webrag_core.indexing.terms import terms
from webrag_core.language.detection import detected
from webrag_core.language.words import rules_of
from webrag_core.orchestration.models import QueryAnalysis, ScoredCandidate
from webrag_core.providers.static_model import token_ids, token_vectors, token_weights
from webrag_core.recently_used import RecentlyUsed
from webrag_core.retrieval.scoring import QueryProfile, best_cosines, profile

URL_PATH, TITLE, DESCRIPTION, IN_DEGREE, DEPTH = "url_path", "title", "description", "in_degree", "depth"
SEED_WEIGHTS = {URL_PATH: 0.15, TITLE: 0.40, DESCRIPTION: 0.30, IN_DEGREE: 0.05, DEPTH: 0.10}
"""Weight of each signal of `seed-weights`; they add up to 1."""

WORDS, MEANINGS, DIRECTION, SURROUNDINGS = "words", "meanings", "direction", "surroundings"
WEIGHTS = {WORDS: 0.27, MEANINGS: 0.26, DIRECTION: 0.27, SURROUNDINGS: 0.20}
"""Weight of each part of `words-and-meaning`; they add up to 1."""

_TEXT_WEIGHT = SEED_WEIGHTS[URL_PATH] + SEED_WEIGHTS[TITLE] + SEED_WEIGHTS[DESCRIPTION]
_FULL_IN_DEGREE = 5  # linking pages from which on more do not count
_DEPTH_STEP = 0.2  # lost per link from the seed
_FILE_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")
_GENERIC_ANCHORS = frozenset(
    [
        "", "click here", "here", "learn more", "link", "more", "next", "previous", "read more", "see more",
        "this page",
    ]
)  # fmt: skip

_MAX_NAME = 300  # characters
_MAX_SURROUNDINGS = 600
_CACHED_TEXTS = 100_000  # about 300 bytes each
_CACHED_PATHS = 50_000
_CACHED_QUERIES = 16  # half a megabyte each

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LinkCandidate:
    """A URL that the run could fetch, with everything known about it beforehand.

    `anchor_texts` are the texts of the links to it, best first; `context` is the text of the block around the link and
    `heading_path` its section on `from_url`; `title` and `description` come from a site map when there is one.
    `link_depth` is the candidate's distance from the seed (a link on the seed page: 1), `in_degree` the number of
    distinct pages of this run that link to it, `in_navigation` true if only menus and footers do.
    """

    url: str
    from_url: str
    link_depth: int
    anchor_texts: tuple[str, ...] = ()
    context: str = ""
    heading_path: tuple[str, ...] = ()
    title: str | None = None
    description: str | None = None
    in_degree: int = 0
    in_navigation: bool = False


def score_links(
    candidates: Sequence[LinkCandidate], queries: Sequence[str], analysis: QueryAnalysis, scorer: LinkScorer
) -> list[ScoredCandidate]:
    """Score all candidates with the named scorer; best first. Selection happens afterwards.

    Of several `queries` the mean counts, in the score and in its breakdown.
    """
    each = [
        seed_weights(candidates, query, analysis) if scorer == "seed-weights" else words_and_meaning(candidates, query)
        for query in queries
    ]
    if len(each) == 1:
        return each[0]
    by_url = [{item.url: item for item in scored} for scored in each]
    means = [_mean([scores[item.url] for scores in by_url]) for item in each[0]]
    return sorted(means, key=lambda candidate: (-candidate.score, candidate.url))


def _mean(scored: Sequence[ScoredCandidate]) -> ScoredCandidate:
    names = scored[0].score_breakdown
    breakdown = {name: math.fsum(item.score_breakdown[name] for item in scored) / len(scored) for name in names}
    score = math.fsum(item.score for item in scored) / len(scored)
    return scored[0].model_copy(update={"score": score, "score_breakdown": breakdown})


def words_and_meaning(candidates: Sequence[LinkCandidate], query: str) -> list[ScoredCandidate]:
    """Score all candidates against `query`; best first, equal scores by URL.

    score = .27 words + .26 meanings + .27 direction + .20 surroundings, every part in [0, 1]:

    - `words`: share of the query's terms, weighted by their rarity among the candidates (BM25's idf), that occur in
      the anchor texts, the site map's title, or the URL's path.
    - `meanings`: mean over the query's tokens, weighted by token weight, of the best cosine with a token of these
      texts. Unrelated tokens reach some .2 as well, so it orders links but is no threshold.
    - `direction`: cosine of the weighted sums of token vectors.
    - `surroundings`: mean of `words` and `direction` for the block around the link and the map's description.

    A query or a candidate without a known token scores 0 on its parts. Pure; raises nothing.
    """
    language = detected(query)
    names = _features([_name(candidate) for candidate in candidates], language)
    surroundings = _features([_surroundings(candidate) for candidate in candidates], language)
    query_profile = profile(query, dict.fromkeys(terms(query, language), 1.0))
    query_profile = dataclasses.replace(
        query_profile, weights=_rarity(_term_matches(query_profile, names), len(candidates))
    )
    token_cosines = _query_cosines(query)
    parts = {
        WORDS: _words(query_profile, names),
        MEANINGS: np.clip(query_profile.token_weights @ best_cosines(query_profile, names.passages), 0, 1),
        DIRECTION: _directions(token_cosines, names),
        SURROUNDINGS: (_words(query_profile, surroundings) + _directions(token_cosines, surroundings)) / 2,
    }
    scored = []
    for index, candidate in enumerate(candidates):
        breakdown = {part: float(values[index]) for part, values in parts.items()}
        score = math.fsum(WEIGHTS[part] * value for part, value in breakdown.items())
        scored.append(_scored(candidate, score, breakdown))
    return sorted(scored, key=lambda candidate: (-candidate.score, candidate.url))


def seed_weights(candidates: Iterable[LinkCandidate], query: str, analysis: QueryAnalysis) -> list[ScoredCandidate]:
    """Score all candidates with the specification's five weighted signals; best first, equal scores by URL.

    score = .15 url_path + .40 title + .30 description + .05 in_degree + .10 depth, every signal in [0, 1]:

    - `title`, `description`: share of the query's terms that occur there. Without a title the anchor texts stand in,
      without a description the block around the link.
    - `url_path`: share of the terms of the key concepts (of the query, if there are none) in path and query string.
    - `in_degree`: min(1, in_degree / 5). `depth`: max(0, 1 - .2 link_depth).

    Shares of the query, not Jaccard: a long description must not count less for being long. Terms are stemmed and
    without stop words, so "task groups" matches `TaskGroup`. The weight of an absent text goes to the texts that are
    present (the URL path always is). in_degree and depth keep theirs: they do not depend on the query, and a bare URL
    must not pass the floor on them.

    `score_breakdown` holds the value of every signal; an absent text has no entry. Pure; raises nothing.
    """
    language = detected(query)
    query_terms = frozenset(terms(query, language))
    concepts = frozenset(terms(" ".join(analysis.key_concepts), language)) or query_terms
    # Menus repeat the same few words on every page, so most texts come more than once.
    shares: dict[str, float | None] = {}

    def share(text: str) -> float | None:
        if text not in shares:
            words = terms(text, language)
            shares[text] = len(query_terms.intersection(words)) / len(query_terms) if words and query_terms else None
        return shares[text]

    scored = []
    for candidate in candidates:
        anchors = _descriptive(candidate.anchor_texts)
        title = share(_stripped(candidate.title) or " / ".join(anchors))
        description = share(_stripped(candidate.description) or candidate.context)
        path = concepts.intersection(_path_terms(candidate.url))
        signals = {URL_PATH: len(path) / len(concepts) if concepts else 0.0}
        if title is not None:
            signals[TITLE] = title
        if description is not None:
            signals[DESCRIPTION] = description
        relevance = sum(SEED_WEIGHTS[name] * value for name, value in signals.items())
        relevance *= _TEXT_WEIGHT / sum(SEED_WEIGHTS[name] for name in signals)
        signals[IN_DEGREE] = min(1.0, max(0, candidate.in_degree) / _FULL_IN_DEGREE)
        signals[DEPTH] = min(1.0, max(0.0, 1.0 - _DEPTH_STEP * candidate.link_depth))
        score = relevance + SEED_WEIGHTS[IN_DEGREE] * signals[IN_DEGREE] + SEED_WEIGHTS[DEPTH] * signals[DEPTH]
        scored.append(_scored(candidate, score, signals))
    return sorted(scored, key=lambda candidate: (-candidate.score, candidate.url))


def _scored(candidate: LinkCandidate, score: float, breakdown: dict[str, float]) -> ScoredCandidate:
    """The candidate with its score (at most 1) and its breakdown, as the run's trace stores them."""
    return ScoredCandidate(
        url=candidate.url,
        score=min(1.0, score),
        score_breakdown=breakdown,
        anchor_text=next(iter(_descriptive(candidate.anchor_texts) or candidate.anchor_texts), ""),
        from_url=candidate.from_url,
        link_depth=candidate.link_depth,
    )


def _stripped(text: str | None) -> str:
    return (text or "").strip()


def _descriptive(anchor_texts: tuple[str, ...]) -> list[str]:
    """The different anchor texts that describe the target: not "here" or "Read more »"."""
    return [t for t in dict.fromkeys(anchor_texts) if t.strip(" \t\n.…»›>→").lower() not in _GENERIC_ANCHORS]


def _path_terms(url: str) -> list[str]:
    """Terms of a URL's path and query string, file ending removed. Empty for a malformed URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    return terms(unquote(f"{_FILE_ENDING.sub('', parts.path)} {parts.query}"))


# --- features of texts for `words-and-meaning` ---


@dataclass(frozen=True, slots=True)
class _Features:
    """One entry per text. `tokens` holds repeated tokens too; `lengths` are the norms of the weighted sums of token
    vectors, 0 for a text without a known token."""

    passages: list[Passage]
    tokens: list[NDArray[np.uint16]]
    lengths: Array


_FEATURES: RecentlyUsed[tuple[str, str], tuple[Passage, NDArray[np.uint16], float]] = RecentlyUsed(_CACHED_TEXTS)
"""Cache of the process: a frontier keeps most of its links from round to round."""


def _features(texts: Sequence[str], language: str | None) -> _Features:
    """Tokenise each text once per process and rules of words, those of the question's language."""
    rules = rules_of(language)
    rows = {text: row for text in dict.fromkeys(texts) if (row := _FEATURES.get((rules, text))) is not None}
    missing = [text for text in dict.fromkeys(texts) if text not in rows]
    for text, ids in zip(missing, token_ids(missing), strict=True):
        total = token_weights()[ids] @ token_vectors(ids)[ids]
        rows[text] = Passage(term_codes(terms(text, language)), np.unique(ids)), ids, float(np.linalg.norm(total))
    for text in missing:
        _FEATURES.put((rules, text), rows[text])
    return _Features(
        [rows[text][0] for text in texts],
        [rows[text][1] for text in texts],
        np.array([rows[text][2] for text in texts], dtype=np.float32),
    )


def _name(candidate: LinkCandidate) -> str:
    anchors = " / ".join((*candidate.anchor_texts, *filter(None, [candidate.title])))[:_MAX_NAME]
    return f"{anchors} {_path(candidate.url)}"


def link_text(candidate: LinkCandidate) -> str:
    """A link as a text to read: its name, its section, and what stands around it."""
    section = " > ".join(candidate.heading_path)
    return "\n".join(filter(None, [_name(candidate).strip(), section, _surroundings(candidate)]))


@lru_cache(maxsize=_CACHED_PATHS)
def _path(url: str) -> str:
    return unquote(_FILE_ENDING.sub("", urlsplit(url).path)).replace("/", " ")


def _surroundings(candidate: LinkCandidate) -> str:
    return f"{candidate.context} {candidate.description or ''}".strip()[:_MAX_SURROUNDINGS]


def _term_matches(query: QueryProfile, texts: _Features) -> NDArray[np.bool_]:
    """Which text contains which query term, shape (texts, terms)."""
    matches = np.zeros((len(texts.passages), len(query.codes)), dtype=bool)
    codes, owners = _concatenated(passage.terms for passage in texts.passages)
    if len(query.codes) and len(codes):
        columns = np.minimum(np.searchsorted(query.codes, codes), len(query.codes) - 1)
        equal = query.codes[columns] == codes
        matches[owners[equal], columns[equal]] = True
    return matches


def _concatenated(
    arrays: Iterable[NDArray[np.unsignedinteger]],
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.intp]]:
    """All entries in one array, and the index of the array that each entry comes from."""
    parts = list(arrays)
    lengths = [len(part) for part in parts]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint16), np.repeat(np.arange(len(parts)), lengths)


def _rarity(matches: NDArray[np.bool_], total: int) -> Array:
    """BM25's idf of every query term among the candidates' names."""
    frequency = matches.sum(axis=0)
    return np.asarray(np.log(1 + np.maximum(total - frequency + 0.5, 0.1) / (frequency + 0.5)), dtype=np.float32)


def _words(query: QueryProfile, texts: _Features) -> Array:
    total = query.weights.sum()
    matches = _term_matches(query, texts)
    return np.asarray(matches @ query.weights / total if total > 0 else np.zeros(len(matches)), dtype=np.float32)


@lru_cache(maxsize=_CACHED_QUERIES)
def _query_cosines(query: str) -> Array:
    """For every token of the vocabulary: its weight times the cosine to the query's weighted sum; 0 without one.

    Reads all vectors of the vocabulary. A run asks for the same query in every round, so the result is cached.
    """
    query_profile = profile(query, {})
    total = query_profile.token_weights @ query_profile.tokens
    length = float(np.linalg.norm(total))
    cosines = np.zeros(len(token_weights()), dtype=np.float32)
    if length:
        cosines = np.asarray(token_weights() * (token_vectors() @ (total / length)), dtype=np.float32)
    cosines.flags.writeable = False
    return cosines


def _directions(token_cosines: Array, texts: _Features) -> Array:
    """Cosine of the query's and each text's weighted sum of token vectors, floored at 0."""
    tokens, owners = _concatenated(texts.tokens)
    sums = np.bincount(owners, weights=token_cosines[tokens], minlength=len(texts.passages))
    cosines = np.divide(sums, texts.lengths, out=np.zeros(len(sums)), where=texts.lengths > 0)
    return np.asarray(np.clip(cosines, 0, 1), dtype=np.float32)
