"""Fields of an answer that say whether it contradicts itself, when and for what it holds, and why it is no surer."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from tests.answering.test_manager import ask
from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.manager import Question
from webrag_core.answering.models import Answer, AnswerSentence, Disagreement, Missing, SentenceCitation
from webrag_core.answering.reflection import applicability, coherence_of, uncertainty
from webrag_core.answering.stored import load_answer
from webrag_core.answering.verdicts import places_left
from webrag_core.config import Settings
from webrag_core.judging.verdict import Verdict
from webrag_core.showing.html import render_page
from webrag_core.showing.markdown import render_markdown
from webrag_core.showing.model import render_for_model
from webrag_core.store.database import Database

VERDICT = Verdict(sufficient="full", probability=0.9, model="m", prompt=1)
KILN = LocalSite(
    {
        f"/{version}/kiln": page(
            f"Kiln of the workshop {version}",
            f"<p>The kiln of the workshop is fired at {heat} degrees by default.</p><p>It cools for a night.</p>",
        )
        for version, heat in (("2.4", 980), ("3.0", 1040))
    }
)


def sentences(count: int) -> list[AnswerSentence]:
    return [
        AnswerSentence(ordinal=number, text="Tea.", proof="verbatim", citations=[1], part=0, support=0.5)
        for number in range(1, count + 1)
    ]


def citation(url: str) -> SentenceCitation:
    return SentenceCitation(
        number=1,
        url=url,
        title=None,
        heading=None,
        version=1,
        version_sha256="0" * 64,
        char_start=0,
        char_end=1,
        quote="T",
        sha256="0" * 64,
        before="",
        after="",
        seen_at=datetime(2026, 1, 2, tzinfo=UTC),
        current=True,
    )


def test_coherence_needs_something_to_compare() -> None:
    assert coherence_of(sentences(1), [], [], None) == (None, "")
    assert coherence_of(sentences(2), [], [], None) == ("coherent", "")
    assert coherence_of([], [], [], VERDICT) == ("coherent", "")
    differing = [Disagreement(sentences=(1, 2), about="number")]
    assert coherence_of(sentences(2), differing, [], None) == ("incoherent", "sentences 1 and 2 differ: number")
    assert coherence_of([], [], ["m finds something else"], VERDICT) == ("incoherent", "m finds something else")


@pytest.mark.parametrize(
    ("question", "urls", "expected"),
    [
        ("How hot is the kiln?", ["https://a.example/docs/2.4/kiln"], "name version 2.4, and the question names none"),
        ("How hot is the kiln?", ["https://a.example/v2/k", "https://a.example/v3/k"], "name versions v2, v3, and the"),
        ("How hot was it in Kiln 3.0?", ["https://a.example/2.4/kiln"], "version 2.4, and the question names 3.0"),
        ("How hot is it in Kiln 2.4.1?", ["https://a.example/2.4/kiln"], ""),
        ("How hot is it in Kiln 2?", ["https://a.example/2.4/kiln"], ""),
        ("How hot is it with v2 of the API?", ["https://a.example/v2/kiln"], ""),
        ("How hot is the kiln?", ["https://a.example/latest/kiln"], ""),
        ("How hot is the kiln?", ["https://a.example/2.4/kiln", "https://a.example/about"], ""),
        ("How hot is the kiln?", ["https://a.example/posts/17", "https://a.example/2024/05/17/kiln"], ""),
    ],
)
def test_the_version_of_the_pages_is_said_where_the_question_means_none_or_another(
    question: str, urls: list[str], expected: str
) -> None:
    notes = applicability(Question(question), [citation(url) for url in urls], [])
    assert len(notes) == bool(expected)
    assert expected in "; ".join(notes)


def test_a_date_that_was_given_and_a_site_without_a_quote_are_said() -> None:
    quotes = [citation("https://www.a.example/kiln")]
    given = Question("How hot?", urls=("https://a.example/", "https://b.example/"))
    assert applicability(given, quotes, []) == ["nothing is quoted from b.example, which was given too"]
    seen, valid = (Question("How hot?", at="2024-05", time=time) for time in ("seen", "valid"))
    assert applicability(seen, quotes, []) == [
        "this is from the pages as they were seen at the date that was given, 2024-05"
    ]
    assert applicability(valid, quotes, []) == ["this is from the texts that hold at the date that was given, 2024-05"]
    assert applicability(given, [], []) == []


def test_uncertainty_says_each_fact_once() -> None:
    open_part = Missing(part=1, text="how long", why="not_found", looked_at=3)
    assert uncertainty(["so", "", "so"], ["no sentence has the code"], [open_part], []) == [
        "so",
        "no sentence has the code",
        "part 2 of the question is not answered",
    ]


def test_the_fields_of_an_answer_are_stored_and_shown_once_everywhere(settings: Settings) -> None:
    question = Question("At how many degrees is the kiln of the workshop fired?", urls=(f"{SITE}/2.4/kiln",))
    answer = ask(settings, question, KILN)
    assert "980" in answer.sentences[0].text
    version = "the addresses of the pages name version 2.4, and the question names none"
    assert version in answer.applicability_note
    assert "last seen on" in answer.applicability_note
    assert answer.final_reason in answer.uncertainty_note
    assert answer.confidence_note in answer.uncertainty_note

    async def load() -> Answer:
        async with await Database.open(settings) as database, database.connection() as connection:
            return await load_answer(connection, answer.answer_id or 0)

    stored = asyncio.run(load())
    assert stored == answer
    assert stored.applicability_note == answer.applicability_note
    assert Answer.model_validate_json(answer.model_dump_json()) == answer
    for shown in (render_page(stored), render_markdown(stored).replace("\\", ""), render_for_model(stored)):
        assert shown.count(version[1:]) == 1
        assert shown.count("was last seen on") == 1
        assert shown.count(answer.confidence_note) == 1


def test_a_name_that_nothing_speaks_of_is_behind_the_low_confidence(settings: Settings) -> None:
    question = Question("How hot is the kiln of Zanzibar?", urls=(f"{SITE}/2.4/kiln",))
    answer = ask(settings, question, KILN)
    assert answer.status == "not_found"
    assert "no passage that was found speaks of Zanzibar" in answer.uncertainty
    assert not [note for note in answer.applicability if "Zanzibar" in note]
    assert render_markdown(answer).count("speaks of Zanzibar") == 1


def test_a_version_that_nothing_speaks_of_limits_what_the_answer_holds_for(settings: Settings) -> None:
    question = Question("At how many degrees is the kiln 2.9 fired?", urls=(f"{SITE}/2.4/kiln",))
    answer = ask(settings, question, KILN)
    assert "speaks of 2.9" in answer.applicability_note


def test_pages_that_are_quoted_are_no_places_to_look_at_next() -> None:
    assert places_left(["https://a.example/", "https://b.example/"], [citation("https://a.example/")]) == [
        "https://b.example/"
    ]
