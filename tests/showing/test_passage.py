"""Quotes as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from webrag_core.answering.models import Highlight, SentenceCitation
from webrag_core.showing.passage import Line, passage, passage_line


def cited(quote: str, before: str = "", after: str = "") -> SentenceCitation:
    return SentenceCitation(
        number=1,
        url="https://site.example/",
        title=None,
        heading=None,
        version=1,
        version_sha256="",
        char_start=len(before),
        char_end=len(before) + len(quote),
        quote=quote,
        sha256="",
        before=before,
        after=after,
        seen_at=datetime(2026, 1, 1, tzinfo=UTC),
        current=True,
    )


def texts(quote: str) -> list[str]:
    return [f"{line.item} {line.text}" if line.item else line.text for line in passage(cited(quote))]


@pytest.mark.parametrize(
    ("quote", "lines"),
    [
        (
            ":   Return the *n* largest of `heap[*]`.\n\n    New in version 2.",
            ["Return the n largest of heap[*].", "New in version 2."],
        ),
        ("A product is 2 * 3 * 4 and a key is a ` sign.", ["A product is 2 * 3 * 4 and a key is a ` sign."]),
        ("## Queues\nText that is\nwrapped [in a\nlink](x.html).", ["Queues", "Text that is wrapped in a link."]),
        ("- one\n- **two**\n\n  and more", ["• one", "• two", "and more"]),
        ("3. Then [call](x) it.", ["3. Then call it."]),
        ("| elem[n] | Returns *n*. |\n|---|:-:|\n| a \\| b | |", ["elem[n] – Returns n.", "a | b –"]),
        ("> Quoted\n> twice", ["Quoted", "twice"]),
        ("Do:\n\n```python\n    a = b * c\n\n      d = *e\n```\n\nThen.", ["Do:", "a = b * c", "  d = *e", "Then."]),
        ("x = a * b\n```\nAfter it *all*.", ["x = a * b", "After it all."]),
        ("A text.\n\n```\ny = a * b", ["A text.", "y = a * b"]),
        ("![A picture](a.png) Words\u202e of it.", ["Words of it."]),
    ],
)
def test_marks_of_markdown_are_read(quote: str, lines: list[str]) -> None:
    assert texts(quote) == lines


def test_the_likeliest_sentences_are_marked() -> None:
    quote = ":   *First. Second* one. Third.\n\n    Fourth."
    start, end = quote.index("Second"), quote.index(" Third")
    shown = Highlight(citation=1, marks=[(start, end), (quote.index("Fourth"), len(quote))])
    first, second = passage(cited(quote), shown)
    assert first == Line((("quote", "First. "), ("marked", "Second one."), ("quote", " Third.")))
    assert second == Line((("marked", "Fourth."),))


def test_a_mark_over_several_lines_goes_on() -> None:
    lines = passage(cited("One.\n\nTwo.\n\n```\ncode\n```\n\nThree."))
    assert [line.pieces[0][0] for line in lines] == ["marked"] * 4
    assert [line.code for line in lines] == [False, False, True, False]


def test_what_stands_around_is_told_apart() -> None:
    [line] = passage(cited("The *quote.*", before="- Before [it](x.html). ", after=" After."), around=True)
    assert line.item == "•"
    assert line.pieces == (("around", "Before it. "), ("marked", "The quote."), ("around", " After."))
    [line] = passage(cited("A *quote* begins* in emphasis", before="*So. ", after=" of old."), around=True)
    assert line.text == "So. A quote begins in emphasis of old."


def test_rows_around_a_row() -> None:
    lines = passage(cited("| b | 2 |", before="| a | 1 |\n", after="\n| c | 3 |"), around=True)
    assert [line.pieces for line in lines] == [
        (("around", "a – 1"),),
        (("marked", "b – 2"),),
        (("around", "c – 3"),),
    ]


def test_a_passage_on_one_line_has_no_marks() -> None:
    table = "| | [`hashlib`](https://site.example/hashlib.html) | *Secure hash.* |\n| --- | --- | --- |"
    assert passage_line(table) == "hashlib – Secure hash."
    assert passage_line("- if concatenating `str` objects") == "• if concatenating str objects"
