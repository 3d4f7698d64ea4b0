"""Composition without a chat model: the evidence as scored units, the sentences chosen from it, and how sure they are.
The same evidence gives the same composition, also later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from webrag_core.answering import confidence, guard, likelihood
from webrag_core.answering.compose.draft import Draft, draft_of
from webrag_core.answering.compose.features import Array
from webrag_core.answering.compose.forms import form_of
from webrag_core.answering.compose.highlights import Shown, highlights
from webrag_core.answering.compose.one_list import listed_on_one_page, of_one_page
from webrag_core.answering.compose.reranked import SentenceReranker
from webrag_core.answering.compose.select import Choice, select
from webrag_core.answering.compose.timeline import moment_of
from webrag_core.answering.gathering import Gathered
from webrag_core.config.answering import AnsweringSettings
from webrag_core.judging.verdict import Verdict
from webrag_core.retrieval.reader import make_reader
from webrag_core.routing.question import Form, Question


@dataclass(frozen=True, slots=True)
class Composition:
    """Scored units, the support of each for every part, the chosen sentences, and the confidence in [0, 1] that they
    answer the whole question. `passages` are shown where that is too low, the first of which holds the answer with the
    probability `passage`. `verdict` is that of the chat model that has read the evidence, if any (`judgement`)."""

    draft: Draft
    form: Form
    supports: list[Array]
    choices: list[Choice]
    passages: list[Shown]
    sure: float = 0.0
    passage: float = 0.0
    verdict: Verdict | None = None

    @property
    def is_said(self) -> bool:
        """Whether the sentences are sure enough to be said."""
        return bool(self.choices) and self.sure >= confidence.ANSWERED_AT

    def is_enough(self, min_confidence: float) -> bool:
        """Whether nothing more need be looked for: a judge finds the whole answer, or without a judge the sentences are
        sure enough."""
        return self.sure >= min_confidence if self.verdict is None else self.verdict.sufficient == "full"

    def missing(self) -> list[str]:
        """What a judge would look for."""
        return [] if self.verdict is None else self.verdict.missing

    def open_parts(self) -> list[int]:
        """The parts of a joined question that a judge finds no answer to; without a judge, those that no sentence is
        for, and the one that its sentences support least. None of a question of one part."""
        if len(self.draft.parts) < 2:
            return []
        if self.verdict is not None:
            return self.verdict.open_parts
        best = [max((choice.support for choice in self.choices if choice.part == part), default=0.0)
                for part in range(len(self.draft.parts))]  # fmt: skip
        return sorted({best.index(min(best)), *(part for part, support in enumerate(best) if not support)})


async def compose(
    question: Question, gathered: Gathered, settings: AnsweringSettings, reranker: SentenceReranker | None = None
) -> Composition:
    """Score the evidence, choose, and judge what is chosen. A `reranker` orders the sentences."""
    chosen = await choose(question, gathered, settings, reranker)
    draft, choices = chosen.draft, chosen.choices
    sure = confidence.with_what_is_meant(confidence.confidence_of(choices, draft), choices, draft)
    return replace(
        chosen,
        sure=confidence.within_meaning(sure, choices, chosen.form, draft.things, draft.facts),
        passage=likelihood.of_first(chosen.passages, draft, chosen.supports),
    )


async def choose(
    question: Question, gathered: Gathered, settings: AnsweringSettings, reranker: SentenceReranker | None = None
) -> Composition:
    """As `compose`, before anything is judged: both probabilities are 0."""
    text = gathered.meant(question.text)
    form = question.form or form_of(text, gathered.kind)
    draft = await draft_of(
        text,
        [gathered.meant(part) for part in gathered.parts],
        gathered.ranked,
        make_reader(settings),
        reranker=reranker,
        safe=partial(guard.safe_units, form=form),
    )
    supports = [confidence.supports(score) for score in draft.scores]
    section = draft.section_said
    if section is not None and question.form is None:
        form = "list" if section.needs else "steps"
    choices = select(
        draft.units,
        draft.scores,
        supports,
        settings.answer_max_words,
        form,
        moment_of(text),
        draft.facts,
        draft.things,
        [] if section is None else listed_on_one_page(draft),
    )
    if section is not None:
        choices = of_one_page(choices, draft.meant[0])
    return Composition(draft, form, supports, choices, highlights(draft.units, draft.best_of_all))


def warnings_of(draft: Draft) -> Sequence[str]:
    """What composition had to do without, and the orders to a model among the sentences."""
    orders = draft.withheld.get("order", 0)
    warning = f"sentences of the pages that give orders to a model, and are never said: {orders}"
    return [*draft.warnings, *([warning] if orders else [])]
