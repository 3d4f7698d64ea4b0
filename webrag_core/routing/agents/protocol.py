"""What every agent promises, and what it is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import OrchestratorEngine, Progress
from webrag_core.routing.plan import Task
from webrag_core.routing.results import Output


@dataclass(frozen=True, slots=True)
class Context:
    """The open corpus, the engine of the loop, and what the tasks that this one waited for brought, by id. `seconds`
    is what the task may take."""

    corpus: Corpus
    engine: OrchestratorEngine
    seconds: float
    earlier: Mapping[str, Output] = field(default_factory=dict)
    progress: Progress | None = None


class Agent(Protocol):
    """Answers tasks of its kinds. It need not catch anything: the executor turns what it raises into a status."""

    async def run(self, task: Task, context: Context) -> Output:
        """What it found; an empty output where there is nothing. Raises WebragError."""
        ...
