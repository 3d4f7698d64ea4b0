"""Answers out of tables: a row of which only the name is left answers nothing."""

from __future__ import annotations

import asyncio

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.manager import Manager, Question
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus

QUESTION = "Does the free plan include single sign-on with the directory of a company?"


@pytest.mark.parametrize(("icon", "answers"), [("<i class='dot'></i>", False), ("<i title='No'></i>", True)])
def test_a_row_with_empty_cells_is_no_answer(settings: Settings, icon: str, answers: bool) -> None:
    table = (
        "<table><thead><tr><th>Feature</th><th>Free plan</th><th>Team plan</th></tr></thead><tbody>"
        f"<tr><td>Single sign-on with the directory of a company</td><td>{icon}</td><td>{icon}</td></tr>"
        f"<tr><td>Audit log</td><td>{icon}</td><td>{icon}</td></tr></tbody></table>"
    )
    site = LocalSite({"/": page("Plans compared", f"<p>Every plan can be tried for thirty days.</p>{table}")})

    async def work() -> list[str]:
        async with Corpus.open(settings, site) as corpus:
            answer = await Manager(corpus).answer(Question(QUESTION, urls=(SITE,)))
            return [sentence.text for sentence in answer.sentences]

    rows = [text for text in asyncio.run(work()) if "Feature" in text or "sign-on" in text]
    assert bool(rows) == answers
    assert all("Free plan: No" in row for row in rows)


PRICES = {"Mountain bike": ("£13.50", "£30.50"), "City bike, with gears": ("£7.30", "£14.70")}


@pytest.mark.parametrize(
    ("question", "price", "other"),
    [
        ("How much is a 1-day mountain bike?", "£13.50", "£7.30"),
        ("How much is a 1-day city bike?", "£7.30", "£13.50"),
        ("Price of an 8-day city bike with gears", "£14.70", "£30.50"),
    ],
)
def test_a_row_of_the_table_that_is_meant_is_said(settings: Settings, question: str, price: str, other: str) -> None:
    tables = "".join(
        f"<p><em>{caption}</em></p><table><thead><tr><th>Hire</th><th>Cost</th></tr></thead><tbody>"
        f"<tr><td>1-day</td><td>{day}</td></tr><tr><td>8-day</td><td>{week}</td></tr></tbody></table>"
        for caption, (day, week) in PRICES.items()
    )
    site = LocalSite({"/": page("What hire costs", f"<p>All bikes are hired with a lock.</p>{tables}")})

    async def work() -> str:
        async with Corpus.open(settings, site) as corpus:
            answer = await Manager(corpus).answer(Question(question, urls=(SITE,)))
            return "\n".join(sentence.text for sentence in answer.sentences)

    text = asyncio.run(work())
    assert price in text
    assert other not in text
