"""A stored page as HTML: the quote is marked, nothing of the page is markup, nothing loads."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html

from webrag_core.web.page_html import page_html
from webrag_core.web.stored_page import part_around, part_from

PAGE = """# Title <script>alert(1)</script>

Some *text* with [a link](https://x.org/a_(b)) and [bad](javascript:alert(1)) ![a cat](https://t.co/x.png) `code <b>`.

<div onclick="x()">raw</div>

Term
:   **Return** the greatest `x` of it.

| a | b |
|---|--:|
| 1 | <i>2</i> |

```python
a = 1
b = 2
```

- one
- two _three_ &lt;
"""
TAGS = set(
    [
        "h3",
        "h4",
        "h5",
        "h6",
        "p",
        "em",
        "strong",
        "a",
        "span",
        "code",
        "pre",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "div",
        "mark",
    ]
)
TAGS |= {"blockquote", "hr", "br"}
ATTRIBUTES = {"href", "rel", "target", "class", "id", "role", "aria-label", "tabindex", "start"}


def words(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def marked(markdown: str, quote: str) -> str:
    start = markdown.index(quote)
    shown = page_html(markdown, [(start, start + len(quote))])
    assert shown.is_marked
    tree = lxml_html.fromstring(f"<div>{shown.html}</div>")
    assert tree.xpath("//mark[1]")[0].get("id") == "quote"
    return words(" ".join(mark.text_content() for mark in tree.iter("mark")))


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("Some *text* with [a link](https://x.org/a_(b))", "Some text with a link"),
        ("[a link](https://x.org/a_(b)) and", "a link and"),
        ("**Return** the greatest `x`", "Return the greatest x"),
        ("Term\n:   **Return** the greatest `x` of it.\n\n| a | b |", "Term Return the greatest x of it. a b"),
        ("| 1 | <i>2</i> |", "1 <i>2</i>"),
        ("```python\na = 1\n", "a = 1"),
        ("a = 1\nb = 2\n```", "a = 1 b = 2"),
        ("- two _three_", "two three"),
        ("# Title <script>alert(1)</script>", "Title <script>alert(1)</script>"),
        ("_three_", "three"),
        ("code <b>", "code <b>"),
    ],
)
def test_the_quote_is_marked_where_it_stands(quote: str, text: str) -> None:
    assert marked(PAGE, quote) == text


def test_what_is_not_shown_cannot_be_marked() -> None:
    start = PAGE.index("https://x.org")
    shown = page_html(PAGE, [(start, start + 5)])
    assert not shown.is_marked
    assert "<mark" not in shown.html


def test_several_spans() -> None:
    spans = [(start := PAGE.index(quote), start + len(quote)) for quote in ("- one", "Some", "**Return** the")]
    tree = lxml_html.fromstring(f"<div>{page_html(PAGE, spans).html}</div>")
    assert [mark.text for mark in tree.iter("mark")] == ["Some", "Return", " the", "one"]


def check_safe(html: str) -> None:
    tree = lxml_html.fromstring(f"<div>{html}</div>")
    for element in tree.iterdescendants():
        assert element.tag in TAGS, element.tag
        assert set(element.keys()) <= ATTRIBUTES, element.keys()
        if element.get("href") is not None:
            assert element.get("href").startswith(("http://", "https://"))


def test_nothing_of_the_page_is_markup() -> None:
    html = page_html(PAGE).html
    check_safe(html)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "javascript:" in html  # as text: it is no link
    assert "t.co" not in html  # images load nothing


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="ab <>\"'&`*_[]()!|:#-\n\\/:.ijs1\u202e\x00\r", max_size=60), st.data())
def test_any_text_is_safe(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    check_safe(page_html(text, [(start, end)]).html)


def test_parts_cover_the_page_and_hold_the_quote() -> None:
    text = "\n\n".join(f"# Part {number}\n\n" + "Words of it. " * 400 for number in range(20))
    position, parts = 0, 0
    while position is not None:
        part = part_from(text, position)
        assert part.start == position
        assert (part.before is None) == (position == 0)
        parts += 1
        following = part.after
        assert following is not None or part.end == len(text)
        position = following  # type: ignore[assignment]
    assert parts > 3
    start = text.index("# Part 11") + 10
    around = part_around(text, [(start, start + 20)], 100)
    assert around.quote == ""
    assert around.start <= start < start + 20 <= around.end
    assert around.end - around.start < 12_000


def test_a_part_that_begins_in_a_definition_is_no_code() -> None:
    inner = "".join(f"    `step{number}()`\n    :   Do step {number} of *many*, with care.\n\n" for number in range(80))
    text = f"class Queue\n:   A queue.\n\n{inner}End\n:   The end.\n"
    start = text.index("Do step 40")
    part = part_around(text, [(start, start + 10)], 300)
    assert part.start > 0
    tree = lxml_html.fromstring(f"<div>{part.html}</div>")
    assert [mark.text for mark in tree.iter("mark")] == ["Do step 40"]
    assert not list(tree.iter("pre"))
    assert len(list(tree.iter("dt"))) > 4


@pytest.mark.slow
@pytest.mark.parametrize("atom", ["|", " ", "_", "`", "[", "](", "![[](", "| a ", "a:\n:   b\n\n", "[](a)", "<"])
def test_a_long_run_of_marks_is_shown_in_parts_of_bounded_length_and_time(atom: str) -> None:
    text = (atom * 130_000)[:130_000]
    place, parts = 0, 0
    begun = time.thread_time()
    part = part_around(text, [(300, 130_000)], 10_000)
    assert part.end - part.start <= 60_000
    while place is not None and parts < 2:
        part = part_from(text, place)
        assert part.start <= place < part.end <= part.start + 60_000
        place, parts = part.after, parts + 1
    assert time.thread_time() - begun < 20.0


def test_a_part_within_a_long_block_is_shown_as_it_is_written_with_its_quote() -> None:
    text = "# A\n\n```\n" + "x = 1 # <b>\n" * 20_000 + "```\n"
    start = text.index("x", 150_000)
    part = part_around(text, [(start, start + 5)], 100)
    assert part.quote == ""
    assert '<mark id="quote">x = 1</mark> # &lt;b&gt;' in part.html
    assert start - 60_000 <= part.start <= start - 100
    assert part.before is not None
    assert part.before < part.start


@pytest.mark.parametrize("address", ["http://user@[::g]/", "http://[", "https://]", "//[a", "http://a:b:c@[1]"])
def test_a_malformed_address_costs_its_link_alone(address: str) -> None:
    html = page_html(f"Before [the words]({address}) and [more](https://tea.example/).").html
    assert "the words" in html
    assert 'href="https://tea.example/"' in html
