"""A quote: made only of characters that are there, proved only by the very same ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.corpus.quotes import Quote
from webrag_core.errors import IntegrityError

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_a_quote_proves_its_text_and_no_other(before: str, words: str, after: str, other: str) -> None:
    text, start, end = before + words + after, len(before), len(before) + len(words)
    if not words:
        with pytest.raises(IntegrityError):
            Quote.of(text, 1, start, end)
        return
    quote = Quote.of(text, 1, start, end)
    assert quote.words(text) == words
    assert quote.proves(text)
    assert quote == Quote.of(words + after, 1, start, end, offset=start), "a part of the text gives the same quote"
    assert quote.proves(before + other + after) == ((other + after).startswith(words))
    assert quote.reads(other) == (other == words)
    assert not quote.proves(None)


@pytest.mark.parametrize(
    ("start", "end", "offset"), [(-1, 2, 0), (2, 2, 0), (3, 2, 0), (0, 5, 0), (1, 3, 2), (5, 7, 2)]
)
def test_what_does_not_lie_in_the_text_cannot_be_quoted(start: int, end: int, offset: int) -> None:
    with pytest.raises(IntegrityError, match="lies outside"):
        Quote.of("text", 1, start, end, offset=offset)
