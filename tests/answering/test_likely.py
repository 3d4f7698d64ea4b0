"""The verdict between answered and not found: a passage that probably holds the answer, and no sentence."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path

import numpy as np

from evals.answers.labelled_passages import load_labelled
from tests.answering.test_meaning import answers_of
from tests.showing.test_view import SILENT, printed
from webrag_core.answering.compose.windows import lead_of
from webrag_core.answering.likelihood import LIKELY_AT
from webrag_core.answering.models import Answer, Highlight
from webrag_core.answering.stored import load_answer
from webrag_core.answering.units import units_of
from webrag_core.config import Settings
from webrag_core.showing.html import render_page
from webrag_core.showing.markdown import render_markdown
from webrag_core.showing.model import render_for_model
from webrag_core.showing.wording import verdict
from webrag_core.store.database import Database

QUESTIONS = (
    "Is the daemon busy when a guest is silent?",
    "What happens to goods that were brought back?",
    "Which pan suits a gas stove?",
    "How long may the boiler be without water?",
    "Who founded the shop in Ashford?",
    "What port does Alder 2.4 listen on by default?",
    "What is the capital of Zanzibar?",
)
LIKELY = SILENT.model_copy(
    update={
        "status": "likely",
        "band": "likely",
        "confidence": 0.45,
        "highlights": [Highlight(citation=number, marks=[(0, 5)], likely=number == 8) for number in (8, 6, 5)],
    }
)


def test_status_band_passages_and_confidence_agree(settings: Settings) -> None:
    found = asyncio.run(answers_of(settings, QUESTIONS))
    for answer in found.values():
        shown = [(passage.citation, passage.text) for passage in (*answer.likely, *answer.nearest)]
        assert shown == [(one.citation, answer.citation(one.citation).quote) for one in answer.highlights]
        assert (answer.status == "likely") == (answer.band == "likely") == bool(answer.likely)
        assert len(answer.likely) <= 1
        if answer.sentences:
            assert shown == []
        elif answer.highlights:
            assert (answer.confidence >= LIKELY_AT) == (answer.status == "likely")
    nowhere = found["What is the capital of Zanzibar?"]  # a name that no page has
    assert nowhere.status == "not_found"


def test_a_stored_answer_gives_its_passages_again(settings: Settings) -> None:
    found = asyncio.run(answers_of(settings, QUESTIONS[:2]))

    async def load(number: int | None) -> Answer:
        async with await Database.open(settings) as database, database.connection() as connection:
            assert number is not None
            return await load_answer(connection, number)

    for answer in found.values():
        assert asyncio.run(load(answer.answer_id)) == answer
        assert Answer.model_validate(answer.model_dump(mode="json")) == answer


def test_every_face_shows_the_likely_passage_first() -> None:
    assert verdict(LIKELY) == "No sentence is sure enough; the first passage probably answers"
    assert [passage.citation for passage in LIKELY.likely] == [8]
    assert [passage.citation for passage in LIKELY.nearest] == [6, 5]
    for shown in (printed(LIKELY), render_markdown(LIKELY), render_page(LIKELY)):
        places = [shown.index(words) for words in ("What probably answers", "Other passages near the question")]
        assert places == sorted(places)
    assert "probably answers" in render_for_model(LIKELY)
    assert "The nearest passages" in printed(SILENT)


def test_a_passage_whose_page_was_forgotten_is_not_replaced_by_the_next() -> None:
    left = LIKELY.model_copy(update={"highlights": LIKELY.highlights[1:]})
    assert left.likely == []
    assert [passage.citation for passage in left.nearest] == [6, 5]


def test_a_passage_leads_those_that_say_something_else(tmp_path: Path) -> None:
    returns = "Goods may be brought back within 28 days with the receipt."
    texts = (returns, f"{returns} Thank you.", "The shop is open on all days but Sunday, from nine to six.")
    file = tmp_path / "labelled.jsonl.gz"
    with gzip.open(file, "wt") as lines:
        for rank, text in enumerate(texts, start=1):
            row = {"site": "shops", "url": f"https://a.example/{rank}", "head": ["Shop"], "q": "Can I return it?"}
            lines.write(json.dumps({**row, "qi": 1, "rank": rank, "raw": 0.5, "w": text, "y": 2}) + "\n")
    (question,) = load_labelled(file)
    units = units_of(question.gathered.ranked)
    first, copy, other = (next(unit.chunk.chunk_id for unit in units if unit.chunk.text == text) for text in texts)

    def lead(chunk: int, readings: dict[int, float]) -> float:
        return lead_of(chunk, units, np.array([readings.get(unit.chunk.chunk_id, np.nan) for unit in units]))

    readings = {first: 0.7, copy: 0.69, other: 0.4}
    assert lead(first, readings) == 0.7 - 0.4
    assert lead(other, readings) == 0.4 - 0.7
    assert lead(first, {first: 0.7, copy: 0.69}) == 0  # no other was read
    assert lead(other, {first: 0.7}) == 0
