"""Operations have the parameters of what they run, and refuse the rest in words for people."""

from __future__ import annotations

from dataclasses import fields

import pytest
from starlette.datastructures import QueryParams

from webrag_core.application.inputs import Operation
from webrag_core.application.operations import Ask, GatherEvidence, RecordFeedback, Search
from webrag_core.application.reading import Changes, Compare, History, ListAnswers
from webrag_core.config import Settings
from webrag_core.errors import FetchError, GuardrailsViolationError, InvalidInputError
from webrag_core.orchestration.request import AnswerRequest
from webrag_core.routing.question import Question
from webrag_core.sync import AnswerOptions, QuestionOptions
from webrag_core.web.searching import SearchForm

START = "https://tea.example/"


def test_an_operation_has_each_parameter_of_what_it_runs_with_its_default() -> None:
    """A parameter that is added to one and forgotten in the other would be lost on the way from a face."""
    question = Ask.of(question="Which tea?").as_question()
    assert question == Question("Which tea?")
    looked_up = {"earlier", "wording"}  # of the answer that is followed
    assert {"text" if name == "question" else name for name in Ask.model_fields} | looked_up == {
        one.name for one in fields(Question)
    }
    assert Ask.model_fields.keys() - {"question"} == QuestionOptions.__annotations__.keys()
    request = GatherEvidence.of(urls=[START], question="Which tea?").as_request(Settings())
    assert request == AnswerRequest((START,), "Which tea?")
    assert GatherEvidence.model_fields.keys() == {parameter.name for parameter in fields(AnswerRequest)}
    assert GatherEvidence.model_fields.keys() - {"urls", "question"} == AnswerOptions.__annotations__.keys()


@pytest.mark.parametrize(
    ("operation", "given", "words"),
    [
        (Ask, {"question": "Which tea?", "colour": "green"}, "colour"),
        (Ask, {"question": "Which tea?", "expansion_budget": -1}, "expansion_budget"),
        (Ask, {"question": "Which tea?", "form": "poem"}, "form"),
        (Ask, {"question": "Which tea?", "sources": ["x"] * 1_001}, "sources: too many; 1,000 at most"),
        (Ask, {"question": "Which tea?", "at": "2" * 51}, "at: too many characters; 50 at most"),
        (GatherEvidence, {"urls": [], "question": "Which tea?"}, "urls"),
        (GatherEvidence, {"urls": [START], "question": "x" * 10_001}, "question: too many characters; 10,000 at most"),
        (
            GatherEvidence,
            {"urls": [START], "question": "Which tea?", "constraints": ["x"] * 21},
            "constraints: too many; 20",
        ),
        (Search, {"question": "tea", "top_k": 51}, "top_k"),
        (Search, {"question": "tea", "types": ["video"]}, "no such document type: video; there are html"),
        (ListAnswers, {"limit": 201}, "limit"),
        (History, {"url": "x" * 8_193}, "url: too many characters; 8,192 at most"),
        (Compare, {"url": START, "before": "2" * 51}, "before: too many characters; 50 at most"),
        (Changes, {"target": "tea.example", "offset": -1}, "offset: cannot be negative"),
        (RecordFeedback, {"answer": 0, "kind": "helpful"}, "answer"),
        (RecordFeedback, {"answer": 1, "kind": "praise"}, "kind"),
    ],
)
def test_what_is_out_of_bounds_is_refused_by_name(
    operation: type[Operation], given: dict[str, object], words: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        operation.of(**given)
    assert words in caught.value.message


@pytest.mark.parametrize("below", ["Tea.Example/green", "https://tea.example/green"])
def test_a_search_below_an_address_is_the_same_from_the_page_and_from_rest(below: str) -> None:
    form = SearchForm.read(QueryParams({"q": "tea", "below": below, "since": "2024"}))
    rest = Search.of(question="tea", urls=[below], since="2024", top_k=50)
    assert form.search().as_request() == rest.as_request()


def test_what_cannot_be_meant_is_refused_before_anything_runs() -> None:
    with pytest.raises(InvalidInputError, match="time needs at"):
        Ask.of(question="Which tea?", time="valid").as_question()
    with pytest.raises(InvalidInputError, match="give either"):
        Ask.of(question="Which tea?", at="2024", years=(2023,)).as_question()
    with pytest.raises(InvalidInputError, match="max_age is about pages"):
        Ask.of(question="Which tea?", max_age=60.0).as_question()
    with pytest.raises(InvalidInputError, match="year must be"):
        Ask.of(question="Which tea?", years=(0,)).as_question()
    with pytest.raises(InvalidInputError, match=r"^since: 'soon' is not a date"):
        Ask.of(question="Which tea?", since="soon").as_question()
    with pytest.raises(InvalidInputError, match="at: 'soon'"):
        Ask.of(question="Which tea?", at="soon").as_question()
    with pytest.raises(InvalidInputError, match="time needs at"):
        History.of(url=START, time="valid").check()
    with pytest.raises(FetchError, match="not an absolute URL"):
        History.of(url="tea", at="2024").check()
    with pytest.raises(InvalidInputError, match=r"^until: 'soon' is not a date"):
        Changes.of(target="tea.example", until="soon").check()
    with pytest.raises(GuardrailsViolationError):
        Ask.of(question="a tea " * 2_000).as_question()
    with pytest.raises(InvalidInputError, match="30 at most"):
        GatherEvidence.of(urls=[START] * 31, question="Which tea?").as_request(Settings())
