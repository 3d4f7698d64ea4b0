"""The default policy and what it looks at: the best passage, the best link, a fitted probability."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.models import COMPLETE_AT, EvaluationSignals
from webrag_core.orchestration.policies import DEFAULT_POLICY, get_policy
from webrag_core.orchestration.policies.calibrated import (
    Calibrated,
    CompletenessTable,
    completeness_tables,
    features,
    table_of,
)
from webrag_core.orchestration.query_analyzer import joins_parts
from webrag_core.orchestration.signals import PassageFeatures, compute_signals

SETTINGS = Settings()
GOOD = PassageFeatures(raw_score=0.6, term_share=0.9, heading_share=0.7)
POOR = PassageFeatures(raw_score=0.15, term_share=0.1)


def signals(
    passage: PassageFeatures,
    *,
    preview: float | None = 0.3,
    reading: float | None = None,
    preview_reading: float | None = None,
    round_number: int = 0,
    rounds_left: int = 5,
) -> EvaluationSignals:
    return compute_signals(
        [],
        settings=SETTINGS,
        context_budget=1000,
        round=round_number,
        expansion_rounds_left=rounds_left,
        can_rewrite=True,
        candidates_left=9,
        best_candidate_score=0.15,
        passage=passage,
        query_terms=6,
        previews_left=0 if preview is None else 1,
        best_preview_score=preview,
        reading=reading,
        preview_reading=preview_reading,
    )


def test_it_is_the_default_and_known_by_name() -> None:
    assert DEFAULT_POLICY == "calibrated" == get_policy(DEFAULT_POLICY, SETTINGS).name
    assert SETTINGS.webrag_policy == DEFAULT_POLICY
    with pytest.raises(InvalidInputError):
        get_policy("calibrated", SETTINGS).decide([])


def test_good_support_stops_and_poor_support_goes_on() -> None:
    policy = Calibrated()
    enough = policy.decide([signals(GOOD, reading=0.8, preview_reading=0.6)])
    thin = policy.decide([signals(POOR, reading=0.4, preview_reading=0.5)])
    assert (enough.action, enough.rule) == ("stop", "complete")
    assert (thin.action, thin.rule, thin.pages) == ("expand_breadth", "incomplete", 1)
    assert thin.probability_complete < COMPLETE_AT <= enough.probability_complete


def test_a_spent_budget_stops_without_a_claim() -> None:
    decision = Calibrated().decide([signals(POOR, rounds_left=0)])
    assert (decision.action, decision.rule) == ("stop", "budget-spent")
    assert decision.probability_complete < 0.5


def test_pages_come_one_by_one_and_then_in_pairs() -> None:
    policy = Calibrated()
    taken = [policy.decide([signals(POOR, round_number=number)]).pages for number in range(6)]
    assert taken == [1, 1, 1, 2, 2, 2]


def test_what_speaks_for_complete_and_what_against() -> None:
    plain, read = completeness_tables()["none"], completeness_tables()["minilm"]
    middling = PassageFeatures(0.35, 0.5)
    assert plain.probability(signals(middling, preview=0.2)) > plain.probability(signals(middling, preview=0.4))
    middle = read.probability(signals(middling, reading=0.5, preview_reading=0.5))
    assert read.probability(signals(middling, reading=0.6, preview_reading=0.6)) > middle
    assert read.probability(signals(middling, reading=0.5, preview_reading=0.4)) > middle
    headed = PassageFeatures(0.35, 0.5, heading_share=0.5)
    assert read.probability(signals(headed, reading=0.5, preview_reading=0.5)) > middle


@pytest.mark.parametrize(
    ("query", "joined"),
    [
        ("Which ports do POP and IMAP use?", True),
        ("What is the default; can it be changed?", True),
        ("How do I brand a candle?", False),
        ("", False),
    ],
)
def test_questions_that_join_parts(query: str, joined: bool) -> None:
    assert joins_parts(query) == joined


def test_the_table_depends_on_the_reader_and_on_previews() -> None:
    assert table_of(signals(GOOD)) == "none"
    assert table_of(signals(GOOD, preview=None)) == "none, no previews"
    assert table_of(signals(GOOD, reading=0.7, preview=None)) == "minilm, no previews"
    assert features(signals(GOOD, preview=None), "none, no previews") == (0.9, 0.6, 0.5, 0.0, 0.7)
    read = signals(GOOD, reading=0.7, preview_reading=0.4)
    assert features(read, "minilm") == (0.5, 0.0, pytest.approx(0.3), 0.7, pytest.approx(0.3), 0.7)


def test_extreme_coefficients_stay_probabilities() -> None:
    for constant in (-1e9, 1e9):
        assert 0 <= CompletenessTable(constant, (0,) * 6).probability(signals(GOOD)) <= 1


def test_the_rounds_record_the_support_of_the_users_own_query(settings: Settings) -> None:
    page = "https://docs.python.org/3.11/library/asyncio-queue.html"

    async def work(query: str) -> EvaluationSignals:
        async with Corpus.open(settings, WarcAcquirer(settings.webrag_warc or Path())) as corpus:
            result = await OrchestratorEngine(corpus).run(AnswerRequest((page,), query, expansion_budget=0))
            return result.rounds[0].signals

    near = asyncio.run(work("What happens when put is called on a full queue?"))
    far = asyncio.run(work("How does one braise an ox tail?"))
    assert 0.5 < near.term_share <= 1
    assert 0 < near.heading_share <= near.term_share
    assert near.best_raw_score > far.best_raw_score
    assert far.term_share < 0.5
