"""The elements of an answer: every medium shows all of them, in one order, by the same words."""

from __future__ import annotations

import io
import re

import pytest
from lxml import html
from markdown_it import MarkdownIt
from rich.console import Console

from tests.mcp_server.clients import sections_of
from tests.showing.test_passage import cited
from webrag_core.answering.models import (
    Answer,
    AnswerSentence,
    Disagreement,
    Highlight,
    Listed,
    Missing,
    SentenceCitation,
    Spent,
)
from webrag_core.page_text import one_line
from webrag_core.routing.results import TaskError, TaskReport, WalkStep
from webrag_core.showing.elements import ForgottenSentence, Passage, Place, Section, Verdict
from webrag_core.showing.html import render_page
from webrag_core.showing.markdown import render_markdown
from webrag_core.showing.model import render_for_model
from webrag_core.showing.terminal import print_view
from webrag_core.showing.view import view
from webrag_core.showing.wording import FORGOTTEN_SENTENCE

FOREIGN = "words-of-others"
"""Stands in everything that a question, a page or a server says."""


def quote(number: int) -> SentenceCitation:
    return cited(f"Quote {number} of {FOREIGN}.").model_copy(
        update={
            "number": number,
            "url": f"https://site.example/{number}",
            "title": f"Page {number} {FOREIGN}",
            "heading": f"Part {number} > Chapter",
            "sha256": f"{number:064x}"[::-1],
        }
    )


def sentence(ordinal: int, text: str, *numbers: int) -> AnswerSentence:
    return AnswerSentence(
        ordinal=ordinal, text=f"{text} {FOREIGN}.", proof="verbatim", citations=[*numbers], part=0, support=0.9
    )


def task(error: TaskError | None) -> TaskReport:
    return TaskReport(
        iteration=1,
        id="walk",
        agent="pages",
        kind="pages.walk",
        asked=f"read {FOREIGN}",
        status="success" if error is None else "error",
        error=error,
        milliseconds=3,
        passages=4,
        findings=0,
        pages=2,
    )


ANSWERED = Answer(
    answer_id=7,
    question=f"How is tea made, and of what are {FOREIGN}?",
    parts=["How is tea made", f"of what are {FOREIGN}"],
    form="explain",
    composer="a-model",
    status="partial",
    band="low",
    confidence=0.6,
    confidence_note="calibrated on 6 sites",
    final_reason="confidence 60% that these sentences hold the whole answer",
    sentences=[sentence(1, "With hot water", 1), sentence(3, "Two lines\nof code", 2, 4), sentence(4, "In pots", 1)],
    highlights=[],
    citations=[quote(number) for number in (1, 2, 4, 5, 6, 8)],
    missing=[Missing(part=1, text=f"of what are {FOREIGN}", why="below_floor", looked_at=3)],
    disagreements=[Disagreement(sentences=(1, 4), about=f"3 and 4 {FOREIGN}")],
    notes=["from 4 pages"],
    look_next=["https://site.example/next"],
    walk=[WalkStep(round=0, pages=["https://site.example/1"], decision="go_on", reason=f"more of {FOREIGN}")],
    listed=[
        Listed(group=f"Uses of {FOREIGN}", label=f"The label {FOREIGN}", citation=5),
        Listed(group="Changes", label="The other label", citation=1),
    ],
    tasks=[task(TaskError(code="not_found", message=f"no {FOREIGN} here")), task(None)],
    spent=Spent(seconds=1.5, pages=2, rounds=1),
    warnings=[f"a page says {FOREIGN}"],
    evidence_ids=[],
    forgotten_sentences=[2],
    forgotten_citations=[3],
)
SILENT = ANSWERED.model_copy(
    update={
        "status": "not_found",
        "band": "insufficient",
        "sentences": [],
        "listed": [],
        "disagreements": [],
        "look_next": [],
        "walk": [],
        "highlights": [Highlight(citation=number, marks=[(0, 5)]) for number in (8, 6, 5, 4, 2, 1)],
        "forgotten_sentences": [],
        "forgotten_citations": [],
    }
)


def test_a_likely_answer_whose_passage_was_forgotten_says_so() -> None:
    note = "the list goes on: items 4 to 6 stand on removed:ef1f00"
    likely = {"status": "likely", "band": "likely", "highlights": [Highlight(citation=8, marks=[(0, 5)], likely=True)]}
    text = printed(SILENT.model_copy(update={**likely, "notes": [note]}))
    assert "the first passage probably answers (60%" in text
    assert "items 4 to 6 stand on a page that was removed" in text
    gone = {"status": "forgotten", "highlights": [Highlight(citation=6, marks=[(0, 5)])], "forgotten_citations": [8]}
    text = printed(SILENT.model_copy(update={**likely, **gone}))
    assert "The passage that probably answered was removed since" in text
    assert "60%" not in text


def words(markup: str) -> str:
    return one_line(html.document_fromstring(markup).text_content())


def printed(answer: Answer, *, proof: bool = False, show_all: bool = True) -> str:
    file = io.StringIO()
    console = Console(file=file, width=500, color_system=None)
    print_view(view(answer), console, show_all=show_all, proof=proof, more="the command")
    return file.getvalue()


