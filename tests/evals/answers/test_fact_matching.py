"""Where facts stand: letters count, looks do not, and no fact is part of a word or a number."""

from __future__ import annotations

import pytest

from evals.answers.fact_matching import comparable, first_place, place_of, stands_in


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("45 seconds", "It waits **45&nbsp;seconds**.".replace("&nbsp;", "\u00a0")),
        ("tarnctl check", "Run `tarnctl\n    check` twice."),
        ("--dry-run", "Pass `--dry-run`."),
        ("max_size", "The option *max\\_size* is 3."),
        ("the handbook", "See [the handbook](https://example.org/b_(2))."),
        ("Straße", "AUF DER STRASSE"),
        ("１２ kg", "about 12 kg"),
        ("塔恩", "版本塔恩三"),
        ("4,850", "a battery of 4,850 mAh"),
        ("2.4", "since 2.4."),
    ],
)
def test_the_looks_of_a_fact_do_not_count(fact: str, text: str) -> None:
    assert stands_in(fact, text)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("15", "port 115"),
        ("15", "15.2 litres"),
        ("15", "1,15 litres"),
        ("2.4", "version 2.41"),
        ("2.4", "version 12.4"),
        ("rest", "the forest"),
        ("x200", "the model 3x200"),
        ("**", "anything"),
    ],
)
def test_parts_of_words_and_numbers_are_no_facts(fact: str, text: str) -> None:
    assert not stands_in(fact, text)


def test_a_fact_may_end_within_a_word_and_its_first_wording_counts() -> None:
    text = comparable("Forests rest; the rest restarts.")
    assert place_of("restart", text) == text.index("restarts")
    assert first_place(["restart", "rest"], text) == text.index("rest;")
    assert first_place(["stop"], text) is None
