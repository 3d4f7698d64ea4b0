"""What a verdict does to a decision: it ends a run, denies a claim, and replays without a call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.orchestration.test_calibrated import signals as signals_of
from webrag_core.config import Settings
from webrag_core.judging.verdict import Verdict
from webrag_core.orchestration.judged import COMPLETE, INCOMPLETE, decide, wants_verdict
from webrag_core.orchestration.models import COMPLETE_AT, EvaluationSignals, ExpansionDecision
from webrag_core.orchestration.policies import get_policy
from webrag_core.orchestration.signals import PassageFeatures

SETTINGS = Settings()
POLICIES = ("calibrated", "seed-matrix", "fixed-k:2", "stop-at-once")


def signals(
    *, reading: float = 0.9, left: int = 3, verdict: Verdict | None = None, chunks: int = 5
) -> EvaluationSignals:
    passage = PassageFeatures(raw_score=reading, term_share=reading, heading_share=reading)
    now = signals_of(passage, preview=0.1, reading=reading, preview_reading=0.1, rounds_left=left)
    return now.model_copy(update={"n_chunks": chunks, "verdict": verdict})


def verdict_of(sufficient: str, probability: float) -> Verdict:
    return Verdict(sufficient=sufficient, probability=probability, passages=[1], model="m", prompt=1)  # type: ignore[arg-type]


def decided(policy: str, now: EvaluationSignals) -> ExpansionDecision:
    return decide(get_policy(policy, SETTINGS), [now])


@pytest.mark.parametrize("policy", ["calibrated", "seed-matrix"])
def test_evidence_that_suffices_ends_the_run(policy: str) -> None:
    decision = decided(policy, signals(reading=0.05, verdict=verdict_of("full", 0.93)))
    assert (decision.action, decision.rule, decision.probability_complete) == ("stop", COMPLETE, 0.93)
    assert decision.pages is None
    assert "m finds the answer" in decision.reason


def test_a_denied_claim_looks_on_while_a_round_is_left() -> None:
    assert decided("calibrated", signals()).action == "stop"
    decision = decided("calibrated", signals(verdict=verdict_of("none", 0.05)))
    assert (decision.action, decision.rule, decision.pages) == ("expand_breadth", INCOMPLETE, 1)
    last = decided("calibrated", signals(verdict=verdict_of("none", 0.05), left=0))
    assert last.action == "stop"
    assert last.probability_complete == 0.05


@given(
    st.sampled_from(["full", "partial", "none"]),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(0, 3),
    st.sampled_from(["calibrated", "seed-matrix"]),
)
def test_only_evidence_that_suffices_is_complete(
    sufficient: str, probability: float, reading: float, left: int, policy: str
) -> None:
    decision = decided(policy, signals(reading=reading, left=left, verdict=verdict_of(sufficient, probability)))
    claims = decision.probability_complete >= COMPLETE_AT
    assert claims == (sufficient == "full" and probability >= COMPLETE_AT)
    assert not claims or decision.action == "stop"
    assert (decision.action == "stop") == (decision.pages is None)


@pytest.mark.parametrize("policy", ["fixed-k:2", "stop-at-once"])
def test_a_baseline_is_no_verdicts_business(policy: str) -> None:
    for verdict in (verdict_of("none", 0.0), verdict_of("full", 1.0)):
        assert decided(policy, signals(verdict=verdict)) == decided(policy, signals())


@pytest.mark.parametrize("policy", POLICIES)
def test_without_a_verdict_the_policy_decides(policy: str) -> None:
    now = signals()
    assert decided(policy, now) == get_policy(policy, SETTINGS).decide([now])


def test_the_model_is_asked_in_doubt_and_before_an_end() -> None:
    def asks(action: str, probability: float, now: EvaluationSignals) -> bool:
        decision = decided("calibrated", now).model_copy(update={"action": action, "probability_complete": probability})
        return wants_verdict(decision, now, SETTINGS)

    assert asks("stop", 0.7, signals())
    assert asks("stop", 0.05, signals())  # a refusal with passages in hand
    assert asks("expand_breadth", 0.5, signals())
    assert not asks("expand_breadth", 0.1, signals())
    assert not asks("stop", 0.99, signals())
    assert not asks("stop", 0.05, signals(chunks=0))
