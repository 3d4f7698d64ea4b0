"""The decision matrix as a table: for each of the eleven rules, evidence that must and must not fire it.

Read a row as "scores, best first, and what else differs from the ordinary case -> rule that fires, action".
The ordinary case: 20 % of the context filled, nothing repeated, three documents, no confidences, round 0 of
5, a rewrite available.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.orchestration.models import EvaluationSignals
from webrag_core.orchestration.policies import get_policy
from webrag_core.orchestration.policies.seed_matrix import PROBABILITY, RULES, SeedMatrix
from webrag_core.orchestration.signals import compute_signals
from webrag_core.retrieval.models import RankedChunk, RetrievedChunk

SETTINGS = Settings()
BUDGET = 10_000


@dataclass(frozen=True)
class Evidence:
    """One round's evidence, from which the signals are computed as in a real run."""

    scores: tuple[float, ...]
    fill: float = 0.2
    repeated: int = 0  # how many of the worst chunks repeat the best one word for word
    sources: int = 3
    confidence: float | None = None
    round: int = 0
    rounds_left: int = 5
    can_rewrite: bool = True

    def signals(self, settings: Settings = SETTINGS) -> EvaluationSignals:
        different = len(self.scores) - self.repeated
        chunks = []
        for i, score in enumerate(self.scores):
            topic = i if i < different else 0
            text = " ".join(f"w{topic}x{n}" for n in range(30))
            chunk = RetrievedChunk(
                chunk_id=i,
                document_id=i % self.sources,
                version_id=1,
                version_sha256="0" * 64,
                source_url=f"https://example.test/{i % self.sources}",
                title=None,
                text=text,
                heading_path=[],
                chunk_index=i,
                char_start=0,
                char_end=len(text),
                match_start=0,
                match_end=len(text),
                match_heading_path=[],
                token_count=round(self.fill * BUDGET / max(different, 1)),
                score=score,
                raw_similarity=score,
                lexical_score=0.0,
                depth=0,
                flags=[],
                fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
            )
            chunks.append(RankedChunk(chunk=chunk, reranked_score=score, confidence=self.confidence))
        return compute_signals(
            chunks,
            settings=settings,
            context_budget=BUDGET,
            round=self.round,
            expansion_rounds_left=self.rounds_left,
            can_rewrite=self.can_rewrite,
            candidates_left=7,
            best_candidate_score=0.5,
        )


# Score lists, by shape. "even" = variance below .02, "spread" = above; "step" = a drop over .15 within five
# ranks.
EVEN_GOOD = (0.82, 0.80, 0.79, 0.78, 0.78, 0.75, 0.74, 0.74, 0.72, 0.70)
EVEN_POOR = (0.42, 0.41, 0.40, 0.40, 0.39, 0.38, 0.38, 0.37, 0.36, 0.35)
SPREAD_GOOD = (0.95, 0.94, 0.93, 0.92, 0.90, 0.50, 0.40, 0.30, 0.20, 0.20)
SPREAD_HALF = (0.60, 0.58, 0.56, 0.54, 0.50, 0.10, 0.10, 0.05, 0.05, 0.05)
SPREAD_POOR = (0.45, 0.44, 0.43, 0.42, 0.40, 0.05, 0.04, 0.03, 0.02, 0.01)
STEP = (0.90, 0.30, 0.30, 0.30, 0.30, 0.25, 0.25, 0.25, 0.25, 0.25)
STEP_LONG = STEP + (0.2,) * 10
SMALL_STEP = (0.70, 0.52, 0.52, 0.51, 0.51, 0.50, 0.50, 0.50, 0.50, 0.50)

BREADTH, INTENT, STOP = "expand_breadth", "expand_intent", "stop"

