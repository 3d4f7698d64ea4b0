"""Decision goldens: signal histories that must and must not fire a rule of a stop policy, decided exactly.

A line: `{"id", "policy", "rule", "fires", "history": [{signal: value}, …], "settings": {…}?, "expect": {"rule",
"action"}, "why"}`. A round of the history names only the signals that matter; the others are those of an ordinary
round (`ORDINARY`). Thresholds are the program's defaults, whatever the environment says, then the line's `settings`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticUndefined

from evals.jsonl import load_jsonl
from evals.walks.goldens import EVALS
from webrag_core.config import Settings
from webrag_core.orchestration import signals as predicates
from webrag_core.orchestration.judged import decide
from webrag_core.orchestration.models import Action, EvaluationSignals, ExpansionDecision
from webrag_core.orchestration.policies import POLICIES, StopPolicy, get_policy

DEFAULT_DECISIONS = EVALS / "golden" / "decisions.jsonl"

ORDINARY: dict[str, Any] = {
    "n_chunks": 12,
    "top_score": 0.7,
    "score_at_k": 0.6,
    "score_cliff": 0.1,
    "score_variance": 0.03,
    "score_mean": 0.4,
    "chunks_above_threshold": 2,
    "token_fill_ratio": 0.3,
    "redundancy_ratio": 0.1,
    "source_document_count": 3,
    "avg_confidence": None,
    "expansion_rounds_left": 5,
    "can_rewrite": True,
    "candidates_left": 40,
    "best_candidate_score": 0.4,
}
"""A round in which nothing stands out: no plateau, no cliff, half empty, mean below the floor."""


class Expected(BaseModel):
    """The decision that must come out."""

    model_config = ConfigDict(extra="forbid")

    rule: str
    action: Action


class DecisionGolden(BaseModel):
    """One history. `fires`: whether `rule` is the one that must decide, or one that must not."""

    model_config = ConfigDict(extra="forbid")

    id: str
    policy: str
    rule: str
    fires: bool
    history: list[dict[str, Any]] = Field(min_length=1)
    settings: dict[str, Any] = {}
    expect: Expected
    why: str

    @model_validator(mode="after")
    def _rule_fits(self) -> Self:
        if self.fires != (self.expect.rule == self.rule):
            raise ValueError("`fires` and the expected rule contradict each other")
        strays = {name for step in self.history for name in step} - EvaluationSignals.model_fields.keys()
        strays |= self.settings.keys() - Settings.model_fields.keys()
        if strays:
            raise ValueError(f"no such signal or setting: {', '.join(sorted(strays))}")
        return self


@dataclass(frozen=True, slots=True)
class Decided:
    """A golden and what the policy said."""

    golden: DecisionGolden
    decision: ExpansionDecision

    @property
    def right(self) -> bool:
        """Rule and action are those expected."""
        return (self.decision.rule, self.decision.action) == (self.golden.expect.rule, self.golden.expect.action)


def load_decision_goldens(path: Path) -> list[DecisionGolden]:
    """Read the file. Raises InvalidInputError naming the first line that is none or repeats an id."""
    return load_jsonl(path, DecisionGolden.model_validate, "a decision golden", lambda golden: golden.id)


def decide_goldens(goldens: Sequence[DecisionGolden], policy: StopPolicy | None = None) -> list[Decided]:
    """Every golden decided: by its own policy, or by `policy` whatever it says."""
    decided = []
    for golden in goldens:
        settings = default_settings(golden.settings)
        chosen = policy or get_policy(golden.policy, settings)
        decided.append(Decided(golden, decide(chosen, history_of(golden))))
    return decided


def uncovered(goldens: Sequence[DecisionGolden]) -> list[tuple[str, str, str]]:
    """Policy, rule and what is missing, for each rule of each policy that can be chosen.

    A rule needs a history that must fire it, and another that must not. A policy with one rule always decides by it.
    """
    results = {(golden.policy, golden.rule, golden.fires) for golden in goldens}
    needed = [
        (name, rule, fires)
        for name, make in POLICIES.items()
        for rules in [make(default_settings({})).rules]
        for rule in rules
        for fires in ((True, False) if len(rules) > 1 else (True,))
    ]
    return [
        (policy, rule, f"none that must {'' if fires else 'not '}fire it")
        for policy, rule, fires in needed
        if (policy, rule, fires) not in results
    ]


def default_settings(changes: Mapping[str, Any]) -> Settings:
    """The program's defaults with `changes`; the environment is not read."""
    return Settings.model_construct(**changes)


def history_of(golden: DecisionGolden) -> list[EvaluationSignals]:
    """The golden's rounds with all signals: named, else ordinary, else the model's default, else nothing (0, False).
    The flags are what the numbers give, unless they are named."""
    rounds = []
    for number, named in enumerate(golden.history):
        values = {"round": number, **ORDINARY, **named}
        values = {**values, **_shape(values, default_settings(golden.settings)), **named}
        for name, field in EvaluationSignals.model_fields.items():
            if name not in values and field.default is PydanticUndefined and field.default_factory is None:
                values[name] = _nothing(field.annotation)
        rounds.append(EvaluationSignals.model_validate(values))
    return rounds


def _shape(values: Mapping[str, Any], settings: Settings) -> dict[str, bool]:
    plateau = predicates.is_plateau(values["n_chunks"], values["score_variance"], settings)
    return {
        "is_plateau": plateau,
        "is_cliff": predicates.is_cliff(values["n_chunks"], values["score_cliff"], settings),
        "is_saturated": predicates.is_saturated(values["token_fill_ratio"], settings),
        "is_mediocre_plateau": plateau and predicates.is_mediocre(values["score_mean"], settings),
        "has_high_redundancy": predicates.has_high_redundancy(values["redundancy_ratio"], settings),
    }


def _nothing(annotation: object) -> object:
    """The value of a signal that a golden written before it cannot name."""
    plain = {int: 0, float: 0.0, bool: False, str: ""}
    return plain.get(annotation) if isinstance(annotation, type) else None
