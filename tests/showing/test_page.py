"""An answer as HTML and as Markdown: page text is data, and no mark of the page is left in it."""

from __future__ import annotations

import io

from markdown_it import MarkdownIt
from rich.console import Console

from tests.showing.test_passage import cited
from webrag_core.answering.models import Answer, Highlight, SentenceCitation, Spent
from webrag_core.showing.console import print_passage
from webrag_core.showing.html import marked, render_page
from webrag_core.showing.markdown import render_markdown
from webrag_core.showing.passage import passage

QUOTE = (
    'A **bold** word, a [link](https://evil.example/ "x") and `co|de`. Then <script>alert(1)</script> *this*.\n\n'
    "```python\nx = a * b\n```\n\n| a | b |\n|---|---|\n| [c](d.html) | 2 * 3 |"
)


def silent(citation: SentenceCitation, marks: list[tuple[int, int]]) -> Answer:
    return Answer(
        question="What is it?",
        parts=["What is it?"],
        form="explain",
        status="not_found",
        band="insufficient",
        confidence=0.499,
        confidence_note="calibrated on 6 sites",
        final_reason="no answer is given",
        sentences=[],
        highlights=[Highlight(citation=1, marks=marks)],
        citations=[citation],
        missing=[],
        disagreements=[],
        notes=["from 1 page"],
        look_next=[],
        spent=Spent(),
        warnings=[],
        evidence_ids=[],
    )


def test_the_markdown_holds_the_words_of_the_page_and_none_of_its_marks() -> None:
    start = QUOTE.index("Then")
    markdown = render_markdown(silent(cited(QUOTE), [(start, start + 10)]))
    assert "(49%, calibrated on 6 sites)" in markdown
    html = MarkdownIt("commonmark").render(markdown)
    assert "A bold word, a link and co|de." in html
    assert "<strong>Then" in html
    assert "alert(1)&lt;/script&gt; this." in html
    assert "x = a * b" in html
    assert "c – 2 * 3" in html
    assert "evil.example" not in html
    assert "<script" not in html
    assert html.count('<a href="https://site.example/#:~:text=') == 1  # its source
    assert html.count("<a ") == html.count('<a href="https://site.example/') == 2  # and where to look next
    assert "\\*\\*" not in markdown


def test_the_page_marks_sentences_and_sets_code() -> None:
    citation = cited(QUOTE, before="See [the other page](x.html) first. ", after="")
    shown = marked(passage(citation, Highlight(citation=1, marks=[(0, QUOTE.index(" Then"))]), around=True))
    assert shown.startswith(
        '<p><span class="around">See the other page first. </span><mark>A bold word, a link and co|de.</mark> Then'
        " &lt;script&gt;"
    )
    assert "<pre>x = a * b</pre>" in shown
    assert "<p>c – 2 * 3</p>" in shown
    html = render_page(silent(citation, []))
    assert "sure enough · 49%" in html
    assert "<script" not in html
    assert "What is missing" not in html


def test_the_terminal_prints_likely_sentences_in_bold() -> None:
    lines = passage(cited(":   First. Second \x1b[31m."), Highlight(citation=1, marks=[(4, 10)]))
    for terminal, printed in (
        (True, "\x1b[2m│ \x1b[0m\x1b[1mFirst.\x1b[0m Second [31m.\n"),
        (False, "│ »First.« Second [31m.\n"),
    ):
        console = Console(file=io.StringIO(), force_terminal=terminal, color_system="standard" if terminal else None)
        print_passage(console, lines, indent="│ ")
        assert isinstance(console.file, io.StringIO)
        assert console.file.getvalue() == printed
