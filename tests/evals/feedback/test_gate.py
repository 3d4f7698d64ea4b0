"""The gate of releases, the judges, and the proof by replay on a small world of its own."""

from __future__ import annotations

import numpy as np
import pytest

from evals.feedback.features import Candidates, mrr, score
from evals.feedback.gate import judge
from evals.feedback.judges import Crowd, adversary, agreements, collect, honest, shuffled
from evals.feedback.simulate import release_all
from webrag_core.feedback.estimate import Rating, best_step, half_of, weigh
from webrag_core.retrieval.weights import SHIPPED, ScoreWeights

pytestmark = pytest.mark.slow

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


def judged(ratings: list[Rating], current: ScoreWeights, proposed: ScoreWeights, goldens: list[Candidates]):  # type: ignore[no-untyped-def]
    return judge(current, proposed, goldens={"golden": goldens}, held=ratings, agreements={})


QUESTIONS = world(120, 1)


def given(*crowds: Crowd, seed: int = 3) -> list[Rating]:
    return [one.rating for one in collect(crowds, QUESTIONS, MEANING, np.random.default_rng(seed))]


def test_metrics_are_those_of_the_retrieval_evaluation() -> None:
    tokens = np.array([900, 900, 3_000, 200])
    signals = np.zeros((4, 6))
    signals[:, 0] = (0.1, 0.9, 0.5, 0.3)
    covered = np.array([[True, False], [False, False], [False, True], [True, True]])
    one = Candidates("q", ("a", "b", "c", "d"), signals, covered, tokens)
    assert one.metrics(SHIPPED) == {"hits@4": 1.0, "hits@10": 1.0, "mrr@10": 0.5, "evrec@4k": 0.5}
    assert one.cluster == "a"


def test_what_honest_people_say_passes() -> None:
    ratings = given(Crowd("honest", honest, 30, 10))
    step = best_step(weigh([one for one in ratings if half_of(one.answer) == 1], {}), MEANING)
    verdict = judged([one for one in ratings if half_of(one.answer) == 2], MEANING, step, QUESTIONS)
    assert verdict.passes, verdict.why
    assert verdict.feedback is not None
    assert verdict.feedback.low > 0


def test_what_makes_goldens_fall_does_not_pass_whatever_is_said() -> None:
    crowd = Crowd("liar", lambda gold: (next(p for p, holds in enumerate(gold) if not holds), 1.0), 30, 10)
    verdict = judged(given(crowd), WORDS, MEANING, QUESTIONS)
    assert not verdict.passes
    assert any("mrr@10 of golden falls" in reason for reason in verdict.why)


@pytest.mark.parametrize("actors", [1, 2, 4])
def test_a_handful_of_people_is_not_enough(actors: int) -> None:
    verdict = judged(given(Crowd("honest", honest, actors, 20)), MEANING, WORDS, QUESTIONS)
    assert not verdict.passes


def test_no_rating_no_release() -> None:
    verdict = judged([], MEANING, WORDS, QUESTIONS)
    assert verdict.feedback is None
    assert "no rating that nothing was fitted on counts" in verdict.why


def test_one_actor_must_not_decide() -> None:
    """Just enough people pass; one fewer do not, so every one of them is needed, and named."""
    verdicts = [judged(given(Crowd("honest", honest, count, 20)), MEANING, WORDS, QUESTIONS) for count in range(4, 12)]
    needed = next(one for one in verdicts if one.turned_by)
    assert not needed.passes
    assert any("would not pass without honest" in reason for reason in needed.why)
    assert verdicts[-1].passes, verdicts[-1].why


def test_praise_of_whatever_stands_first_is_no_evidence() -> None:
    """Everybody praises the first passage: every step that holds on to it gains, and so it would on other answers."""
    ratings = given(Crowd("flatterer", lambda gold: (0, 1.0), 30, 10))
    fitting = weigh([one for one in ratings if half_of(one.answer) == 1], {})
    step = best_step(fitting, MEANING)
    assert step != MEANING
    verdict = judged([one for one in ratings if half_of(one.answer) == 2], MEANING, step, QUESTIONS)
    assert not verdict.passes
    assert any("other answers would rise as much" in reason for reason in verdict.why)


def test_shuffled_ratings_are_refused() -> None:
    released = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        crowd = collect([Crowd("honest", honest, 30, 10)], QUESTIONS, MEANING, rng)
        released += release_all(shuffled(crowd, QUESTIONS, MEANING, rng), {}, QUESTIONS, MEANING)[1] > 0
    assert released <= 1


def test_honest_ratings_win_back_what_was_lost_on_questions_that_nobody_rated() -> None:
    others = world(200, 2)
    crowd = collect([Crowd("honest", honest, 30, 10)], QUESTIONS, MEANING, np.random.default_rng(5))
    weights, releases, _ = release_all(crowd, {}, QUESTIONS, MEANING)
    assert releases > 2
    lost = mrr(others, WORDS) - mrr(others, MEANING)
    assert lost > 0.1
    assert mrr(others, weights) - mrr(others, MEANING) > 0.5 * lost


def test_goldens_tell_adversaries_from_honest_judges() -> None:
    crowds = [Crowd("honest", honest, 5, 20), Crowd("adversary", adversary, 5, 20)]
    found = agreements(collect(crowds, QUESTIONS, MEANING, np.random.default_rng(1)), set(range(len(QUESTIONS))))
    assert all((one.weight > 0.5) == actor.startswith("honest") for actor, one in found.items())
    assert len(found) == 10


def test_scores_are_by_question() -> None:
    assert list(score(QUESTIONS[:2], SHIPPED)) == ["q0", "q1"]
