"""Judge an answer by its key: whether the fact that was asked for is said, and nothing contrary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from evals.answers.fact_matching import comparable, first_place, place_of
from evals.answers.given_answer import GivenAnswer
from evals.answers.keys import AnswerKey

Verdict = Literal[
    "right",
    "partly",
    "wrong",
    "wrong at low",
    "refused though there",
    "refused rightly",
    "answered although unanswerable",
    "failed",
]
"""Right: all facts, nothing contrary. Partly: some of them, nothing contrary. Wrong: none, or something contrary, with
band medium or high, else wrong at low. Failed: the question ended with an error, which is no refusal."""

SURE_BANDS = ("high", "medium")

_PARAGRAPH = " ¶ "
_MORE = re.compile(
    r"\b(?:step|item|entr(?:y|ie)|name)s? \d+ (?:to|–|-) \d+"
    r"|\b\d+ (?:more|further|others?|of \d+)\b"
    r"|\b(?:the rest|remaining|goes on)\b",
    re.IGNORECASE,
)
"""How an answer says that a list has more than it gives."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and what it rests on.

    `said` of `facts` facts are in the sentences. `contrary` are the values of look-alikes that are said as if they were
    asked for, `labelled` those beside the name of what they belong to. `first` is whether the first sentence holds the
    first fact. Where no sentence is said: `first_passage` is whether the first passage shown holds all facts,
    `passages` whether the first three do together.
    """

    verdict: Verdict
    said: int
    facts: int
    contrary: tuple[str, ...] = ()
    labelled: tuple[str, ...] = ()
    first: bool = False
    first_passage: bool = False
    passages: bool = False


def judge(key: AnswerKey, answer: GivenAnswer) -> Judgement:
    """The verdict on an answer to the question of a key."""
    sentences = [comparable(sentence) for sentence in answer.claims]
    places = _places(key, _PARAGRAPH.join(answer.claims))
    contrary, labelled = _contraries(key, sentences)
    shown = [] if sentences or not key.answerable else [quote.passage for quote in answer.shown]
    return Judgement(
        verdict=_verdict(key, answer, places, contrary=bool(contrary)),
        said=sum(place is not None for place in places),
        facts=len(places),
        contrary=tuple(contrary),
        labelled=tuple(labelled),
        first=bool(sentences and key.must) and first_place(key.must[0], sentences[0]) is not None,
        first_passage=_holds_all(key, shown[:1]),
        passages=_holds_all(key, shown),
    )


def _verdict(key: AnswerKey, answer: GivenAnswer, places: Sequence[int | None], *, contrary: bool) -> Verdict:
    if answer.status == "failed":
        return "failed"
    if not key.answerable:
        return (
            "answered although unanswerable" if answer.claims and not _says_unknown(key, answer) else "refused rightly"
        )
    if not answer.claims:
        return "refused though there"
    if not contrary and _complete(key, answer, places):
        return "right"
    if not contrary and any(place is not None for place in places):
        return "partly"
    return "wrong" if answer.band in SURE_BANDS else "wrong at low"


def _places(key: AnswerKey, text: str) -> list[int | None]:
    """For each fact where it first stands."""
    plain = comparable(text)
    return [first_place(fact, plain) for fact in key.must]


def _holds_all(key: AnswerKey, passages: Sequence[str]) -> bool:
    return bool(passages) and None not in _places(key, _PARAGRAPH.join(passages))


def _contraries(key: AnswerKey, sentences: Sequence[str]) -> tuple[list[str], list[str]]:
    """The values of look-alikes that the sentences (comparable) state: as if asked for, and labelled in every sentence
    that states them."""
    bare: list[str] = []
    labelled: list[str] = []
    for entry in key.must_not:
        stating = [sentence for sentence in sentences if place_of(entry.value, sentence) is not None]
        if stating:
            named = all(first_place(entry.labels, sentence) is not None for sentence in stating)
            (labelled if named else bare).append(entry.value)
    return bare, labelled


def _complete(key: AnswerKey, answer: GivenAnswer, places: Sequence[int | None]) -> bool:
    results = [place for place in places if place is not None]
    text = comparable(_PARAGRAPH.join(answer.claims))
    if any(place_of(name, text) is None for name in key.named):
        return False
    if key.ordered and any(first > other for first, other in pairwise(results)):
        return False
    if len(results) == len(places):
        return True
    begun = None not in places[: len(results)]  # a gap is no beginning of a list
    return key.or_first is not None and len(results) >= key.or_first and begun and _says_more(answer)


def _says_more(answer: GivenAnswer) -> bool:
    return any(_MORE.search(words) for words in answer.words)


def _says_unknown(key: AnswerKey, answer: GivenAnswer) -> bool:
    """Whether an unsure answer says itself that the name in the question is not stored."""
    if key.unknown is None or answer.band != "low":
        return False
    return any(place_of(key.unknown, comparable(note)) is not None for note in answer.notes)
