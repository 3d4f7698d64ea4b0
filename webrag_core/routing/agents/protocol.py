"""What every agent promises, and what it is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from webrag_core.indexing.pipeline import Corpus
from webrag_core.routing.plan import Task
from webrag_core.routing.results import Output

if TYPE_CHECKING:
    from webrag_core.orchestration.engine import OrchestratorEngine
    from webrag_core.orchestration.events import Progress, Tell


@dataclass(frozen=True, slots=True)
class Context:
    """The open corpus and the engine of the loop. `seconds` is what the task may take; `progress` and `tell` hear of
    what the loop does."""

    corpus: Corpus
    engine: OrchestratorEngine
    seconds: float
    progress: Progress | None = None
    tell: Tell | None = None


class Agent(Protocol):
    """Answers tasks of its kinds. It need not catch anything: the executor turns what it raises into a status."""

    async def run(self, task: Task, context: Context) -> Output:
        """What it found; an empty output where there is nothing. Raises WebragError."""
        ...
