"""What a run of the loop tells while it goes on. `type` is stable; the JSON form is `model_dump(mode="json")`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from webrag_core.orchestration.models import OrchestrationResult, Round, RunDocument, progress_line
from webrag_core.retrieval.models import Contract


class PhaseBegun(Contract):
    """A phase begins; `text` says it in words. `task` is the id of the plan's task that walks; None without a plan."""

    type: Literal["phase"] = "phase"
    task: str | None = None
    phase: str
    text: str

    @classmethod
    def of(cls, phase: str) -> PhaseBegun:
        """The event of a phase."""
        return cls(phase=phase, text=progress_line(phase, None))


class PageSeen(Contract):
    """A page arrived, failed, or became part of the evidence. Told as it happens: pages of one round come in any order,
    and a previewed page comes again, with `preview` false, when it is read."""

    type: Literal["page"] = "page"
    task: str | None = None
    page: RunDocument


class RoundDone(Contract):
    """A round ended with a decision; `text` says both in words. `round.top_chunks` are its passages, best first."""

    type: Literal["round"] = "round"
    task: str | None = None
    round: Round
    text: str

    @classmethod
    def of(cls, completed: Round) -> RoundDone:
        """The event of a round."""
        return cls(round=completed, text=progress_line("round", completed))


class Finished(Contract):
    """The evidence, stored. The last event of `OrchestratorEngine.stream`."""

    type: Literal["result"] = "result"
    result: OrchestrationResult


WalkEvent = PhaseBegun | PageSeen | RoundDone
RunEvent = WalkEvent | Finished
Tell = Callable[[WalkEvent], None]
Progress = Callable[[str, Round | None], None]


def telling(progress: Progress | None, tell: Tell | None) -> Tell:
    """Both readers as one; either may be missing. `progress` hears of phases and rounds."""

    def tell_both(event: WalkEvent) -> None:
        if tell is not None:
            tell(event)
        if progress is not None and isinstance(event, PhaseBegun):
            progress(event.phase, None)
        elif progress is not None and isinstance(event, RoundDone):
            progress("round", event.round)

    return tell_both
