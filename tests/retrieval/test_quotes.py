"""Which sentences of a passage are quoted, always as exact slices."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webrag_core.retrieval.quotes import best_sentences, quote_window, sentence_spans

PASSAGE = "# Tea\n\nTea is old. Green tea is brewed at [eighty degrees](https://a.example). Cups vary.\n"


def quoted(passage: str, query: str, limit: int = 300) -> str | None:
    span = best_sentences(passage, query, limit)
    return None if span is None else span.of(passage)


def test_the_sentence_that_answers_is_quoted_verbatim() -> None:
    assert quoted(PASSAGE, "At how many degrees is green tea brewed?") == (
        "Green tea is brewed at [eighty degrees](https://a.example)."
    )


@pytest.mark.parametrize(
    ("passage", "query", "expected"),
    [
        ("```\nx = 1\ny = brew(tea)\n```", "brew tea", "y = brew(tea)"),
        ("- one\n- brew the tea\n", "brew tea", "brew the tea"),
        ("| Tea | 80 |\n| Coffee | 95 |", "coffee", "Coffee | 95 |"),
        ("---", "tea", None),
        ("", "tea", None),
    ],
)
def test_code_lists_and_tables(passage: str, query: str, expected: str | None) -> None:
    assert quoted(passage, query) == expected


def test_a_sentence_without_end_is_cut_at_a_word() -> None:
    quote = quoted("tea " * 5_000, "tea")
    assert quote is not None
    assert len(quote) <= 300
    assert quote.endswith("tea")


def test_the_window_lies_around_the_best_sentence() -> None:
    passage = "Filler words stand here. " * 80 + "The default argument is evaluated once. " + "More filler. " * 80
    window = quote_window(passage, "when is a default argument evaluated?", 400)
    assert window.highlight is not None
    assert window.highlight.of(passage) == "The default argument is evaluated once."
    assert window.shown.start <= window.highlight.start < window.highlight.end <= window.shown.end
    assert window.shown.end - window.shown.start <= 470
    assert window.shown.of(passage).startswith("Filler words stand here. ")
    assert quote_window(PASSAGE, "tea").shown.of(PASSAGE) == PASSAGE


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab. \n#-*`|!?é漢。", max_size=400), st.sampled_from(["a b", "é", "漢", "zzz"]))
def test_spans_are_ordered_slices(text: str, query: str) -> None:
    position = 0
    for span in sentence_spans(text):
        assert position <= span.start < span.end <= len(text)
        position = span.end
    window = quote_window(text, query, 50)
    assert 0 <= window.shown.start <= window.shown.end <= len(text)
    if window.highlight is not None:
        assert window.shown.start <= window.highlight.start
        assert window.highlight.end <= window.shown.end