# rule under test | must it fire? | evidence of the rounds so far | rule that fires | action
TABLE = [
    # 1: the context is full of different text, and it is not all mediocre
    ("1-saturated", True, [Evidence(SPREAD_GOOD, fill=0.85)], "1-saturated", STOP),
    ("1-saturated", True, [Evidence(STEP, fill=0.85)], "1-saturated", STOP),
    ("1-saturated", True, [Evidence(SPREAD_POOR, fill=1.4)], "1-saturated", STOP),
    ("1-saturated", False, [Evidence(SPREAD_GOOD, fill=0.80)], "9-low-fill", BREADTH),
    ("1-saturated", False, [Evidence(EVEN_POOR, fill=0.85)], "7-mediocre-plateau", INTENT),
    ("1-saturated", False, [Evidence(STEP_LONG, fill=0.85, repeated=18)], "5-cliff-redundant", INTENT),
    # 2: the round before had as many passages near the top
    (
        "2-diminishing-returns",
        True,
        [Evidence(STEP), Evidence(STEP, round=1)],
        "2-diminishing-returns",
        STOP,
    ),
    (
        "2-diminishing-returns",
        True,
        [Evidence(SPREAD_GOOD), Evidence(STEP, round=1)],
        "2-diminishing-returns",
        STOP,
    ),
    ("2-diminishing-returns", False, [Evidence(STEP), Evidence((0.9, *STEP), round=1)], "6-cliff", BREADTH),
    ("2-diminishing-returns", False, [Evidence(STEP)], "6-cliff", BREADTH),
    ("2-diminishing-returns", False, [Evidence(STEP, round=1)], "6-cliff", BREADTH),
    ("2-diminishing-returns", False, [Evidence(()), Evidence((), round=1)], "8-low-scores", BREADTH),
    # 3: alike and good; a small step does not matter to it
    ("3-good-plateau", True, [Evidence(EVEN_GOOD)], "3-good-plateau", STOP),
    ("3-good-plateau", True, [Evidence((0.5, 0.5, 0.5))], "3-good-plateau", STOP),
    ("3-good-plateau", True, [Evidence(SMALL_STEP)], "3-good-plateau", STOP),
    ("3-good-plateau", False, [Evidence((0.8,))], "9-low-fill", BREADTH),
    ("3-good-plateau", False, [Evidence((0.8, 0.8))], "9-low-fill", BREADTH),
    ("3-good-plateau", False, [Evidence(EVEN_POOR)], "7-mediocre-plateau", INTENT),
    ("3-good-plateau", False, [Evidence(SPREAD_GOOD)], "9-low-fill", BREADTH),
    # 4: a hard cap, whatever the evidence
    ("4-max-depth", True, [Evidence(STEP, round=5)], "4-max-depth", STOP),
    ("4-max-depth", True, [Evidence(EVEN_GOOD, round=5)], "4-max-depth", STOP),
    ("4-max-depth", True, [Evidence((), round=6, rounds_left=0)], "4-max-depth", STOP),
    ("4-max-depth", True, [Evidence(STEP, rounds_left=0)], "4-max-depth", STOP),
    ("4-max-depth", False, [Evidence(STEP, round=4, rounds_left=1)], "6-cliff", BREADTH),
    # 5: one pocket, seen again and again
    ("5-cliff-redundant", True, [Evidence(STEP_LONG, repeated=17)], "5-cliff-redundant", INTENT),
    (
        "5-cliff-redundant",
        True,
        [Evidence(STEP_LONG, repeated=17, can_rewrite=False)],
        "5-cliff-redundant",
        BREADTH,
    ),
    ("5-cliff-redundant", True, [Evidence(STEP_LONG, repeated=17, sources=1)], "5-cliff-redundant", BREADTH),
    ("5-cliff-redundant", False, [Evidence(STEP_LONG, repeated=16)], "6-cliff", BREADTH),
    ("5-cliff-redundant", False, [Evidence(EVEN_POOR * 2, repeated=18)], "7-mediocre-plateau", INTENT),
    # 6: one good hit, thin coverage
    ("6-cliff", True, [Evidence(STEP)], "6-cliff", BREADTH),
    ("6-cliff", True, [Evidence((0.7, 0.2, 0.1))], "6-cliff", BREADTH),
    ("6-cliff", True, [Evidence((0.40, 0.30, 0.20, 0.20, 0.20))], "6-cliff", BREADTH),
    ("6-cliff", False, [Evidence((0.9, 0.2))], "9-low-fill", BREADTH),
    ("6-cliff", False, [Evidence(SPREAD_GOOD)], "9-low-fill", BREADTH),
    ("6-cliff", False, [Evidence(SMALL_STEP)], "3-good-plateau", STOP),
    # 7: all vaguely related
    ("7-mediocre-plateau", True, [Evidence(EVEN_POOR)], "7-mediocre-plateau", INTENT),
    ("7-mediocre-plateau", True, [Evidence(EVEN_POOR, can_rewrite=False)], "7-mediocre-plateau", BREADTH),
    ("7-mediocre-plateau", True, [Evidence(EVEN_POOR, sources=1)], "7-mediocre-plateau", BREADTH),
    ("7-mediocre-plateau", False, [Evidence((0.4, 0.4))], "8-low-scores", INTENT),
    ("7-mediocre-plateau", False, [Evidence(EVEN_GOOD)], "3-good-plateau", STOP),
    ("7-mediocre-plateau", False, [Evidence((0.4, 0.4, 0.2))], "6-cliff", BREADTH),
    # 8: even the best is poor, or there is nothing
    ("8-low-scores", True, [Evidence(SPREAD_POOR)], "8-low-scores", INTENT),
    ("8-low-scores", True, [Evidence(SPREAD_POOR, sources=1)], "8-low-scores", BREADTH),
    ("8-low-scores", True, [Evidence((0.49,))], "8-low-scores", BREADTH),
    ("8-low-scores", True, [Evidence(())], "8-low-scores", BREADTH),
    ("8-low-scores", False, [Evidence((0.50,))], "9-low-fill", BREADTH),
    ("8-low-scores", False, [Evidence(SPREAD_HALF)], "11-default", STOP),
    # 9: good, but little of it
    ("9-low-fill", True, [Evidence(SPREAD_GOOD)], "9-low-fill", BREADTH),
    ("9-low-fill", True, [Evidence((0.6,))], "9-low-fill", BREADTH),
    ("9-low-fill", True, [Evidence(SPREAD_GOOD, fill=0.8)], "9-low-fill", BREADTH),
    ("9-low-fill", False, [Evidence(SPREAD_GOOD, fill=0.81)], "1-saturated", STOP),
    ("9-low-fill", False, [Evidence(SPREAD_HALF)], "11-default", STOP),
    # 10: the reranker says it does not know
    ("10-low-confidence", True, [Evidence(SPREAD_HALF, confidence=0.2)], "10-low-confidence", BREADTH),
    ("10-low-confidence", False, [Evidence(SPREAD_HALF, confidence=0.3)], "11-default", STOP),
    ("10-low-confidence", False, [Evidence(SPREAD_HALF, confidence=None)], "11-default", STOP),
    ("10-low-confidence", False, [Evidence(SPREAD_GOOD, confidence=0.2)], "9-low-fill", BREADTH),
    ("10-low-confidence", False, [Evidence(EVEN_GOOD, confidence=0.2)], "3-good-plateau", STOP),
    # 11: nothing speaks for going on
    ("11-default", True, [Evidence(SPREAD_HALF)], "11-default", STOP),
    ("11-default", True, [Evidence(SPREAD_HALF, confidence=0.9)], "11-default", STOP),
    ("11-default", False, [Evidence(SPREAD_POOR)], "8-low-scores", INTENT),
    ("11-default", False, [Evidence(SPREAD_GOOD)], "9-low-fill", BREADTH),
]


