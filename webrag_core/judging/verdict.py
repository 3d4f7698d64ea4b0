"""What a judge says of evidence: whether it answers a question, and what is missing."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from webrag_core.retrieval.models import Contract

Sufficient = Literal["full", "partial", "none"]


class Verdict(Contract):
    """The verdict of `model` on passages, asked by version `prompt` of the instructions.

    `probability`, in [0, 1], is that the passages state the whole answer. `passages` are the chunks that hold it, and
    `contradicts` those that say otherwise, by chunk id, best first. `open_parts` are the parts of the question (index)
    that nothing answers, `missing` what is to be looked for, in words that can be searched, and `follow` the links that
    were shown which probably lead there, by their place, best first.
    """

    sufficient: Sufficient
    probability: float = Field(ge=0, le=1)
    passages: list[int] = Field(default_factory=list)
    contradicts: list[int] = Field(default_factory=list)
    open_parts: list[int] = Field(default_factory=list)
    missing: list[str] = Field(default_factory=list)
    follow: list[int] = Field(default_factory=list)
    model: str
    prompt: int
