"""Text overlap: directed, blind to markup, and the fast selection equals the plain definition."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.retrieval import redundancy
from webrag_core.retrieval.redundancy import redundant_indices, text_overlap

LONG = "A task group waits for all of its tasks and cancels the others when one of them fails with an exception."
SHORT = "waits for all of its tasks"


@pytest.mark.parametrize(
    ("text", "other", "overlap"),
    [
        (LONG, LONG, 1.0),
        (LONG.upper(), f"**{LONG}**", 1.0),
        (SHORT, LONG, 1.0),
        ("one two three four", "one two three five", 0.5),
        ("one two three", "three two one", 0.0),
        ("two words", "Two words!", 1.0),
        ("two words", "two words more", 0.0),
        ("", LONG, 0.0),
        ("", "", 0.0),
        ("***", "***", 0.0),
    ],
)
def test_overlap(text: str, other: str, overlap: float) -> None:
    assert text_overlap(text, other) == overlap


def test_a_long_text_is_not_covered_by_a_quote_of_it() -> None:
    assert text_overlap(LONG, SHORT) < 0.5
    assert redundant_indices([SHORT, LONG], 0.85) == []
    assert redundant_indices([LONG, SHORT], 0.85) == [1]


def test_a_dropped_text_covers_nothing() -> None:
    a, b, c = "1 2 3 4 5 6", "2 3 4 5 6 7", "3 4 5 6 7 8"
    assert redundant_indices([a, b, c], 0.75) == [1]


@pytest.mark.parametrize("texts", [[], [LONG], ["", ""], ["", "a", "."]])
def test_nothing_to_compare(texts: list[str]) -> None:
    assert redundant_indices(texts, 0.0) == []


word = st.sampled_from(["task", "group", "Waits", "a", "*b*", "é", "\u2028"])
text = st.lists(word, max_size=9).map(" ".join)


@given(st.lists(text, max_size=7), st.sampled_from([0.0, 0.25, 0.5, 0.85, 1.0]))
def test_selection_equals_the_definition(texts: list[str], ceiling: float) -> None:
    kept: list[str] = []
    expected = []
    for index, candidate in enumerate(texts):
        overlap = max((text_overlap(candidate, other) for other in kept), default=0.0)
        if overlap > 0 and overlap >= ceiling:
            expected.append(index)
        else:
            kept.append(candidate)
    assert redundant_indices(texts, ceiling) == expected


@given(text, text)
def test_overlap_is_a_share(a: str, b: str) -> None:
    assert 0.0 <= text_overlap(a, b) <= 1.0


def test_every_text_is_split_once_however_many_pairs_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(7)
    vocabulary = [f"word{n}" for n in range(3000)]
    chunks = [" ".join(rng.choices(vocabulary, k=570)) for _ in range(60)]
    split: list[str] = []
    hashes = redundancy._word_hashes
    monkeypatch.setattr(redundancy, "_word_hashes", lambda text: [split.append(text), hashes(text)][1])
    assert redundant_indices(chunks, 0.85) == []
    assert split == chunks


@given(st.text())
def test_words_are_what_lies_between_spaces_and_punctuation_in_any_case(text: str) -> None:
    words = text.lower().translate(str.maketrans(string.punctuation, " " * len(string.punctuation))).split()
    hashes = redundancy._word_hashes(text)[: len(words)]
    assert len({*zip(words, hashes.tolist(), strict=True)}) == len(set(words)) == len(set(hashes.tolist()))
