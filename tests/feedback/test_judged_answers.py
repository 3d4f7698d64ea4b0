"""The confidence of answers against the last thing that people said of each as a whole."""

from __future__ import annotations

import asyncio

import psycopg
from lxml import etree

from tests.web.tea_corpus import settings
from webrag_core.feedback.judged_answers import judged_answers
from webrag_core.reliability import Reliability
from webrag_core.showing.confidence_figure import confidence_figure
from webrag_core.store.database import Database


def judged(database_url: str) -> Reliability:
    async def work() -> Reliability:
        async with await Database.open(settings(database_url)) as database, database.connection() as connection:
            return await judged_answers(connection)

    return asyncio.run(work())


def test_the_last_judgement_of_a_whole_answer_counts(database_url: str) -> None:
    assert confidence_figure(judged(database_url)) is None
    with psycopg.connect(database_url) as connection:

        def say(answer: int, kind: str, *, weight: float = 1, sentence: int | None = None) -> None:
            connection.execute(
                "INSERT INTO feedback (answer_id, sentence, kind, value, actor, actor_kind, weight)"
                " VALUES (%s, %s, %s, %s, 'me', 'person', %s)",
                (answer, sentence, kind, 1 if kind == "helpful" else -1, weight),
            )

        for number, probability in enumerate((0.91, 0.93, 0.31), start=1):
            connection.execute(
                "INSERT INTO answer_runs (id, kind, query, state, probability, options) OVERRIDING SYSTEM VALUE"
                " VALUES (%s, 'prose', 'How hot?', 'done', %s, '{}')",
                (number, probability),
            )
        say(1, "wrong")
        say(1, "helpful")
        say(2, "missing")
        say(2, "helpful", weight=0)
        say(2, "helpful", sentence=1)
        say(3, "wrong_route")
    curve = judged(database_url)
    assert (curve.n, curve.bins) == (2, [(0.92, 0.5, 2)])
    figure = confidence_figure(curve)
    assert figure is not None
    assert figure.table.rows == (("92%", "50%", "2"),)
    assert "Too few to conclude from." in figure.note
    assert len(etree.fromstring(figure.svg()).xpath("//circle[@class='full']")) == 1
