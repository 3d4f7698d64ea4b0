"""What evidence is worth in the end. The layer that answers in prose judges it for both (`answering.evidence`); a run
of the loop alone has its own numbers (`verdict.status_of`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from webrag_core.orchestration.models import OrchestrationResult, Status


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The status of evidence. `confidence`, in [0, 1], is that its best sentences answer the question, else that the
    passage does which is shown first; `passage` is that one's chunk id, None where no passage holds anything."""

    status: Status
    confidence: float
    passage: int | None = None


Conclude = Callable[[OrchestrationResult], Awaitable[Conclusion]]
"""Judges the evidence of a finished run, which has no status yet."""
