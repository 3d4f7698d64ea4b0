"""Proposals of scorer weights: a file with a digest, made from ratings. Making one changes nothing."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import ValidationError

from webrag_core.errors import InvalidInputError
from webrag_core.feedback.estimate import STEP, best_step, effective_size, half_of, utility, weigh
from webrag_core.feedback.ratings import Evidence
from webrag_core.retrieval.models import Contract
from webrag_core.retrieval.weights import NAMES, ScoreWeights

_ROUNDING = 1e-4


class Proposal(Contract):
    """Weights of the scorer that ratings speak for.

    `base` are the weights that they change. `fitted` names the ratings of one `half` of the answers that were fitted
    (ids of feedback); `ratings` and `actors` count those of them that count. `effective_ratings` is the effective
    sample size; `weight_lost` the share of the weight that nobody has (`safeguards.shares`). `utility_before` and
    `utility_after` are of the fitted ratings, so they flatter: what counts is what the gate says of others. `digest` is
    the sha256 of all the rest.
    """

    version: Literal[1] = 1
    made_at: datetime
    base: dict[str, float]
    weights: dict[str, float]
    half: Literal[1, 2]
    ratings: int
    actors: int
    effective_ratings: float
    weight_lost: float
    utility_before: float
    utility_after: float
    fitted: list[int]
    digest: str = ""

    @property
    def changes(self) -> bool:
        """Whether it proposes anything."""
        return self.weights != self.base

    def sealed(self) -> Proposal:
        """The same with its digest."""
        return self.model_copy(update={"digest": self.right_digest()})

    def right_digest(self) -> str:
        """The digest that belongs to the content."""
        content = json.dumps(self.model_dump(mode="json", exclude={"digest"}), sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()


def propose(evidence: Evidence, current: ScoreWeights, half: Literal[1, 2] = 1) -> Proposal:
    """One step of at most `estimate.STEP` of each weight, fitted on one half of the rated answers; no change where no
    step is better."""
    ratings = [one for one in evidence.ratings if half_of(one.answer) == half]
    weighed = weigh(ratings, evidence.agreements)
    step = best_step(weighed, current)
    return Proposal(
        made_at=datetime.now(UTC),
        base=current.by_name(),
        weights=step.by_name(),
        half=half,
        ratings=len(weighed.valued),
        actors=len(set(weighed.actors)),
        effective_ratings=round(effective_size(weighed), 2),
        weight_lost=round(1 - float(weighed.shares.sum()), 4),
        utility_before=round(utility(weighed, current), 6),
        utility_after=round(utility(weighed, step), 6),
        fitted=[one.id for one in ratings],
    ).sealed()


def read_proposal(path: Path) -> Proposal:
    """A proposal from a file. Raises InvalidInputError when it is none, was changed since, or moves a weight by more
    than it may."""
    try:
        proposal = Proposal.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{path} cannot be read: {error}") from None
    except ValidationError as error:
        raise InvalidInputError(f"{path} is no proposal: {error.errors()[0]['msg']}") from None
    if proposal.digest != proposal.right_digest():
        raise InvalidInputError(f"{path} was changed since it was made: its digest does not fit")
    base, weights = ScoreWeights.of(proposal.base).vector(), ScoreWeights.of(proposal.weights).vector()
    moved = np.abs(weights - base) / base
    if moved.max() > STEP + _ROUNDING:
        name = NAMES[int(moved.argmax())]
        raise InvalidInputError(f"{path} moves {name} by {moved.max():.1%}; a proposal moves a weight by {STEP:.0%}")
    return proposal
