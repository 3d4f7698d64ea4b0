"""Forms of answers: how they are recognised, and that a list is said as a whole."""

from __future__ import annotations

import asyncio

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.compose.forms import form_of
from webrag_core.answering.manager import Manager, Question
from webrag_core.answering.models import Answer, Form
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.query_analyzer import analyze_query

TEA = LocalSite(
    {
        "/": page(
            "Brewing green tea",
            "<p>Green tea is made of leaves that were not fermented.</p><h2>How to brew green tea</h2><ol>"
            "<li>Boil the water.</li><li>Let the water for the green tea cool down to eighty degrees.</li>"
            "<li>Pour it over the tea.</li><li>Wait for two minutes.</li></ol>"
            "<h2>Storage</h2><p>Keep green tea dry.</p>",
        )
    }
)


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("How do I brew green tea?", "steps"),
        ("What is the difference between green tea and black tea?", "compare"),
        ("Which kinds of tea are there?", "list"),
        ("List the kinds of tea", "list"),
        ("How long does green tea keep?", "lookup"),
        ("What is the default temperature of the kettle?", "lookup"),
        ("What is green tea?", "explain"),
        ("Is green tea good?", "explain"),
    ],
)
def test_forms_are_recognised(question: str, form: Form) -> None:
    assert form_of(question, analyze_query(question).query_type) == form


def ask(settings: Settings, form: Form | None) -> Answer:
    async def work() -> Answer:
        async with Corpus.open(settings, TEA) as corpus:
            question = "How do I brew green tea with water of eighty degrees?"
            return await Manager(corpus).answer(Question(question, urls=(SITE,), form=form))

    return asyncio.run(work())


def test_steps_are_said_together_and_in_order(settings: Settings) -> None:
    answer = ask(settings, None)
    assert answer.form == "steps"
    texts = " | ".join(sentence.text for sentence in answer.sentences)
    places = [texts.index(step) for step in ("Boil the water.", "eighty degrees", "Pour it over", "Wait for two")]
    assert places == sorted(places)


def test_the_form_can_be_chosen(settings: Settings) -> None:
    answer = ask(settings, "lookup")
    assert answer.form == "lookup"
    assert 1 <= len(answer.sentences) <= 3
