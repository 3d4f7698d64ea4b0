"""Questions for how a thing is made and what it needs, which the lists below the thing's name answer."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.manager import Manager, Question
from webrag_core.answering.models import Answer
from webrag_core.answering.wanted.counted import counted_in
from webrag_core.answering.wanted.sections import Section, section_of
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus

THINGS = ("leek soup", "birdhouse", "sourdough bread", "rain barrel", "lemon tart")
STEPS_EN = (
    "how do I make {}",
    "how to make a {} at home?",
    "how do you prepare the {}",
    "is there a recipe for {}",
    "{} recipe",
)
NEEDS_EN = (
    "what is in a {}?",
    "what do I need for the {}",
    "ingredients of {}",
    "{} ingredients",
    "what do I need to make {}",
)


@given(thing=st.sampled_from(THINGS), steps=st.sampled_from(STEPS_EN), needs=st.sampled_from(NEEDS_EN))
def test_the_thing_of_a_question(thing: str, steps: str, needs: str) -> None:
    for template, is_need in ((steps, False), (needs, True)):
        section = section_of(template.format(thing))
        assert section is not None
        assert (section.thing.split()[-len(thing.split()) :], section.verb, section.needs) == (
            thing.split(),
            "",
            is_need,
        )


@pytest.mark.parametrize(
    ("question", "section"),
    [
        ("How do I renew my passport?", Section("my passport", "renew", needs=False)),
        ("Comment faire une quiche lorraine ?", Section("une quiche lorraine", "", needs=False)),
        ("Wie backe ich ein Roggenbrot?", Section("ein Roggenbrot", "", needs=False)),
        ("Zutaten für Kartoffelsuppe", Section("Kartoffelsuppe", "", needs=True)),
        ("Was brauche ich für den Umzug?", Section("den Umzug", "", needs=True)),
        ("ingrédients de la ratatouille", Section("la ratatouille", "", needs=True)),
        ("how long does leek soup keep", None),
        ("why do people make soup", None),
    ],
)
def test_questions_in_other_words(question: str, section: Section | None) -> None:
    assert section_of(question) == section


def numbered(*items: str) -> str:
    return "<ol>" + "".join(f"<li>{item}</li>" for item in items) + "</ol>"


def bullets(*items: str) -> str:
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


SOUP = page(
    "Leek Soup",
    "<p>A soup for cold evenings, and very easy to make at home if you have leeks.</p>"
    f"<h2>Ingredients</h2>{bullets('4 leeks', '1 l stock', '20 g butter')}"
    f"<h2>Directions</h2>{bullets('wash the vegetables well', 'melt the fat in a pot', 'add the stock')}"
    f"<h3>For guests</h3>{bullets('make leek soup with cream on top')}",
)
PIE = page(
    "Leek pie with leek soup",
    "<p>How to make a leek pie: make leek soup first, at home, and let the soup thicken.</p>"
    f"<h2>Ingredients</h2><h3>Crust</h3>{bullets('200 g flour', '90 g lard')}"
    f"<h3>Filling</h3>{bullets('3 leeks', '2 eggs')}"
    f"<h2>Directions</h2>{numbered('make leek soup at home and let it thicken', 'bake the pie until it is brown')}",
)
LETTER = page(
    "Letters",
    "<h2>Sealing an envelope</h2>"
    f"{numbered('Fold the sheet twice.', 'Choose <a href=/press>Press – Warm</a>.', 'Press the flap down.')}"
    "<h2>Opening an envelope</h2><p>An envelope that was sealed is opened with a knife.</p>",
)


def answers(settings: Settings, *questions: str) -> list[Answer]:
    pages = {"/": page("Kitchen", "<p>Soups and pies.</p>"), "/soup": SOUP, "/pie": PIE, "/letters": LETTER}

    async def work() -> list[Answer]:
        async with Corpus.open(settings, LocalSite(pages)) as corpus:
            for path in pages:
                await corpus.add(SITE + path)
            return [await Manager(corpus).answer(Question(question)) for question in questions]

    return asyncio.run(work())


def test_the_list_below_the_name_is_the_whole_answer(settings: Settings) -> None:
    steps, needs, part, letter, kind = answers(
        settings,
        "how do you make leek soup at home",
        "what is in leek soup",
        "crust ingredients",
        "How do I seal an envelope?",
        "how do I make soup",
    )
    texts = [[sentence.text for sentence in answer.sentences] for answer in (steps, needs, part, letter, kind)]
    assert texts == [
        ["[Directions] wash the vegetables well", "melt the fat in a pot", "add the stock"],
        ["[Ingredients] 4 leeks", "1 l stock", "20 g butter"],
        ["[Crust] 200 g flour", "90 g lard"],
        ["Fold the sheet twice.", "Choose Press – Warm.", "Press the flap down."],
        ["[Leek Soup] wash the vegetables well", "melt the fat in a pot", "add the stock"],
    ]
    assert all(answer.confidence >= 0.7 for answer in (steps, needs, part, letter))
    assert kind.confidence >= 0.5


def test_what_stands_below_both_names_comes_first(settings: Settings) -> None:
    def island(name: str, tongue: str, port: str) -> str:
        return page(
            name,
            f"<h2>People</h2><h3>Languages</h3><p>{tongue} 90 %, English 6 %.</p><h2>Economy</h2>"
            f"<p>{name} sells fish and speaks many languages at work, the harbour of {name} among others.</p>"
            f"<h3>Harbour</h3><ul><li>name: {port}</li><li>depth: 9 m</li></ul>",
        )

    pages = {"/": page("Islands", "<p>The languages and harbours of the islands Arra and Bolo.</p>")}
    pages |= {"/arra": island("Arra", "Arrish", "Old Quay"), "/bolo": island("Bolo", "Bolese", "Sand Bay")}

    async def work() -> list[Answer]:
        async with Corpus.open(settings, LocalSite(pages)) as corpus:
            for path in pages:
                await corpus.add(SITE + path)
            questions = ("bolo languages", "What is the harbour of Arra?", "what language is best for selling fish")
            return [await Manager(corpus).answer(Question(question)) for question in questions]

    languages, port, other = asyncio.run(work())
    assert languages.sentences[0].text == "Bolese 90 %, English 6 %."
    assert "name: Old Quay" in port.sentences[0].text
    assert min(languages.confidence, port.confidence) >= 0.7 > other.confidence


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("how many eggs are in the flan?", "eggs"),
        ("How many egg yolks do I need", "yolks"),
        ("flan how many raisins", "raisins"),
        ("Combien d'œufs faut-il ?", "œufs"),
        ("How many people does the flan feed?", ""),
        ("Within how many days must I pay?", ""),
        ("how much sugar is in the flan", ""),
    ],
)
def test_what_a_question_counts(question: str, word: str) -> None:
    assert counted_in(question) == word


def test_a_number_of_something_else_is_no_count(settings: Settings) -> None:
    flan = page(
        "Flan",
        f"<h2>Ingredients</h2>{bullets('Eggs: 5', '70 g sugar')}"
        f"<h2>Directions</h2><h3>First</h3>{numbered('Crack the eggs for the flan in a bowl, and add 35 g sugar.')}"
        f"<h3>Then</h3>{numbered('Bake the flan for 40 minutes.')}",
    )

    async def work() -> list[Answer]:
        async with Corpus.open(settings, LocalSite({"/": flan})) as corpus:
            await corpus.add(SITE + "/")
            questions = ("how many eggs are in flan", "how many calories are in flan", "how do I make flan")
            return [await Manager(corpus).answer(Question(question)) for question in questions]

    eggs, calories, steps = asyncio.run(work())
    assert [sentence.text for sentence in eggs.sentences][:1] == ["[Ingredients] Eggs: 5"]
    assert not calories.sentences
    assert [sentence.text.partition("] ")[2] or sentence.text for sentence in steps.sentences] == [
        "Crack the eggs for the flan in a bowl, and add 35 g sugar.",
        "Bake the flan for 40 minutes.",
    ]
