"""Evidence judged as an answer in prose is judged that is composed of it."""

from __future__ import annotations

from webrag_core.answering.composition import Composition, compose
from webrag_core.answering.gathering import gathered_of
from webrag_core.answering.judgement import judged
from webrag_core.answering.likelihood import LIKELY_AT
from webrag_core.answering.verdicts import status_of
from webrag_core.config.answering import AnsweringSettings
from webrag_core.orchestration.conclusion import Conclude, Conclusion
from webrag_core.orchestration.models import OrchestrationResult
from webrag_core.routing.question import Question


def conclusion_by(settings: AnsweringSettings) -> Conclude:
    """What judges the evidence of a run: `answer` and `ask` give one verdict on the same passages."""

    async def conclude(result: OrchestrationResult) -> Conclusion:
        gathered = gathered_of(result)
        composition = judged(await compose(Question(result.query), gathered, settings), gathered.verdict)
        is_said = composition.is_said
        likely = not is_said and bool(composition.passages) and composition.passage >= LIKELY_AT
        sure = composition.sure if is_said else composition.passage
        answered = {choice.part for choice in composition.choices}
        partial = is_said and len(answered) < len(composition.draft.parts)
        return Conclusion(
            status_of(sure if is_said or likely else 0.0, gathered, partial=partial, likely=likely),
            sure,
            _passage(composition),
        )

    return conclude


def _passage(composition: Composition) -> int | None:
    """The chunk of the best sentence, else of the first passage shown."""
    if composition.is_said:
        return max(composition.choices, key=lambda choice: choice.support).saying.unit.chunk.chunk_id
    if not composition.passages:
        return None
    return composition.draft.units[composition.passages[0].units[0]].chunk.chunk_id
