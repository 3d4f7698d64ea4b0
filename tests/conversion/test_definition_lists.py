"""Definition lists, which the converter library drops, wherever they stand."""

from __future__ import annotations

import lxml.html
import pytest

from tests.conversion.test_html import markdown
from webrag_core.conversion.anchors import AnchorMarks
from webrag_core.conversion.definition_lists import Placeholders, replace_definition_lists
from webrag_core.conversion.html import _convert
from webrag_core.indexing.markdown import parse_blocks


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<dl><dt>a</dt><dd>A</dd><dt>b</dt><dd>B</dd></dl>", "a\n:   A\n\nb\n:   B"),
        ("<dl><dt>a</dt><dt>b</dt><dd>both</dd></dl>", "a, b\n:   both"),
        ("<dl><dt>a</dt><dd>one</dd><dd>two</dd></dl>", "a\n:   one\n:   two"),
        ("<dl><dt>a</dt><dd></dd><dt>b</dt><dd>B</dd></dl>", "a\n\nb\n:   B"),
        ("<dl><dd>alone</dd></dl>", "alone"),
        ("<dl><div><dt>a</dt><dd>A</dd></div><div><dt>b</dt><dd>B</dd></div></dl>", "a\n:   A\n\nb\n:   B"),
        ("<dl>loose<dt>a</dt>between<dd>A</dd>after</dl>", "loose\n\na\n:   between\n:   A\n:   after"),
        ("<dl><dt>a</dt><dd><p>one</p><p>two</p></dd></dl>", "a\n:   one\n\n    two"),
        ("<dl><dt>a</dt><dd>A<pre>x\n\n  y</pre></dd></dl>", "a\n:   A\n\n    ```\n    x\n\n      y\n    ```"),
        ("<dl><dt>a</dt><dd><ul><li>i</li><li>j</li></ul></dd></dl>", "a\n:   - i\n    - j"),
        ("<dl><dt>a</dt><dd>A<dl><dt>b</dt><dd>B</dd></dl>end</dd></dl>", "a\n:   A\n\n    b\n    :   B\n\n    end"),
        ("<ul><li>i<dl><dt>a</dt><dd>A</dd></dl></li></ul>", "- i\n\n  a\n  :   A"),
        ("<ol><li><dl><dt>a</dt><dd>A</dd></dl></li></ol>", "1. a\n   :   A"),
        (
            "<blockquote><p>q</p><dl><dt>a</dt><dd>A<p>B</p></dd></dl></blockquote>",
            "> q\n>\n> a\n> :   A\n>\n>     B",
        ),
        ("<dl><dt><a href='/x'>a</a></dt><dd>A</dd></dl>", "[a](https://example.org/x)\n:   A"),
        ("<dl><dt class='sig'>f(<em>*args</em>, b=`1`)<a>¶</a></dt><dd>A</dd></dl>", "`` f(*args, b=`1`) ``\n:   A"),
    ],
)
def test_definition_lists(html: str, expected: str) -> None:
    assert markdown(html) == expected


def test_in_a_table_the_words_stay() -> None:
    html = "<table><tr><th>A</th><th>B</th></tr><tr><td><dl><dt>a</dt><dd>x</dd></dl></td><td>y</td></tr></table>"
    assert markdown(html).splitlines()[-1] == "| a x | y |"


def test_a_layout_table_gives_its_list_back() -> None:
    assert markdown("<table><tr><td>l</td><td><dl><dt>a</dt><dd>A</dd></dl></td></tr></table>") == "l\n\na\n:   A"


def test_the_parser_reads_them_back() -> None:
    text = markdown("<dl><dt>outer</dt><dd>A<dl><dt>inner</dt><dd><pre>## x</pre></dd></dl></dd></dl>")
    [code] = [block for block in parse_blocks(text) if block.kind == "code"]
    assert code.heading_path == ("outer", "inner")
    assert code.flags == {"code", "definition_list"}


@pytest.mark.parametrize("text", ["a", "term 12", "Two. Three; four: five, six.", "ünï cöde", "漢字 漢字"])
def test_plain_text_needs_no_converter_and_is_what_it_would_give(text: str) -> None:
    asked: list[str] = []
    list_ = lxml.html.fragment_fromstring(f"<dl>{f'<dt>{text}</dt><dd> {text}</dd>' * 50}</dl>", create_parent="div")
    placeholders = Placeholders(lambda html: asked.append(html) or "")  # type: ignore[func-returns-value]
    replace_definition_lists(list_, placeholders, AnchorMarks())
    assert asked == []
    assert _convert(f"<dd> {text}</dd>").strip() == text
    assert markdown(f"<dl><dt>{text}</dt><dd>{text}</dd></dl>") == f"{text}\n:   {text}"


@pytest.mark.parametrize("text", ["1. a", "- a", "# a", "a*b*", "a_b_c", "a  b", "<b>a</b>", "a`b"])
def test_text_that_could_mean_something_goes_through_the_converter(text: str) -> None:
    assert markdown(f"<dl><dt>t</dt><dd>{text}</dd></dl>") == f"t\n:   {_convert(f'<dd>{text}</dd>').strip()}"
