"""What is rewritten before the conversion: white space, raised and lowered text, numbers, pictures, links, TeX."""

from __future__ import annotations

import lxml.html
import pytest

from tests.conversion.test_html import code, markdown, page
from webrag_core.conversion.math import mark_raw_tex
from webrag_core.indexing.markdown import parse_blocks


def marked(html: str) -> str:
    main = lxml.html.fragment_fromstring(html, create_parent="main")
    mark_raw_tex(main)
    text = lxml.html.tostring(main, encoding="unicode")
    return (
        text.removeprefix("<main>").removesuffix("</main>").replace('<span class="math">', "{").replace("</span>", "}")
    )


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (r"a \(x\) b", r"a {\(x\)} b"),
        (r"\(x\)\[y\] b \(z\)", r"{\(x\)}{\[y\]} b {\(z\)}"),
        (r"<b>a</b> \(x\) b \(y\)<i>c</i>\[z\]", r"<b>a</b> {\(x\)} b {\(y\)}<i>c</i>{\[z\]}"),
        (r"\(a \[b\) c\]", r"{\(a \[b\)} c\]"),
        (r"\[a \(b\)", r"\[a {\(b\)}"),
        (r"\(\) \(x", r"\(\) \(x"),
        (r"\(\)\)", r"{\(\)\)}"),
        (r"<code>\(x\)</code> \(y\)", r"<code>\(x\)</code> {\(y\)}"),
    ],
)
def test_formulas(html: str, expected: str) -> None:
    assert marked(html) == expected


@pytest.mark.parametrize("text", [r"\( x " * 100_000, r"\[ \( x " * 100_000])
def test_formulas_that_are_never_closed_stay_text(text: str) -> None:
    assert marked(text) == text


@pytest.mark.slow
def test_many_formulas_in_one_paragraph() -> None:
    assert marked(r"<p>a \(x\) " * 1 + r"b \(y\) " * 50_000).count("{") == 50_001


def test_a_line_of_the_source_begins_no_block() -> None:
    text = markdown("<p>errors\n- such as\n# this\n1. flag\n&gt; of\n+ all\n  kinds</p>")
    assert text == "errors - such as # this 1. flag > of + all kinds"


@pytest.mark.parametrize("begin", ["- so", "+ so", "* so", "# so", "1. so", "2) so", "&gt; so", "--- so"])
@pytest.mark.parametrize(
    "html", ["<p>{}</p>", "<p>\n {}</p>", "<p>a<br>\n{}</p>", "<div><p>a</p>{}</div>", "<i></i>{}"]
)
def test_a_paragraph_that_begins_like_another_block_is_one(html: str, begin: str) -> None:
    kinds = {block.kind for block in parse_blocks(markdown(html.format(begin)))}
    assert kinds == {"paragraph"}


def test_white_space_of_code_stays() -> None:
    assert code("<p>a\n b</p><pre>a\r\n  b\n\n- c\t d\u200b</pre><p>c\n d</p>") == ["a\n  b\n\n- c\t d\u200b"]
    assert code("<pre>if a:\n&nbsp;&nbsp;b&#160;= 1</pre>") == ["if a:\n  b = 1"]


def test_characters_that_only_break_lines_go() -> None:
    html = "<p>so&shy;ft ze\u200bro wo\u2060rd \ufeffx <code>a.\u200bb</code></p>"
    assert page(f"<title>so\u00adft</title>{html}").title == "soft"
    assert markdown(html) == "soft zero word x `a.b`"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('in 2019<sup><a href="#fn1">1</a></sup>.', "in 2019[1]."),
        ('word<sup class="footnote-ref"><a href="#n">[2]</a></sup>', "word[2]"),
        ('word<a href="#n"><sup>3</sup></a>(see)', "word[3] (see)"),
        ('word<sup><a href="#1">1</a>,<a href="#2">2</a></sup>', "word[1],[2]"),
        ('word<a class="footnote-reference brackets" href="#id3">4</a>', "word[4]"),
        ('word<a role="doc-noteref" href="#id3">a</a>', "word[a]"),
        ('word<sup><a href="https://x.test/">5</a></sup>', "word[[5]](https://x.test/)"),
        ('<sup class="footnote-definition-label">6</sup> note', "[6] note"),
        ('</p><div><sup class="footnote-definition-label">7</sup>\n<p>note</p></div>', "[7] note"),
    ],
)
def test_marks_of_footnotes_stand_apart(html: str, expected: str) -> None:
    assert markdown(f"<p>{html}</p>") == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("e<sup>i\u03c0</sup>", "e^(i\u03c0)"),
        ("e<sup>ix</sup> A<sup>T</sup> x<sup>\u03b1</sup>", "e^(ix) A^T x^\u03b1"),
        ("10<sup>2<sup>3</sup></sup>", "10^(2^3)"),
        ("2<sup>nd</sup> n<sup>th</sup> 1<sup>\u00e8re</sup> M<sup>lle</sup>", "2nd nth 1\u00e8re Mlle"),
        ("ASCII<sup>* (non-greedy)</sup> word<sup>(2)</sup>", "ASCII* (non-greedy) word(2)"),
        ("API<sup>beta</sup> Java<sup>TM</sup>", "API beta Java\u2122"),
        ("a<sub>ij</sub> x<sub>1</sub> T<sub>max</sub> x<sub>n+1</sub>", "a_ij x_1 T_max x_(n+1)"),
        ("H<sub>2</sub>O, Fe<sub>2</sub>(SO<sub>4</sub>)<sub>3</sub>", "H2O, Fe2(SO4)3"),
        ("<i>Word</i><sub><em>except words</em></sub> <sub>small</sub>", "*Word*_(*except words*) small"),
    ],
)
def test_raised_and_lowered_text_does_not_run_into_words(html: str, expected: str) -> None:
    assert markdown(f"<p>{html}</p>") == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ol start=5><li>a<li>b</ol>", "5. a\n6. b"),
        ("<ol><li value=3>a<li>b</ol>", "3. a\n4. b"),
        ("<ol><li>a<li value=9>b<li>c</ol>", "- 1\\. a\n- 9\\. b\n- 10\\. c"),
        ("<ol reversed><li>a<li>b</ol>", "- 2\\. a\n- 1\\. b"),
        ("<ol type=a><li>x<li value=27><p>y</p></ol>", "- a. x\n\n- aa. y"),
        ("<ol class='upperroman simple' start=4><li>x<li>y</ol>", "- IV. x\n- V. y"),
    ],
)
def test_items_keep_their_numbers(html: str, expected: str) -> None:
    assert markdown(html) == expected


