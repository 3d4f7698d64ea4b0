"""What a person does about a gap: its questions become golden questions. `attaching` reads the pages that it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from webrag_core.application.inputs import Number, Operation
from webrag_core.application.operations import MODELS
from webrag_core.config.home import HomeSettings
from webrag_core.feedback.gap_goldens import suggest_for_all
from webrag_core.feedback.goldens import write_goldens
from webrag_core.feedback.models import ActorKind, Feedback
from webrag_core.retrieval.models import Contract
from webrag_core.store.database import Database

if TYPE_CHECKING:
    from webrag_core.application.services import Services

_MOST_ANSWERS = 200


class Suggestions(Contract):
    """Feedback that names a passage for each question of a gap. Those that are accepted are golden questions; how many
    of these there are now, None where nothing was accepted."""

    feedback: list[Feedback]
    golden_questions: int | None


class GoldenGap(Operation):
    """The questions of a gap, by the numbers of their answers, and a passage that answers all of them."""

    answers: Annotated[
        tuple[Number, ...], Field(min_length=1, max_length=_MOST_ANSWERS, description="As the list of gaps shows them")
    ]
    citation: Annotated[Number | None, Field(description="Quote of the first answer that answers")] = None
    feedback: Annotated[
        Number | None, Field(description="Feedback that names the passage; unset, without a quote: all that does")
    ] = None

    async def run(self, services: Services) -> Suggestions:
        """Suggest it, without weight until an operator accepts it: what sends it may be a model. Raises as
        `suggest_for_all`."""
        stored = await suggest_for_all(
            services.corpus.database,
            self.answers,
            actor=MODELS,
            actor_kind="model",
            citation=self.citation,
            feedback=self.feedback,
        )
        return Suggestions(feedback=stored, golden_questions=None)

    async def accept(
        self, database: Database, settings: HomeSettings, *, actor: str, actor_kind: ActorKind = "person"
    ) -> Suggestions:
        """Suggest and accept it, and write the golden questions anew: for a person who may. Raises as `run`."""
        stored = await suggest_for_all(
            database,
            self.answers,
            actor=actor,
            actor_kind=actor_kind,
            citation=self.citation,
            feedback=self.feedback,
            accept=True,
        )
        files = await write_goldens(database, settings)
        return Suggestions(feedback=stored, golden_questions=files.golden_questions)