@pytest.mark.parametrize(("rule", "must_fire", "rounds", "fires", "action"), TABLE)
def test_matrix(rule: str, must_fire: bool, rounds: list[Evidence], fires: str, action: str) -> None:
    assert must_fire == (rule == fires), "the row contradicts itself"
    decision = SeedMatrix(SETTINGS).decide([evidence.signals() for evidence in rounds])
    assert (decision.rule, decision.action) == (fires, action), decision.reason


def test_table_has_both_kinds_for_every_rule() -> None:
    assert {(rule, fires) for rule, fires, *_ in TABLE} == {(rule, f) for rule in RULES for f in (True, False)}


def test_reasons_carry_their_numbers() -> None:
    decide = SeedMatrix(SETTINGS).decide
    assert "0.90 to 0.30" in decide([Evidence(STEP).signals()]).reason
    assert "no second page" in decide([Evidence(EVEN_POOR, sources=1).signals()]).reason
    assert "no other wording" in decide([Evidence(EVEN_POOR, can_rewrite=False).signals()]).reason
    assert "from 1 to 1" in decide([Evidence(STEP).signals(), Evidence(STEP, round=1).signals()]).reason


def test_cap_says_what_it_cut_off() -> None:
    decide = SeedMatrix(SETTINGS).decide
    unfinished = decide([Evidence(STEP, round=5).signals()])
    finished = decide([Evidence(EVEN_GOOD, round=5).signals()])
    assert "round 5 of at most 5" in unfinished.reason
    assert "6-cliff" in unfinished.reason
    assert "3-good-plateau would stop as well" in finished.reason
    assert unfinished.probability_complete < finished.probability_complete
    assert "budget" in decide([Evidence(STEP, rounds_left=0).signals()]).reason


