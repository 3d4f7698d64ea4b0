"""Signals: the scored evidence of one round as numbers that a stop policy decides on.

The thresholds live in `Settings`; the predicates here (`is_plateau`, `is_cliff`, ...) are shared with the policies, so
that a recorded run can be decided again under other thresholds.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pvariance

from webrag_core.config.stopping import StoppingSettings
from webrag_core.indexing.markdown import parse_blocks, plain_text, without_link_lines
from webrag_core.indexing.terms import terms
from webrag_core.orchestration.models import EvaluationSignals
from webrag_core.retrieval.models import RankedChunk, RetrievedChunk
from webrag_core.retrieval.redundancy import redundant_indices

MIN_SHAPE = 3
"""Chunks below which a score list has no shape: one or two scores are neither a plateau nor a cliff."""

_HEADING = re.compile(r"#{1,6}\s")

UNCALIBRATED_FLOOR = 0.35
"""Mediocre floor without a reranker: raw similarities of good hits lie lower than calibrated relevances."""


def mediocre_floor(settings: StoppingSettings) -> float:
    """Mean score in [0, 1] below which evidence is mediocre.

    `mediocre_score_floor`, except that the default of it gives way to `UNCALIBRATED_FLOOR` when no reranker
    runs. (A caller whose reranker failed passes a copy of the settings with `reranker_provider="none"`.)
    """
    if settings.reranker_provider == "none" and "mediocre_score_floor" not in settings.model_fields_set:
        return UNCALIBRATED_FLOOR
    return settings.mediocre_score_floor


def is_plateau(n_chunks: int, score_variance: float, settings: StoppingSettings) -> bool:
    """The best scores are all alike: variance below `plateau_variance_threshold`, over 3 chunks or more."""
    return n_chunks >= MIN_SHAPE and score_variance < settings.plateau_variance_threshold


def is_cliff(n_chunks: int, score_cliff: float, settings: StoppingSettings) -> bool:
    """Whether few hits score far above the rest: a drop above `score_cliff_threshold`, over 3 chunks or more."""
    return n_chunks >= MIN_SHAPE and score_cliff > settings.score_cliff_threshold


def is_saturated(token_fill_ratio: float, settings: StoppingSettings) -> bool:
    """The context is filled with different text above `token_budget_saturation_ratio`."""
    return token_fill_ratio > settings.token_budget_saturation_ratio


def is_mediocre(score_mean: float, settings: StoppingSettings) -> bool:
    """The mean of the best scores is below `mediocre_floor`."""
    return score_mean < mediocre_floor(settings)


def has_high_redundancy(redundancy_ratio: float, settings: StoppingSettings) -> bool:
    """The share of repeating chunks reaches `redundancy_ceiling`, which is also the overlap from which one repeats."""
    return redundancy_ratio >= settings.redundancy_ceiling


@dataclass(frozen=True, slots=True)
class PassageFeatures:
    """How well the best passage fits the query; each in [0, 1], each 0 without a passage.

    `raw_score` is retrieval's own score, before calibration. `term_share` is the
    share of the query's terms that occur in the passage, its title and headings. It is not weighted by rarity: in a
    small scope an absent term would weigh most. Lines that consist of links only promise an answer and give none:
    terms that occur only there do not count, and the raw score shrinks in proportion. In a list of links, which has
    more words in such lines than beside them, title and headings do not count either: they name what the links lead
    to. `heading_share` is the share that occurs in the headings within its parent chunk: what a section is about stands
    there, what it mentions in passing does not. (The page's title names the product on most sites, and so does the
    path: with them it tells less.)
    """

    raw_score: float = 0.0
    term_share: float = 0.0
    heading_share: float = 0.0


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A retrieved passage with the score in [0, 1] that it is ranked by and the raw score in [0, 1] it is judged by."""

    chunk: RetrievedChunk
    score: float
    raw_score: float


def leading_passages(
    passages: Iterable[ScoredPassage], query_terms: Collection[str], limit: int
) -> list[ScoredPassage]:
    """The best `limit` passages by score after the discount for lines of links, with that score, best first; and those
    that equal the last of them. Equal ones stand in the order of URL and place. Pure; raises nothing."""
    query = frozenset(query_terms)
    leading: list[ScoredPassage] = []
    floor = 0.0
    for passage in sorted(passages, key=lambda passage: -passage.score):
        if len(leading) >= limit and passage.score < floor:
            break  # no discount raises a score
        leading.append(replace(passage, score=passage.score * _stated(passage.chunk, query)[1]))
        if len(leading) >= limit:
            floor = sorted((item.score for item in leading), reverse=True)[limit - 1]
    leading.sort(key=lambda item: (-item.score, item.chunk.source_url, item.chunk.chunk_index))
    return [item for item in leading if item.score >= floor]


def best_features(leading: Sequence[ScoredPassage], query_terms: Collection[str]) -> PassageFeatures:
    """Features of the best of `leading_passages`; of equal ones that with most terms. All 0 for none."""
    equals = (
        passage_features(item.chunk, item.raw_score, query_terms) for item in leading if item.score == leading[0].score
    )
    return max(
        equals, key=lambda equal: (equal.raw_score, equal.term_share, equal.heading_share), default=PassageFeatures()
    )


