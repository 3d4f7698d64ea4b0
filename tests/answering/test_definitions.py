"""Questions for what a term is, questions that the page itself asks, and terms behind a colon."""

from __future__ import annotations

import asyncio

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.manager import Manager, Question
from webrag_core.answering.models import Answer
from webrag_core.answering.wanted.definitions import says_what, term_of
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus

DEPRECIATION = "Depreciation is the accounting method for expensing purchases over time."
RECONCILIATION = "This check of the books is known as reconciliation, and is done each month."
PLACES = (("Windows", "In the folder Pictures of the user."), ("macOS", "In the folder Easel of the library."))


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("what is depreciation", "depreciation"),
        ("What's a capital gain?", "capital gain"),
        ("what does APR stand for?", "APR"),
        ("triskelion meaning", "triskelion"),
        ("What is meant by “grace period”?", "grace period"),
        ("Qu'est-ce qu'un complément de loyer ?", "complément de loyer"),
        ("Was ist eine Firewall?", "Firewall"),
        ("What is it?", ""),
        ("What is the capital of Dominica?", ""),
        ("What is a good way to learn to swim in a month?", ""),
        ("What does the blur tool do?", ""),
        ("how is depreciation recorded", ""),
    ],
)
def test_the_term_of_a_question(question: str, term: str) -> None:
    assert term_of(question) == term


@pytest.mark.parametrize(
    ("text", "term", "says"),
    [
        (DEPRECIATION, "depreciation", True),
        ("As said before, capital gains are the profits from a sale.", "capital gain", True),
        ("An APR (annual rate) is what a loan costs a year.", "APR", True),
        ('Surplus value is "the difference between what is made and what is paid".', "surplus value", True),
        (RECONCILIATION, "reconciliation", True),
        ("Une quittance de loyer est un document du propriétaire.", "quittance de loyer", True),
        ("Ein Leerlauf bezeichnet den Gang ohne Kraft.", "Leerlauf", True),
        ("The sum is two, where upkeep is generally equal to the levels of all units.", "upkeep", True),
        ("The Office of Fisheries and Nets (OFN) grants it.", "OFN", True),
        ("Sign up for FSA (flexible spending account) in May.", "fsa", True),
        ("Ask the Net Office of Fisheries (OFN).", "OFN", False),
        ("The form (OFN) is green.", "OFN", False),
        ("Depreciation is a separate topic treated elsewhere.", "depreciation", False),
        ("Depreciation is used by companies.", "depreciation", False),
        ("A plan for depreciation is a list of years.", "depreciation", False),
        ("The depreciation rate is the share of a year.", "depreciation", False),
    ],
)
def test_what_says_what_a_term_is(text: str, term: str, says: bool) -> None:
    assert says_what(text, term) is says


def answers(settings: Settings, *questions: str) -> list[Answer]:
    places = "".join(f"<dt>{system}</dt><dd>{text}</dd>" for system, text in PLACES)
    site = LocalSite({
        "/": page(
            "Books",
            "<h2>Values</h2><p>For depreciation a company picks a scheme, and depreciation goes by that scheme.</p>"
            "<p>A central issue with depreciation is to estimate what the thing will be worth.</p>"
            f"<h2>Ideas</h2><p>{DEPRECIATION}</p><p>The status of a reconciliation is shown in the field R.</p>"
            f"<p>Once entered, the amounts are compared with the bank's. {RECONCILIATION}</p>"
            "<p><a href='/easel'>Easel 2.4</a></p>",
        ),
        "/easel": page(
            "Easel",
            "<h2>Saving</h2><dl><dt>Where does Easel save my drawings?</dt>"
            f"<dd>Easel saves into a place on your disk:<dl>{places}</dl></dd>"
            "<dt>Easel saves over my drawings</dt><dd>Saving a drawing over its older version is an option.</dd></dl>"
            "<h2>Terms</h2><p>How many people may use Easel?</p><p>As many as like to draw with it.</p>"
            "<p>Easel 2.4.1</p>",
        ),
    })  # fmt: skip

    async def work() -> list[Answer]:
        async with Corpus.open(settings, site) as corpus:
            for path in ("", "/easel"):
                await corpus.add(SITE + path)
            return [await Manager(corpus).answer(Question(question)) for question in questions]

    return asyncio.run(work())


def test_the_sentence_that_says_it_comes_first(settings: Settings) -> None:
    asked = (
        "what is depreciation",
        "What is reconciliation?",
        "where are my drawings saved",
        "people who may use Easel",
    )
    depreciation, reconciliation, places, people = answers(settings, *asked)
    assert depreciation.sentences[0].text == DEPRECIATION
    assert RECONCILIATION in reconciliation.sentences[0].text
    assert depreciation.confidence >= 0.7 <= reconciliation.confidence
    said = [sentence.text for sentence in places.sentences]
    assert [f"[{system}] {text}" for system, text in PLACES] == said[1:3]
    assert not any(
        sentence.text.startswith("Easel 2.4") for answer in (places, people) for sentence in answer.sentences
    )
    assert any("As many as like" in sentence.text for sentence in people.sentences)