def landmarks(answer: Answer, *, folded: bool) -> list[str]:
    """The words of the elements of an answer in their order; `folded` for how its evidence was gathered, too."""
    found: list[str] = []
    for element in view(answer):
        if isinstance(element, Section):
            if element.key == "gathered" and not folded:
                continue
            found.append(element.heading)
            for item in element.elements:
                match item:
                    case Passage():
                        found += [item.label, *([] if element.key == "evidence" else [item.citation.quote])]
                    case ForgottenSentence():
                        found.append(FORGOTTEN_SENTENCE)
                    case Place():
                        found.append(item.url)
                    case _:
                        found.append(one_line(item.text))
        else:
            found.append(element.text)
    return list(filter(None, found))


def in_order(shown: str, expected: list[str]) -> None:
    position = 0
    for text in expected:
        assert text in shown[position:], (text, shown[position:])
        position = shown.index(text, position) + len(text)


@pytest.mark.parametrize("answer", [ANSWERED, SILENT], ids=["answered", "silent"])
def test_every_medium_shows_every_element_in_one_order(answer: Answer) -> None:
    in_order(one_line(printed(answer)).replace("»", "").replace("«", ""), landmarks(answer, folded=True))
    in_order(words(render_page(answer)), landmarks(answer, folded=True))
    in_order(words(MarkdownIt("commonmark").render(render_markdown(answer))), landmarks(answer, folded=False))
    verdict = next(part for part in view(answer) if isinstance(part, Verdict))
    for shown in (printed(answer), render_page(answer), render_markdown(answer), render_for_model(answer)):
        assert verdict.text in shown
        assert verdict.sureness in shown


@pytest.mark.parametrize("answer", [ANSWERED, SILENT], ids=["answered", "silent"])
def test_every_quote_is_shown_with_its_page_and_its_proof(answer: Answer) -> None:
    for shown in (printed(answer, proof=True), render_page(answer), render_markdown(answer)):
        for citation in answer.citations:
            assert f"{citation.url}#:~:text=" in shown
            assert f"sha256 {citation.sha256[:12]}" in shown
    for citation in answer.citations:
        assert f"[{citation.number}] {citation.url} version 1" in sections_of(render_for_model(answer))["CITATIONS"]


def test_numbers_in_a_page_lead_to_one_quote_each() -> None:
    document = html.document_fromstring(render_page(ANSWERED))
    anchors = document.xpath("//figure/@id")
    assert sorted(anchors) == sorted({f"quote-{citation.number}" for citation in ANSWERED.citations})
    assert {link[1:] for link in document.xpath("//sup/a/@href")} <= {*anchors}


def test_a_label_that_is_the_title_is_shown_once() -> None:
    title = ANSWERED.citation(5).title or ""
    named = ANSWERED.model_copy(update={"listed": [Listed(group="Uses", label=title, citation=5)]})
    in_markdown = words(MarkdownIt("commonmark").render(render_markdown(named)))
    for shown in (printed(named), words(render_page(named)), in_markdown):
        assert shown.count(title) == 1


def test_the_guide_of_a_model_holds_no_words_of_others() -> None:
    for answer in (ANSWERED, SILENT):
        sections = sections_of(render_for_model(answer))
        assert FOREIGN not in sections["PRESENTATION GUIDE"]
        outside = re.sub(r"<page-text (\w+)>.*?</page-text \1>", "", render_for_model(answer), flags=re.DOTALL)
        assert {line[0] for line in outside.splitlines() if FOREIGN in line} <= {"["}  # titles, behind their address
    guide = sections_of(render_for_model(ANSWERED))["PRESENTATION GUIDE"]
    assert "- not answered: part 2 of the question" in guide
    assert "- pages brought nothing: error (not_found)" in guide
    assert "- Sentences 1 and 4 speak of the same and differ" in guide


def test_the_first_passages_are_enough_at_first_sight() -> None:
    listed = [Listed(group=f"Group {place // 8}", label=f"Label {place}", citation=1) for place in range(20)]
    many = ANSWERED.model_copy(update={"listed": listed})
    assert [part.first for part in view(many) if isinstance(part, Section) and part.key == "listed"] == [12, 4, 0]
    short = printed(many, show_all=False)
    assert sum(f"Label {place}\n" in short.replace("  §  Part 1 > Chapter", "") for place in range(20)) == 12
    assert "(4 more: the command)" in short
    silent = printed(SILENT, show_all=False)
    assert silent.count("│ ") == 3
    assert "(3 more: the command)" in silent


def test_without_sentences_the_pages_of_the_nearest_passages_are_where_to_look() -> None:
    [places] = [part for part in view(SILENT) if isinstance(part, Section) and part.key == "next"]
    assert places.elements == tuple(Place(f"https://site.example/{number}") for number in (8, 6, 5))
    walked = SILENT.model_copy(update={"walk": ANSWERED.walk})
    assert not [part for part in view(walked) if isinstance(part, Section) and part.key == "next"]