def passage_features(chunk: RetrievedChunk, score: float, query_terms: Collection[str]) -> PassageFeatures:
    """Features of a passage with the raw score `score` in [0, 1]. Pure; raises nothing."""
    query = frozenset(query_terms)
    stated, share = _stated(chunk, query)
    headings = (" ".join(block.heading_path[-1:]) for block in parse_blocks(chunk.text) if block.kind == "heading")
    headed = query.intersection(terms(" ".join(headings), chunk.language))
    size = len(query) or 1
    return PassageFeatures(
        raw_score=score * share,
        term_share=len(stated) / size,
        heading_share=len(headed) / size,
    )


def _stated(chunk: RetrievedChunk, query: frozenset[str]) -> tuple[frozenset[str], float]:
    """The terms of `query` that the passage states outside of lines of links, and their share in [0, 1] of those that
    it has anywhere (1 when it has none)."""
    head = f"{chunk.title or ''} {' '.join(chunk.match_heading_path)}"
    text = without_link_lines(chunk.match_text)
    matched = query.intersection(terms(f"{head} {plain_text(chunk.match_text)}", chunk.language))
    if text == chunk.match_text:
        return matched, 1.0
    body = "\n".join(line for line in text.splitlines() if not _HEADING.match(line))
    words, all_words = len(plain_text(body).split()), len(plain_text(chunk.match_text).split())
    linked = all_words - len(plain_text(text).split())
    stated_text = plain_text(body) if linked and linked >= words else f"{head} {plain_text(text)}"
    stated = query.intersection(terms(stated_text, chunk.language))
    return stated, len(stated) / len(matched) if matched else 1.0


def compute_signals(
    chunks: Sequence[RankedChunk],
    *,
    settings: StoppingSettings,
    context_budget: int,
    round: int,
    expansion_rounds_left: int,
    can_rewrite: bool,
    candidates_left: int,
    best_candidate_score: float | None,
    part: str | None = None,
    passage: PassageFeatures | None = None,
    joins_parts: bool = False,
    query_terms: int = 0,
    previews_left: int = 0,
    best_preview_score: float | None = None,
    reading: float | None = None,
    preview_reading: float | None = None,
    provider_score: float | None = None,
) -> EvaluationSignals:
    """Numbers of one round (specification 000, section 9).

    `chunks` in any order, as scored and before redundant ones are dropped (afterwards the redundancy is
    always 0); locality chunks carry no score of their own and are left out. `context_budget` in tokens, above
    0. The other arguments are the loop's state and pass through; `passage` None = no passage.

    - `score_at_k`: the score at rank `score_cliff_rank_k`, or the last one when there are fewer chunks;
      `score_cliff` = top - score_at_k.
    - `score_mean`, `score_variance` (of the population): over the best `plateau_top_n` scores.
    - `chunks_above_threshold`: chunks with a score above top - `diminishing_return_delta`.
    - `redundancy_ratio`: share of the chunks that a better one covers, by text overlap at
      `redundancy_ceiling`; `token_fill_ratio`: tokens of the others / `context_budget` (above 1 when they do
      not all fit).
    - `avg_confidence`: over the best `plateau_top_n`, of those that have one; None when none has.

    All zero for no chunks. Pure; raises nothing.
    """
    ranked = sorted(
        (chunk for chunk in chunks if not chunk.is_locality_expanded),
        key=lambda chunk: (-chunk.reranked_score, chunk.chunk.source_url, chunk.chunk.chunk_index),
    )
    scores = [chunk.reranked_score for chunk in ranked]
    n_chunks = len(scores)
    leading = scores[: settings.plateau_top_n]
    top = scores[0] if scores else 0.0
    at_k = scores[min(settings.score_cliff_rank_k, n_chunks) - 1] if scores else 0.0
    variance = pvariance(leading) if leading else 0.0
    mean = fmean(leading) if leading else 0.0
    confidences = [c.confidence for c in ranked[: settings.plateau_top_n] if c.confidence is not None]

    redundant = set(redundant_indices([chunk.chunk.text for chunk in ranked], settings.redundancy_ceiling))
    redundancy = len(redundant) / n_chunks if n_chunks else 0.0
    tokens = sum(chunk.chunk.token_count for index, chunk in enumerate(ranked) if index not in redundant)
    fill = tokens / max(context_budget, 1)

    plateau = is_plateau(n_chunks, variance, settings)
    best_passage = passage or PassageFeatures()
    return EvaluationSignals(
        n_chunks=n_chunks,
        top_score=top,
        score_at_k=at_k,
        score_cliff=top - at_k,
        score_variance=variance,
        score_mean=mean,
        chunks_above_threshold=sum(score > top - settings.diminishing_return_delta for score in scores),
        token_fill_ratio=fill,
        redundancy_ratio=redundancy,
        source_document_count=len({chunk.chunk.document_id for chunk in ranked}),
        avg_confidence=fmean(confidences) if confidences else None,
        is_plateau=plateau,
        is_cliff=is_cliff(n_chunks, top - at_k, settings),
        is_saturated=is_saturated(fill, settings),
        is_mediocre_plateau=plateau and is_mediocre(mean, settings),
        has_high_redundancy=has_high_redundancy(redundancy, settings),
        part=part,
        best_raw_score=best_passage.raw_score,
        term_share=best_passage.term_share,
        heading_share=best_passage.heading_share,
        joins_parts=joins_parts,
        query_terms=query_terms,
        round=round,
        expansion_rounds_left=expansion_rounds_left,
        can_rewrite=can_rewrite,
        candidates_left=candidates_left,
        best_candidate_score=best_candidate_score,
        previews_left=previews_left,
        best_preview_score=best_preview_score,
        reading=reading,
        preview_reading=preview_reading,
        provider_score=provider_score,
    )
