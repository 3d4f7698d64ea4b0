"""States of asset checks as an operator follows them: what is told when one fails, gets worse or recovers. Pure.

A check has a state for each partition. Told is what gets worse, once; that it passes again is told once where it was
told that it fails.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

PASSED, WARNING, ERROR = 0, 1, 2
LEVELS = {"warn": WARNING, "error": ERROR}
"""Least level that is told, by setting ALERT_CHECKS."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Of one check of one partition (`partition` may be empty). `run_failed`: it made its run fail, which is told."""

    asset: str
    check: str
    partition: str
    level: int
    run_failed: bool = False

    @property
    def key(self) -> str:
        """Names the check and the partition."""
        return json.dumps([self.asset, self.check, self.partition], ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class CheckState:
    """The level of the last evaluation, and whether the operator knows that it fails."""

    level: int
    told: bool


@dataclass(frozen=True, slots=True)
class News:
    """What to tell of a run, and the states afterwards. A check that passes and was never told of has no state."""

    worse: tuple[Evaluation, ...]
    recovered: tuple[Evaluation, ...]
    states: dict[str, CheckState]


def follow(states: Mapping[str, CheckState], evaluations: Iterable[Evaluation], least: int) -> News:
    """Apply the evaluations of a run, in order; levels below `least` are not told."""
    after = dict(states)
    worse: dict[str, Evaluation] = {}
    recovered: dict[str, Evaluation] = {}
    for evaluation in evaluations:
        key = evaluation.key
        before = after.get(key, CheckState(PASSED, told=False))
        if evaluation.level == PASSED:
            after.pop(key, None)
            if before.told and worse.pop(key, None) is None:
                recovered[key] = evaluation
            continue
        recovered.pop(key, None)
        news = evaluation.level >= least and (evaluation.level > before.level or not before.told)
        if news and not evaluation.run_failed:
            worse[key] = evaluation
        after[key] = CheckState(evaluation.level, before.told or news or evaluation.run_failed)
    return News(tuple(worse.values()), tuple(recovered.values()), after)
