"""The gate of releases, on a small world of its own."""

from __future__ import annotations

import numpy as np

from evals.feedback.features import Candidates, score
from evals.feedback.gate import judge
from webrag_core.retrieval.weights import SHIPPED, ScoreWeights

MEANING = ScoreWeights(lexical=0.06, coverage=0.04, proximity=0.02, token_match=0.14, sibling=0.14, cosine=0.60)
WORDS = ScoreWeights(lexical=0.36, coverage=0.24, proximity=0.10, token_match=0.10, sibling=0.10, cosine=0.10)


def world(questions: int, seed: int) -> list[Candidates]:
    """Questions whose answers words find, among passages that meaning finds as often as not."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(questions):
        signals = rng.uniform(0, 0.5, (12, 6))
        signals[4, :3] += 0.3
        covered = np.zeros((12, 1), dtype=bool)
        covered[4] = True
        tokens = np.full(12, 900)
        found.append(Candidates(f"q{number}", tuple(f"d{number}" for _ in range(12)), signals, covered, tokens))
    return found


QUESTIONS = world(120, 1)


def test_metrics_are_those_of_the_retrieval_evaluation() -> None:
    tokens = np.array([900, 900, 3_000, 200])
    signals = np.zeros((4, 6))
    signals[:, 0] = (0.1, 0.9, 0.5, 0.3)
    covered = np.array([[True, False], [False, False], [False, True], [True, True]])
    one = Candidates("q", ("a", "b", "c", "d"), signals, covered, tokens)
    assert one.metrics(SHIPPED) == {"hits@4": 1.0, "hits@10": 1.0, "mrr@10": 0.5, "evrec@4k": 0.5}
    assert one.cluster == "a"


def test_weights_that_find_more_pass() -> None:
    verdict = judge(MEANING, WORDS, {"golden": QUESTIONS, "none": []})
    assert verdict.passes, verdict.why
    assert list(verdict.goldens) == ["golden"]


def test_weights_that_find_less_are_refused_with_the_metric_that_falls() -> None:
    verdict = judge(WORDS, MEANING, {"golden": QUESTIONS})
    assert not verdict.passes
    assert any("mrr@10 of golden falls" in reason for reason in verdict.why)


def test_scores_are_by_question() -> None:
    assert list(score(QUESTIONS[:2], SHIPPED)) == ["q0", "q1"]
