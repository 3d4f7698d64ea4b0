"""Follow-ups with their full questions, about frozen sites. `golden/follow-ups.jsonl` holds them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from evals.jsonl import load_jsonl
from evals.walks.goldens import EVALS

Split = Literal["development", "held-out"]


class FollowUp(BaseModel):
    """A question, a question that follows it, and what that means in full. The rules were written with the pairs of
    `development` in view, and without those that are `held-out`. `key` is an answer key of the full question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    site: str = Field(min_length=1)
    split: Split
    first: str = Field(min_length=1)
    follow_up: str = Field(min_length=1)
    full: str = Field(min_length=1)
    key: str | None = None


def load_follow_ups() -> list[FollowUp]:
    """All pairs of this package. Raises InvalidInputError naming the first line that is none."""
    path = EVALS / "golden" / "follow-ups.jsonl"
    return load_jsonl(path, FollowUp.model_validate, "a follow-up", lambda pair: pair.id)
