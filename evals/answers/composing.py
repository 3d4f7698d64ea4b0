"""Compose answers from recorded evidence, as the product does but for the tables that are being fitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from evals.answers.evidence import RecordedEvidence
from evals.answers.scoring import needs_held
from evals.walks.goldens import GoldenQuery
from webrag_core.answering.compose.draft import Draft, draft_of
from webrag_core.answering.compose.features import Array
from webrag_core.answering.compose.forms import form_of
from webrag_core.answering.compose.select import Choice, select
from webrag_core.answering.compose.sentence_scores import UnitScores
from webrag_core.answering.confidence import supports
from webrag_core.answering.units import Unit
from webrag_core.retrieval.reader import Reader
from webrag_core.routing.question import Form

MAX_WORDS = 120


@dataclass(frozen=True, slots=True)
class Composed:
    """The units of a question's evidence with their scores, the form of its answer, and the chosen sentences."""

    draft: Draft
    form: Form
    choices: list[Choice] = field(default_factory=list)

    @property
    def units(self) -> list[Unit]:
        """Candidates."""
        return self.draft.units

    @property
    def scores(self) -> list[UnitScores]:
        """Of the units, per part of the question."""
        return self.draft.scores

    def chosen(self, support: Callable[[Array], Array] | None = None) -> Composed:
        """With sentences, by the support that the core ships, or another table of it."""
        draft = self.draft
        values = [supports(score, support) for score in self.scores]
        choices = select(self.units, self.scores, values, MAX_WORDS, self.form, facts=draft.facts, things=draft.things)
        return replace(self, choices=choices)

    def holds_all(self, golden: GoldenQuery) -> bool:
        """Whether the sentences hold a gold quote of every need; never so for an unanswerable question."""
        return bool(golden.gold_pages) and len(self.needs(golden)) == len(golden.gold_pages)

    def needs(self, golden: GoldenQuery) -> set[int]:
        """The needs of which the sentences hold a gold quote."""
        units = [choice.saying.unit for choice in self.choices]
        return needs_held(golden, [(unit.chunk.source_url, unit.text) for unit in units])


async def compose_all(questions: Sequence[RecordedEvidence], *, read: bool) -> list[tuple[RecordedEvidence, Composed]]:
    """The units of each question that has any, scored with or without the reader."""
    composed = []
    for item in questions:
        query, gathered = item.golden.query, item.gathered
        reader = Reader() if read else None
        draft = await draft_of(query, gathered.parts, gathered.ranked, reader)
        if draft.units:
            form = form_of(query, gathered.kind)
            composed.append((item, Composed(draft, form)))
    return composed
