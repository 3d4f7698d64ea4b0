"""Markdown and HTML remnants as a model reads them."""

from __future__ import annotations

import pytest

from webrag_core.showing.reading import readable, slice_of, wants_links, without_html


def test_links_cost_their_words_only() -> None:
    text = "Use [`run()`](https://a.example/x_(y)#z) and ![a tree](https://a.example/t.png), not `[a](b)`."
    assert readable(text) == "Use `run()` and (image: a tree), not `[a](b)`."
    assert readable(text, links=True).startswith("Use `run()` (https://a.example/x_(y)#z) and (image")


@pytest.mark.parametrize(
    ("query", "wanted"), [("What is the download URL?", True), ("Where is it?", True), ("How fast is it?", False)]
)
def test_addresses_stay_where_they_are_asked_for(query: str, wanted: bool) -> None:
    assert wants_links(query) is wanted


def test_lists_cost_no_blank_lines() -> None:
    assert readable("Do:\n\n- a\n\n- b\n\n  1. c\n\n  2. d\n\nThen") == "Do:\n\n- a\n- b\n  1. c\n  2. d\n\nThen"


def test_code_stays_as_it_is() -> None:
    code = "```python\nx = a[0](b) # \\* <b>\n```"
    assert readable(code) == code
    assert readable("~~~\n[a](b)\n```\n[a](b)\n~~~\n[a](b)") == "~~~\n[a](b)\n```\n[a](b)\n~~~\na"


def test_a_passage_from_within_code_is_code() -> None:
    text = "words\n\n```python\nfirst()\nsecond[0](x)\n```\n\nmore [a](b)"
    start = text.index("second")
    assert slice_of(text, start, text.index("\n```\n", start)) == "```python\nsecond[0](x)"
    assert readable(slice_of(text, start, len(text))) == "```python\nsecond[0](x)\n```\n\nmore a"
    assert readable("```\nnever closed") == "```\nnever closed\n```"
    assert slice_of(text, text.index("more"), len(text)) == "more [a](b)"


def test_stray_tags_go_and_angle_brackets_that_are_none_stay() -> None:
    assert without_html('a<br>b <sup>2</sup> <img src=x alt="a tree"> &lt;') == "a\nb 2 (image: a tree) &lt;"
    assert without_html("List<String> x < y, a <T> b") == "List<String> x < y, a <T> b"
    assert without_html("<dl><dt>Tea</dt><dd>A drink</dd></dl>").split() == ["Tea", "A", "drink"]