def test_thresholds_are_those_of_the_policy() -> None:
    recorded = [Evidence(EVEN_GOOD).signals()]
    strict = Settings(mediocre_score_floor=0.9)
    assert SeedMatrix(strict).decide(recorded).rule == "7-mediocre-plateau"
    assert SeedMatrix(SETTINGS).decide(recorded).rule == "3-good-plateau"


def test_without_a_reranker_the_floor_is_lower_unless_set() -> None:
    evidence = [Evidence(EVEN_POOR).signals()]
    raw = Settings(reranker_provider="none")
    explicit = Settings(reranker_provider="none", mediocre_score_floor=0.5)
    assert SeedMatrix(raw).decide(evidence).rule == "3-good-plateau"
    assert SeedMatrix(explicit).decide(evidence).rule == "7-mediocre-plateau"


number = st.floats(allow_nan=False, allow_infinity=False, width=32)
share = st.floats(0, 1)
any_signals = st.builds(
    EvaluationSignals,
    n_chunks=st.integers(0, 60),
    top_score=share,
    score_at_k=share,
    score_cliff=share,
    score_variance=share,
    score_mean=share,
    chunks_above_threshold=st.integers(0, 60),
    token_fill_ratio=st.floats(0, 5),
    redundancy_ratio=share,
    source_document_count=st.integers(0, 60),
    avg_confidence=st.none() | share,
    round=st.integers(0, 8),
    expansion_rounds_left=st.integers(-1, 8),
    candidates_left=st.integers(0, 100),
    best_candidate_score=st.none() | number,
)


@given(st.lists(any_signals, min_size=1, max_size=6))
def test_always_one_of_the_eleven_rules(history: list[EvaluationSignals]) -> None:
    policy = SeedMatrix(SETTINGS)
    decision = policy.decide(history)
    now = history[-1]
    assert decision.rule in RULES
    assert decision.reason
    assert decision.probability_complete == PROBABILITY[decision.rule, decision.confidence]
    assert decision == policy.decide(list(history)), "same history, same decision"
    if now.round >= SETTINGS.max_expansion_depth or now.expansion_rounds_left <= 0:
        assert decision.rule == "4-max-depth"
        assert decision.action == "stop"
    if decision.action == "expand_intent":
        assert now.can_rewrite
        assert now.source_document_count > 1


def test_empty_history_is_refused() -> None:
    for name in ("calibrated", "seed-matrix", "stop-at-once", "fixed-k"):
        with pytest.raises(InvalidInputError):
            get_policy(name, SETTINGS).decide([])


@pytest.mark.parametrize(
    ("name", "last_round"), [("stop-at-once", 0), ("fixed-k", 3), ("fixed-k:0", 0), ("fixed-k:5", 5)]
)
def test_baselines_stop_after_their_rounds(name: str, last_round: int) -> None:
    policy = get_policy(name, SETTINGS)
    assert policy.name == name
    actions = [policy.decide([Evidence(EVEN_GOOD, round=n).signals()]).action for n in range(7)]
    assert actions == ["expand_breadth"] * last_round + ["stop"] * (7 - last_round)
    assert policy.decide([Evidence(STEP, rounds_left=0).signals()]).action == "stop"


@pytest.mark.parametrize("name", ["", "seed_matrix", "fixed-k:", "fixed-k:-1", "fixed-k:x", "oracle"])
def test_unknown_policy_names_the_known_ones(name: str) -> None:
    with pytest.raises(InvalidInputError, match="calibrated, fixed-k, seed-matrix, stop-at-once"):
        get_policy(name, SETTINGS)
