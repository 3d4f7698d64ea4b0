"""Procedures whose steps are headings: they are said together, from the first, or not at all."""

from __future__ import annotations

import asyncio

from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.manager import Manager, Question
from webrag_core.answering.models import Answer
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus

QUESTION = "How do I descale the coffee machine?"
STEPS = ("Step 1: Empty the water tank", "Step 2: Fill in the descaler", "Step 3: Rinse the machine twice")


def answer_of(settings: Settings, steps: tuple[str, ...]) -> Answer:
    sections = "".join(
        f"<h2>{step}</h2><p>Take your time here, and keep the lid open until the lamp is green.</p>" for step in steps
    )
    site = LocalSite({
        "/": page("Descaling", f"<p>Descale the coffee machine every three months.</p>{sections}"),
        "/care": page("Care", "<p>The coffee machine is wiped with a dry cloth.</p>"),
    })  # fmt: skip

    async def work() -> Answer:
        async with Corpus.open(settings, site) as corpus:
            return await Manager(corpus).answer(Question(QUESTION, urls=(SITE,)))

    return asyncio.run(work())


def test_headings_that_name_steps_are_said_in_order(settings: Settings) -> None:
    answer = answer_of(settings, STEPS)
    steps = [sentence.text for sentence in answer.sentences if sentence.text.startswith("Step")]
    assert steps == list(STEPS)
    assert any("the steps are headings" in note and SITE in note for note in answer.notes)


def test_steps_without_the_first_are_no_procedure(settings: Settings) -> None:
    answer = answer_of(settings, STEPS[1:])
    steps = [sentence.text for sentence in answer.sentences if sentence.text.startswith("Step")]
    assert len(steps) < 2
