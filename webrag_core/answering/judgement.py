"""The verdict of a chat model on evidence, and what it does to what is composed of it. Checks by code have the last
word: a name or a value that is not there, whatever a model says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from webrag_core.answering import confidence, likelihood
from webrag_core.answering.compose.highlights import highlights
from webrag_core.answering.compose.select import Choice
from webrag_core.answering.composition import Composition
from webrag_core.config.judging import JudgingSettings
from webrag_core.judging.verdict import Verdict
from webrag_core.retrieval.models import RetrievedChunk


def wants_verdict(composition: Composition, settings: JudgingSettings) -> bool:
    """Whether a model is to be asked: there are passages, and the sentences are not sure beyond doubt."""
    return bool(composition.draft.units) and composition.sure < settings.judge_doubt_to


def best_chunks(composition: Composition) -> list[RetrievedChunk]:
    """The passages of the evidence, those of the likeliest sentences first."""
    draft = composition.draft
    chunks = {draft.units[index].chunk.chunk_id: draft.units[index].chunk for index in draft.best_of_all}
    return list(chunks.values())


def judged(composition: Composition, verdict: Verdict | None) -> Composition:
    """The composition after a verdict on its evidence; as it is without one. The passages that the model names are
    shown first. Sentences of them are as sure as the model is, where they are sure enough to be said without it; any
    others, and all where the model finds no answer, are no surer than that."""
    if verdict is None:
        return composition
    draft = composition.draft
    holding = [index for index in draft.best_of_all if draft.units[index].chunk.chunk_id in verdict.passages]
    passages = highlights(draft.units, list(dict.fromkeys([*holding, *draft.best_of_all])))
    sure = composition.sure
    inside = any(choice.saying.unit.chunk.chunk_id in verdict.passages for choice in composition.choices)
    if not inside or sure >= confidence.ANSWERED_AT:
        limit = said_with(composition, composition.choices, verdict)
        sure = limit if inside else min(sure, limit)
    return replace(
        composition,
        verdict=verdict,
        sure=sure,
        passages=passages,
        passage=likelihood.within_meaning(probability_of(verdict), passages, draft),
    )


def said_with(composition: Composition, choices: Sequence[Choice], verdict: Verdict) -> float:
    """Confidence in [0, 1] in sentences, by a verdict on the evidence that they are of; 0 without any."""
    if not choices:
        return 0.0
    draft = composition.draft
    return confidence.within_meaning(probability_of(verdict), choices, composition.form, draft.things, draft.facts)


def probability_of(verdict: Verdict) -> float:
    """The model's probability, within the range of what it finds: a part of the answer is no whole, and nothing is
    claimed of evidence without an answer."""
    most = {"full": 1.0, "partial": confidence.BELOW_SURE, "none": confidence.BELOW_ANSWERED}
    return min(verdict.probability, most[verdict.sufficient])


def contradiction_note(composition: Composition) -> list[str]:
    """The pages on which the model finds something else about the same thing."""
    verdict = composition.verdict
    if verdict is None or not verdict.contradicts:
        return []
    units = composition.draft.units
    urls = dict.fromkeys(unit.chunk.source_url for unit in units if unit.chunk.chunk_id in verdict.contradicts)
    return [f"{verdict.model} finds something else about the same thing on {', '.join(urls)}"] if urls else []
