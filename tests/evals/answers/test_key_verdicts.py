"""Verdicts on answers by their keys, and the keys that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evals.answers.given_answer import GivenAnswer
from evals.answers.key_verdicts import Judgement, judge
from evals.answers.keys import AnswerKey, load_keys
from webrag_core.errors import InvalidInputError

PORT: dict[str, Any] = {
    "id": "port",
    "site": "tarn",
    "kind": "value",
    "q": "What port does Tarn 2.4 listen on?",
    "answerable": True,
    "must": [["7443"]],
    "must_not": [["7010", "1.8"], "9555"],
    "ordered": False,
    "page": "docs/2.4.html",
}
STEPS = PORT | {"must": [["Stop"], ["Copy"], ["Start"], ["Check"]], "must_not": [], "ordered": True, "or_first": 2}
PAIR = PORT | {"must": [["212 g"], ["198 g"]], "must_not": [], "named": ["X200", "X210"]}
NOWHERE = PORT | {"answerable": False, "must": [], "must_not": [], "page": None, "unknown": "2.9"}


def judged(key: dict[str, Any], *sentences: str, band: str = "high", **fields: Any) -> Judgement:
    """The judgement of an answer that says these sentences, or none."""
    answer = {
        "status": "answered" if sentences else "not_found",
        "band": band if sentences else "insufficient",
        "confidence": 0.9 if sentences else 0.3,
        "sentences": [{"text": text, "citations": []} for text in sentences],
        **fields,
    }
    return judge(AnswerKey.model_validate(key), GivenAnswer.model_validate(answer))


@pytest.mark.parametrize(
    ("key", "sentences", "band", "verdict"),
    [
        (PORT, ["It listens on port 7443."], "low", "right"),
        (PORT, ["It listens on port 7443.", "Tarn 1.8 listens on 7010."], "high", "right"),
        (PORT, ["It listens on port 7443.", "Port 7010 is free."], "high", "wrong"),
        (PORT, ["It listens on port 7443, not on 9555."], "low", "wrong at low"),
        (PORT, ["It listens on a port."], "medium", "wrong"),
        (PORT, ["It listens on a port."], "low", "wrong at low"),
        (PORT, [], "high", "refused though there"),
        (STEPS, ["Stop it.", "Copy it.", "Start it.", "Check it."], "high", "right"),
        (STEPS, ["Copy it.", "Stop it.", "Start it.", "Check it."], "high", "partly"),
        (STEPS, ["Stop it.", "Copy it."], "high", "partly"),
        (STEPS, ["Stop it.", "Copy it.", "Steps 3 to 4 are on the page."], "high", "right"),
        (STEPS, ["Stop it.", "Start it.", "2 more."], "high", "partly"),
        (PAIR, ["The X200 weighs 212 g, the X210 198 g."], "high", "right"),
        (PAIR, ["They weigh 212 g and 198 g."], "high", "partly"),
        (PAIR, ["The X200 weighs 212 g."], "high", "partly"),
        (NOWHERE, [], "high", "refused rightly"),
        (NOWHERE, ["It listens on port 7443."], "low", "answered although unanswerable"),
    ],
)
def test_each_verdict(key: dict[str, Any], sentences: list[str], band: str, verdict: str) -> None:
    assert judged(key, *sentences, band=band).verdict == verdict


def test_an_unsure_answer_that_says_what_it_does_not_know_is_a_refusal() -> None:
    notes = ["Nothing stored names 2.9."]
    assert judged(NOWHERE, "2.4 listens on 7443.", band="low", notes=notes).verdict == "refused rightly"
    assert judged(NOWHERE, "2.4 listens on 7443.", notes=notes).verdict == "answered although unanswerable"
    assert judged(STEPS, "Stop it.", "Copy it.", notes=["2 of 4 steps are left out"]).verdict == "right"


def test_what_a_verdict_rests_on() -> None:
    found = judged(PORT, "Tarn has ports.", "It is 7443.", "Tarn 1.8 has 7010.")
    assert found == Judgement("right", said=1, facts=1, labelled=("7010",))
    assert judged(PORT, "It is 7443, or 9555.") == Judgement("wrong", said=1, facts=1, contrary=("9555",), first=True)
    assert judged(NOWHERE | {"unknown": None}, status="failed").verdict == "failed", "an error is no refusal"


def test_passages_count_where_no_sentence_is_said() -> None:
    quotes = [
        {"number": 1, "url": "https://tarn.example/a", "title": None, "heading": None, "quote": "Ports are numbers."},
        {"number": 2, "url": "https://tarn.example/b", "title": "2.4", "heading": "Port", "quote": "It is 7443."},
    ]
    likely, near = [{"text": "It is 7443.", "citation": 2}], [{"citation": 1, "marks": []}, {"citation": 2}]
    first = judged(PORT, status="likely", likely=likely, nearest=near[:1], citations=quotes)
    assert (first.verdict, first.first_passage, first.passages) == ("refused though there", True, True)
    second = judged(PORT, highlights=near, citations=quotes)
    assert (second.first_passage, second.passages) == (False, True)
    said = judged(PORT, "It is 7443.", status="likely", band="low", likely=likely, citations=quotes)
    assert said.verdict == "refused though there", "what is merely likely says no sentence"
    assert not judged(NOWHERE, highlights=near, citations=quotes).passages


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"must": []}, "an answerable question needs facts"),
        ({"answerable": False}, "any other has none"),
        ({"must": [[]]}, "must.0: "),
        ({"must": [["**"]]}, "must.0.0: "),
        ({"must_not": [[]]}, "must_not.0"),
        ({"must": [["port 9555"]]}, "no answer can be right: '9555'"),
        ({"or_first": 2}, "`or_first` is 2 of 1 facts"),
        ({"unknown": "2.9"}, "questions that nothing answers"),
        ({"musst_not": []}, "musst_not: Extra inputs"),
        ({"q": 3}, "q: Input should be a valid string"),
    ],
)
def test_keys_that_cannot_be_used_are_named_with_their_line(
    tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    file = tmp_path / "answers-tarn.jsonl"
    file.write_text(f"{json.dumps(PORT)}\n\n{json.dumps(PORT | {'id': 'other'} | changes)}\n")
    with pytest.raises(InvalidInputError, match=r"answers-tarn\.jsonl:3 is not an answer key: ") as raised:
        load_keys(file)
    assert problem in raised.value.message
