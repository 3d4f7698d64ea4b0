"""A quote: made only of characters that are there, proved only by the very same ones."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import REPOSITORY
from webrag_core.corpus.quotes import Quote
from webrag_core.errors import IntegrityError

READ_BACK = {
    "answering/proof/recheck.py",
    "feedback/models.py",
    "history/citations.py",
    "retrieval/models.py",
    "routing/results.py",
}
"""Modules of the core that read quotes back which were stored or shown; all others make them from the text."""
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


def test_quotes_are_made_of_text_or_read_back() -> None:
    core = REPOSITORY / "webrag_core"
    texts = {str(file.relative_to(core)): file.read_text() for file in core.rglob("*.py")}
    calls = {
        name: [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        for name, text in texts.items()
        if "corpus.quotes import Quote" in text
    }
    assert "retrieval/citations.py" in calls
    built = {name for name, nodes in calls.items() if any(ast.unparse(node.func) == "Quote" for node in nodes)}
    assert built == READ_BACK
