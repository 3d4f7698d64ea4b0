"""Forms of answers: how they are recognised, and that a list is said as a whole."""

from __future__ import annotations

import asyncio

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.compose.forms import form_of
from webrag_core.answering.compose.timeline import moment_of
from webrag_core.answering.manager import Manager, Question
from webrag_core.answering.models import Answer, AnswerSentence
from webrag_core.answering.time_notes import time_notes
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.query_analyzer import analyze_query
from webrag_core.routing.question import Form

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
        ("What does the strainer do?", "explain"),
        ("What is the difference between green tea and black tea?", "compare"),
        ("Which kinds of tea are there?", "list"),
        ("List the kinds of tea", "list"),
        ("How long does green tea keep?", "lookup"),
        ("What is the default temperature of the kettle?", "lookup"),
        ("What is green tea?", "explain"),
        ("What has changed in the kettle since version 2?", "timeline"),
        ("History of green tea", "timeline"),
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


KETTLE = LocalSite(
    {
        "/": page(
            "The kettle",
            "<p>The kettle boils water for tea.</p><p>Changed in version 3.10: The kettle keeps the water warm.</p>"
            "<p>New in version 2.4: The kettle has a whistle.</p><p>Changed in version 3.2: The kettle boils water"
            " without a lid.</p><p>The kettle was first sold on 4 May 1987.</p>",
        )
    }
)


def test_a_timeline_is_in_the_order_of_versions(settings: Settings) -> None:
    async def work() -> Answer:
        async with Corpus.open(settings, KETTLE) as corpus:
            question = "What changed in the versions of the kettle that boils water?"
            return await Manager(corpus).answer(Question(question, urls=(SITE,)))

    answer = asyncio.run(work())
    assert answer.form == "timeline"
    texts = " | ".join(sentence.text for sentence in answer.sentences)
    places = [texts.index(version) for version in ("2.4", "3.2", "3.10")]
    assert places == sorted(places)
    assert "1987" not in texts


@pytest.mark.parametrize(
    ("text", "kind", "key"),
    [
        ("Changed in version 3.10: faster.", "version", (3, 10)),
        ("Since v1.2.3 it is slower.", "version", (1, 2, 3)),
        ("On 2024-05-17 it was sold.", "date", (2024, 5, 17)),
        ("On 4 May 1987 it was sold.", "date", (1987, 5, 4)),
        ("On September 4th, 1987 it was sold.", "date", (1987, 9, 4)),
        ("In Sept. 1987 it was sold.", "date", (1987, 9, 0)),
        ("In March 2001 it was sold.", "date", (2001, 3, 0)),
        ("It was sold in 1987.", "date", (1987, 0, 0)),
    ],
)
def test_moments_are_read(text: str, kind: str, key: tuple[int, ...]) -> None:
    moment = moment_of(text)
    assert moment is not None
    assert (moment.kind, moment.key) == (kind, key)


@pytest.mark.parametrize("text", ["It holds 1024 items.", "It costs 1999.95.", "Port 2000/tcp is closed.", "Often."])
def test_other_numbers_are_no_moments(text: str) -> None:
    assert moment_of(text) is None


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What changed in version 3.2 of the kettle that boils water?", ["3.2"]),
        ("What has changed in the kettle since 1987 for tea?", ["1987"]),
    ],
)
def test_a_timeline_of_one_version_says_nothing_of_others(settings: Settings, question: str, said: list[str]) -> None:
    async def work() -> Answer:
        async with Corpus.open(settings, KETTLE) as corpus:
            return await Manager(corpus).answer(Question(question, urls=(SITE,)))

    answer = asyncio.run(work())
    texts = " ".join(sentence.text for sentence in answer.sentences)
    others = {"3.10", "2.4", "3.2", "1987"} - set(said)
    assert not any(other in texts for other in others)
    assert any("--changes" in note for note in answer.notes)


def test_a_past_year_in_a_question_is_noted() -> None:
    sentence = AnswerSentence(ordinal=1, text="It is 15.", proof="verbatim", citations=[1], part=0, support=0.5)
    [note] = time_notes(Question("What was the fee in 2021?"), [sentence])
    assert "names 2021" in note
    assert time_notes(Question("What was the fee in 2021?", at="2021"), [sentence]) == []
    assert time_notes(Question("What is the fee of port 2021/tcp?"), [sentence]) == []


def test_the_form_can_be_chosen(settings: Settings) -> None:
    answer = ask(settings, "lookup")
    assert answer.form == "lookup"
    assert 1 <= len(answer.sentences) <= 3