def test_headings_by_role() -> None:
    html = """<div role="heading" aria-level="2">Two</div><p role="heading" aria-level="8">Low</p>
        <p role="heading">Caption</p><p role="heading" aria-level="x">Odd</p>"""
    assert markdown(html) == "## Two\n\n###### Low\n\nCaption\n\nOdd"


def test_a_layout_table_within_a_layout_table() -> None:
    inner = "<table><tr><td>left</td></tr></table>"
    html = f"<table><tr><td>{inner}</td><td><p>one.</p><p>two.</p></td></tr></table>"
    assert markdown(html) == "left\n\none.\n\ntwo."


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<img src="data:x" data-lazy-src="/c.png" alt="C">', "![C](https://example.org/c.png)"),
        ('<img data-original="/o.png" alt="O">', "![O](https://example.org/o.png)"),
        ('<img srcset="/d1.png 1x, /d2.png 2x" alt="S">', "![S](https://example.org/d1.png)"),
        ('<img src="" srcset="data:x 1x, /k.png 2x" alt="K">', "![K](https://example.org/k.png)"),
        (
            '<picture><source srcset="/p.webp"><img src="data:x" alt="P"></picture>',
            "![P](https://example.org/p.webp)",
        ),
        ('Pam<img src="data:x" alt="in">If <img alt="none">we', "Pam in If none we"),
        (
            'a<img src="/a.png" alt="A\nB"><img src="/b.png" alt="C">b',
            "a ![A B](https://example.org/a.png) ![C](https://example.org/b.png) b",
        ),
    ],
)
def test_pictures_have_addresses_or_words_of_their_own(html: str, expected: str) -> None:
    assert markdown(f"<p>{html}</p>") == expected


def test_links_without_words_go() -> None:
    html = """<p>x<a href="/e"></a> <a href="/s"> <i></i></a> <a href="/i"><img src="/i.png" alt="I"></a>
        <a href="/n" aria-label="Name"></a> <a href="#fnref1">\u21a9\ufe0e</a> <a href="#r">^</a>
        <a href="#r">\u21a9 2</a> <a href="#t">\u2191 top</a> <a href="/up">\u2191</a></p>"""
    assert markdown(html) == (
        "x [![I](https://example.org/i.png)](https://example.org/i) [Name](https://example.org/n)"
        " \u2191 top [\u2191](https://example.org/up)"
    )


def test_links_that_repeat_the_code_go() -> None:
    html = """<pre>x = 1</pre><a class="test-arrow" href="https://play.test/?code=x%20%3D%201">Run</a>"""
    assert markdown(html) == "```\nx = 1\n```"


def test_other_addresses_are_absolute_too() -> None:
    assert "(https://example.org/v.mp4)" in markdown('<video src="/v.mp4"></video>')
    assert "<https://example.org/c>" in markdown('<blockquote cite="/c"><p>q</p></blockquote>')


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<div class="highlight highlight-source-shell"><pre>x</pre></div>', "shell"),
        ('<div class="highlight highlight-text-html-basic"><pre>x</pre></div>', "html"),
        ('<div class="highlight-python3 notranslate"><pre>x</pre></div>', "python"),
        ('<pre><code class="language-rust,editable hljs">x</code></pre>', "rust"),
        ('<pre class="prettyprint lang-js">x</pre>', "js"),
        ('<pre class="brush: js; gutter: false">x</pre>', "js"),
        ('<pre class="sourceCode numberSource bash numberLines"><code class="sourceCode bash">x</code></pre>', "bash"),
        ('<div class="sourceCode" id="cb1"><pre class="sourceCode py">x</pre></div>', "py"),
        ('<pre><code class="hljs ruby">x</code></pre>', "ruby"),
        ('<pre class="rust rust-example-rendered compile_fail"><code>x</code></pre>', "rust"),
        ('<pre class="prism language-ts">x</pre>', "ts"),
        ('<pre><code data-lang="go">x</code></pre>', "go"),
        ('<pre><code class="hljs">x</code></pre>', ""),
        ('<pre><code class="language-plaintext">x</code></pre>', ""),
        ('<div class="highlighter-rouge"><pre class="highlight">x</pre></div>', ""),
    ],
)
def test_languages_of_code(html: str, language: str) -> None:
    assert markdown(html) == f"```{language}\nx\n```"
