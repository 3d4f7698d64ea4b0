"""Signals: each number from a small evidence set that can be checked by hand."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from statistics import pvariance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.config import Settings
from webrag_core.indexing.terms import terms
from webrag_core.orchestration.models import EvaluationSignals
from webrag_core.orchestration.signals import (
    UNCALIBRATED_FLOOR,
    ScoredPassage,
    best_features,
    compute_signals,
    leading_passages,
    mediocre_floor,
    passage_features,
)
from webrag_core.retrieval.models import RankedChunk, RetrievedChunk

SETTINGS = Settings()


def ranked(
    number: int,
    score: float,
    *,
    text: str | None = None,
    tokens: int = 100,
    document: int = 1,
    confidence: float | None = None,
    locality: bool = False,
) -> RankedChunk:
    text = text if text is not None else f"alpha{number} beta{number} gamma{number} delta{number}"
    chunk = RetrievedChunk(
        chunk_id=number,
        document_id=document,
        version_id=1,
        version_sha256="0" * 64,
        source_url=f"https://example.test/{document}",
        title=None,
        text=text,
        heading_path=[],
        chunk_index=number,
        char_start=0,
        char_end=len(text),
        match_start=0,
        match_end=len(text),
        match_heading_path=[],
        token_count=tokens,
        score=score,
        raw_similarity=score,
        lexical_score=0.0,
        depth=0,
        flags=[],
        fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return RankedChunk(chunk=chunk, reranked_score=score, confidence=confidence, is_locality_expanded=locality)


def signals(chunks: list[RankedChunk], *, settings: Settings = SETTINGS, budget: int = 1000) -> EvaluationSignals:
    return compute_signals(
        chunks,
        settings=settings,
        context_budget=budget,
        round=2,
        expansion_rounds_left=3,
        can_rewrite=True,
        candidates_left=9,
        best_candidate_score=0.4,
    )


def test_no_chunks_give_zeros_and_no_shape() -> None:
    found = signals([])
    assert (found.n_chunks, found.top_score, found.score_mean, found.score_variance) == (0, 0, 0, 0)
    assert (found.chunks_above_threshold, found.token_fill_ratio, found.redundancy_ratio) == (0, 0, 0)
    assert found.avg_confidence is None
    flags = (found.is_plateau, found.is_cliff, found.is_saturated, found.has_high_redundancy)
    assert not any(flags)


def test_scores_in_any_order() -> None:
    scores = [0.5, 0.9, 0.88, 0.2, 0.4, 0.86]
    found = signals([ranked(i, score) for i, score in enumerate(scores)])
    assert found.top_score == 0.9
    assert found.score_at_k == 0.4
    assert found.score_cliff == pytest.approx(0.5)
    assert found.score_mean == pytest.approx(sum(scores) / 6)
    assert found.score_variance == pytest.approx(pvariance(scores))
    assert found.chunks_above_threshold == 2, "0.9 and 0.88 are within 0.03 of the top"
    assert found.is_cliff
    assert not found.is_plateau


def test_only_the_best_ten_count_for_mean_and_variance() -> None:
    found = signals([ranked(i, 0.8 if i < 10 else 0.0) for i in range(40)])
    assert found.score_mean == pytest.approx(0.8)
    assert found.score_variance == pytest.approx(0.0)
    assert found.n_chunks == 40


@pytest.mark.parametrize("scores", [[0.9], [0.9, 0.1], [0.3, 0.3]])
def test_one_or_two_chunks_have_no_shape(scores: list[float]) -> None:
    found = signals([ranked(i, score) for i, score in enumerate(scores)])
    assert found.score_at_k == scores[-1], "fewer than five: the last one"
    assert not any((found.is_plateau, found.is_cliff, found.is_mediocre_plateau))


def test_three_chunks_have_one() -> None:
    assert signals([ranked(i, 0.4) for i in range(3)]).is_mediocre_plateau
    good = signals([ranked(i, 0.6) for i in range(3)])
    assert good.is_plateau
    assert not good.is_mediocre_plateau
    assert signals([ranked(i, score) for i, score in enumerate([0.9, 0.8, 0.7])]).is_cliff


def test_repeated_text_fills_no_context() -> None:
    same = "one two three four five six"
    chunks = [ranked(0, 0.5, text=same), ranked(1, 0.9, text=same, tokens=300), ranked(2, 0.4, tokens=200)]
    found = signals(chunks)
    assert found.redundancy_ratio == pytest.approx(1 / 3)
    assert found.token_fill_ratio == pytest.approx(0.5), "300 of the better copy and 200 of the other text"
    assert not found.has_high_redundancy
    assert signals([ranked(i, 0.5, text=same) for i in range(20)]).has_high_redundancy


def test_saturation_is_above_the_ratio() -> None:
    assert not signals([ranked(0, 0.5, tokens=800)]).is_saturated
    assert signals([ranked(0, 0.5, tokens=801)]).is_saturated


def test_locality_chunks_never_enter() -> None:
    scored = [ranked(i, 0.7, document=i) for i in range(4)]
    neighbours = [ranked(10 + i, 0.0, document=50 + i, locality=True) for i in range(4)]
    assert signals(scored + neighbours) == signals(scored)


def test_confidence_over_those_that_have_one() -> None:
    chunks = [ranked(0, 0.9, confidence=0.2), ranked(1, 0.8), ranked(2, 0.7, confidence=0.6)]
    assert signals(chunks).avg_confidence == pytest.approx(0.4)
    tail = [ranked(i, 0.9) for i in range(10)] + [ranked(10, 0.1, confidence=1.0)]
    assert signals(tail).avg_confidence is None, "rank 11 is not among the best ten"


def test_sources_are_documents_and_loop_state_passes_through() -> None:
    found = signals([ranked(i, 0.5, document=i // 2) for i in range(4)])
    assert found.source_document_count == 2
    assert (found.round, found.expansion_rounds_left, found.can_rewrite) == (2, 3, True)
    assert (found.candidates_left, found.best_candidate_score) == (9, 0.4)


def test_the_floor_without_a_reranker() -> None:
    assert mediocre_floor(SETTINGS) == 0.5
    failed = SETTINGS.model_copy(update={"reranker_provider": "none"})
    assert mediocre_floor(failed) == UNCALIBRATED_FLOOR
    explicit = Settings(reranker_provider="none", mediocre_score_floor=0.42)
    assert mediocre_floor(explicit) == 0.42


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 2000), st.integers(1, 4)), max_size=30), st.randoms())
def test_order_does_not_matter_and_ranges_hold(rows: list[tuple[float, int, int]], rng: object) -> None:
    chunks = [ranked(i, s, tokens=t, document=d) for i, (s, t, d) in enumerate(rows)]
    shuffled = list(chunks)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    found = signals(chunks)
    assert found == signals(shuffled)
    assert 0 <= found.redundancy_ratio <= 1
    assert 0 <= found.score_mean <= found.top_score + 1e-9
    assert found.score_cliff >= 0
    assert 0 <= found.score_variance <= 0.25 + 1e-9
    assert found.chunks_above_threshold <= found.n_chunks
    assert (found.chunks_above_threshold > 0) == bool(rows)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("the kettle whistles and the teapot waits", 0),
        ("steam\n\n## The *kettle*\n\nmore\n\n### Teapot `x`\n\nend", 1),
        ("```sh\n# teapot\n```\n\n- # kettle\n\n#\n\nsteam", 0.5),  # a comment in code is no heading
    ],
)
def test_the_heading_share_counts_the_headings_of_the_parent_chunk(text: str, share: float) -> None:
    chunk = ranked(1, 0.5, text=text).chunk.model_copy(update={"title": "Kettle and teapot"})
    assert passage_features(chunk, 0.5, terms("kettle or teapot")).heading_share == share
    assert passage_features(chunk, 0.5, []).heading_share == 0


ANSWER = "## Signing keys\n\nRotate the signing keys with `vault keys rotate`; old keys stay valid for two days."
QUERY = terms("How do I rotate the signing keys, and how long do old keys stay valid?")
LABELS = ["Rotate the signing keys", "How long old signing keys stay valid", "Keys: rotate, sign", "Audit", "Pricing"]


def scored(number: int, score: float, text: str, title: str | None = "Signing keys") -> ScoredPassage:
    chunk = ranked(number, score, text=text, document=number).chunk
    return ScoredPassage(chunk.model_copy(update={"title": title, "match_heading_path": ["Rotate keys"]}), score, score)


def list_of_links(labels: list[str], intro: str) -> str:
    return f"# Rotate old signing keys\n\n{intro}\n\n" + "\n".join(
        f"- [{label}](/{label[:3]}.html)" for label in labels
    )


@given(
    pages=st.lists(
        st.tuples(st.lists(st.sampled_from(LABELS), min_size=3, max_size=12), st.sampled_from(["", "Pages:", "See"])),
        min_size=1,
        max_size=30,
    ),
    lead=st.floats(0, 0.04),
    others=st.integers(0, 7),
    rng=st.randoms(),
)
def test_lists_of_links_in_front_never_lower_the_features(
    pages: list[tuple[list[str], str]], lead: float, others: int, rng: random.Random
) -> None:
    found = [scored(1, 0.96, ANSWER), *(scored(2 + n, 0.4, f"{ANSWER} Also {n}.") for n in range(others))]
    linking = [scored(20 + n, 0.96 + lead, list_of_links(*page)) for n, page in enumerate(pages)]
    before = leading_passages(found, QUERY, 5)
    together = [*linking, *found]
    rng.shuffle(together)
    after = leading_passages(together, QUERY, 5)
    assert best_features(after, QUERY) == best_features(before, QUERY)
    assert best_features(before, QUERY).raw_score == 0.96
    assert [one.chunk.chunk_id for one in after][: len(before)] == [one.chunk.chunk_id for one in before]


@given(st.lists(st.tuples(st.sampled_from([0.2, 0.5, 0.9]), st.booleans()), max_size=12), st.randoms())
def test_the_order_of_equal_passages_does_not_matter(rows: list[tuple[float, bool]], rng: random.Random) -> None:
    found = [scored(n, score, ANSWER if whole else "Rotate daily.") for n, (score, whole) in enumerate(rows)]
    shuffled = list(found)
    rng.shuffle(shuffled)
    leading = leading_passages(found, QUERY, 5)
    assert leading == leading_passages(shuffled, QUERY, 5)
    assert {one.score for one in leading} == set(sorted((score for score, _ in rows), reverse=True)[:5])
    assert best_features(leading, QUERY).raw_score == max((score for score, _ in rows), default=0)


def test_a_paragraph_with_a_few_links_is_no_list() -> None:
    text = f"{ANSWER}\n\n- [Audit](/a)\n- [Pricing](/p)"
    assert best_features([scored(1, 0.9, text)], QUERY) == best_features([scored(1, 0.9, ANSWER)], QUERY)
    heading = scored(1, 0.9, "## Rotate keys\n", None)
    assert passage_features(heading.chunk, 0.9, terms("rotate keys")).raw_score == 0.9
