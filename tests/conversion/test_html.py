"""HTML to Markdown: nothing of the content is lost or changed, nothing else gets in."""

from __future__ import annotations

import re

import pytest

from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.conversion.html import convert_html
from webrag_core.errors import FetchError, Reason

URL = "https://example.org/docs/page.html"
FILLER = "<p>Some words, so that there is a page.</p>"


def page(html: str | bytes, charset: str | None = None) -> ConvertedPage:
    return convert_html(html if isinstance(html, bytes) else html.encode(), url=URL, charset=charset)


def markdown(html: str) -> str:
    """Markdown of a body, without the filler that every page here ends with."""
    text = page(f"<body>{html}{FILLER}</body>").markdown
    assert text.endswith("Some words, so that there is a page.\n")
    return text.removesuffix("Some words, so that there is a page.\n").rstrip("\n")


def code(html: str) -> list[str]:
    """Contents of the fenced blocks of a body's Markdown."""
    return [match[2] for match in re.finditer(r"^(`{3,})[^\n]*\n(.*?)\n\1$", markdown(html), re.DOTALL | re.MULTILINE)]


def test_headings_carry_no_permalinks() -> None:
    html = """<h1>Title<a class="headerlink" href="#title" title="Link here">¶</a></h1>
        <h2><a href="#c">#</a> C++ &amp; <code>C#</code></h2><h3>Two<br>lines</h3>"""
    assert markdown(html) == "# Title\n\n## C++ & `C#`\n\n### Two lines"


def test_links_are_absolute_and_links_within_the_page_are_words() -> None:
    html = """<p><a href="../up.html?a=1#f" title="Tip">up</a> <a href="#part">part</a>
        <a href="page.html#other">other</a> <a href="https://example.org/docs/page.html">self</a>
        <a href="mailto:me@example.org">mail</a> <a href="//other.test/x">there</a></p>"""
    assert markdown(html) == (
        "[up](https://example.org/up.html?a=1#f) part other self mail (me@example.org) [there](https://other.test/x)"
    )


@pytest.mark.parametrize("base", ["http://[broken", "javascript:alert(1)", "http://user:pass@example.org/"])
def test_an_unusable_base_counts_as_none(base: str) -> None:
    converted = page(f'<head><base href="{base}"></head><p>go <a href="next.html">on</a> please</p>')
    assert "[on](https://example.org/docs/next.html)" in converted.markdown
    assert [link.target_url for link in converted.links] == ["https://example.org/docs/next.html"]


def test_the_first_base_counts() -> None:
    converted = page('<head><base href="/a/"><base href="/b/"></head><p>go <a href="next.html">on</a> please</p>')
    assert "[on](https://example.org/a/next.html)" in converted.markdown


def test_code_is_verbatim_with_its_language() -> None:
    html = """<div class="highlight-python3"><div class="highlight"><pre><span></span><span>def</span> f(*a):
\treturn <b>a</b>  # &lt;tag&gt; &amp;amp; \\n **x** | `y`

    ```
</pre></div></div><pre class="language-c++"><code>int  a;</code></pre>"""
    assert markdown(html).startswith("````python\n")
    assert "```c++\nint  a;\n```" in markdown(html)
    assert code(html)[0] == "def f(*a):\n\treturn a  # <tag> &amp; \\n **x** | `y`\n\n    ```"


@pytest.mark.parametrize(
    "html",
    [
        "<pre>one\ntwo\n\nfour</pre>",
        "<pre>one<br>two<br/><br>four</pre>",
        "<pre><div>one</div><div>two\n</div><div>\n</div><div>four</div></pre>",
        "<pre><code><span class=line>one</span>\n<span class=line>two</span>\n\nfour</code></pre>",
        "<pre>one<!-- c -->\ntwo\n\nfo<b>u</b>r</pre>",
        "<table><tr><td class=linenos><pre>1\n2\n3\n4</pre></td><td><pre>one\ntwo\n\nfour</pre></td></tr></table>",
        "<pre><span class=linenos>1</span>one\n<span class=linenos>2</span>two\n\nfour</pre>",
    ],
)
def test_lines_of_code_stay_lines_without_their_numbers(html: str) -> None:
    assert code(html) == ["one\ntwo\n\nfour"]


def test_inline_code_keeps_its_characters() -> None:
    html = "<p><code>a|b</code> <code>*args, **kw</code> <code>``x``</code> <code>two\n lines</code></p>"
    assert markdown(html) == "`a|b` `*args, **kw` ` ``x`` ` `two lines`"


def test_tables_escape_pipes() -> None:
    html = "<table><tr><th>A</th><th>B | C</th></tr><tr><td>1|2</td><td><code>x|y</code></td></tr></table>"
    assert markdown(html).splitlines()[0::2] == ["| A | B \\| C |", "| 1\\|2 | `x\\|y` |"]


@pytest.mark.parametrize(
    "cell",
    ["<h2>Part</h2><p>text</p>", "<p>text</p><pre>a\n  b</pre>", "<table><tr><td>in</td><td>ner</td></tr></table>"],
)
def test_tables_that_only_place_things_become_blocks(cell: str) -> None:
    nested = markdown(f"<table><tr><td>left</td><td>{cell}</td></tr></table>")
    assert nested == f"left\n\n{markdown(cell)}"


def test_formulas_are_tex() -> None:
    html = r"""<p>an <span class="math notranslate">\(a_b * c\)</span> and
        <math><mi>a</mi><semantics><annotation encoding="application/x-tex">\frac{a}{b}</annotation></semantics></math>
        </p><div class="math">\[x
        = y\]</div>"""
    assert markdown(html) == "an $a_b * c$ and $\\frac{a}{b}$\n\n$x = y$"


def test_raw_tex_is_kept_where_a_script_typesets_it() -> None:
    body = r"<p>so \(a_1 \, b\) and \[c \\ d\] hold, <code>\(e\)</code> too</p>"
    typeset = page(f'<head><script src="https://cdn.test/MathJax.js"></script></head><body>{body}</body>').markdown
    assert typeset == "so $a_1 \\, b$ and $c \\\\ d$ hold, `\\(e\\)` too\n"
    assert "\\\\(a" in page(f"<body>{body}</body>").markdown  # without the script it is text with backslashes


def test_exponents_do_not_run_into_their_base() -> None:
    html = """<p>10<sup>6</sup> m<sup>2</sup> x<sup>n-1</sup> 2<sup>nd</sup> word<sup><a href="#1">1</a></sup></p>"""
    assert markdown(html) == "10^6 m^2 x^(n-1) 2nd word[1]"


def test_pictures_in_the_page_itself_are_their_words() -> None:
    html = """<p><img src="a.png" alt="A"> <img src="data:image/png;base64,AAAA" alt="B">
        <img src="data:image/gif;base64,AAAA" data-src="c.png" alt="C"></p>"""
    assert markdown(html) == "![A](https://example.org/docs/a.png) B ![C](https://example.org/docs/c.png)"


@pytest.mark.parametrize(
    "html",
    [
        "<nav>X</nav>",
        "<div style='color: red; Display : none'>X</div>",
        "<div style='position:absolute; left: -9999px'>X</div>",
        "<p style='text-indent:-100em'>X</p>",
        "<p style='font-size: 0px; color: red'>X</p><span style='FONT-SIZE:0'>X</span>",
        "<div hidden>X</div>",
        "<div aria-hidden=true>X</div>",
        "<div role=navigation>X</div>",
        "<script>X</script><style>X</style><noscript>X</noscript><template>X</template><svg><text>X</text></svg>",
        "<header>X</header><footer>X</footer><aside>X</aside>",
        "<button>X</button><textarea>X</textarea><dialog>X</dialog>",
    ],
)
def test_boilerplate_and_hidden_parts_are_left_out(html: str) -> None:
    assert markdown(html) == ""


@pytest.mark.parametrize(
    "style",
    ["font-size:0.9em", "font-size: 05px", "margin-left: -12px", "left:-1200px", "text-indent: -1.5em", "opacity: 0"],
)
def test_what_a_style_only_moves_shrinks_or_fades_in_stays(style: str) -> None:
    assert markdown(f"<p style='{style}'>X</p>") == "X"


def test_a_box_without_a_font_size_shows_what_has_one() -> None:
    assert markdown("<div style='font-size:0'><p style='font-size:16px'>X</p></div>") == "X"


def test_the_main_element_wins_and_keeps_everything_in_it() -> None:
    html = """<body><p>outside</p><main><header><h1>Title</h1></header><aside class="sidebar"><pre>x = 1</pre></aside>
        <form><p>in a form</p></form><footer>end</footer><p>some more words here</p></main></body>"""
    assert page(html).markdown == "# Title\n\n```\nx = 1\n```\n\nin a form\n\nend\n\nsome more words here\n"


def test_headers_of_sections_and_the_only_title_are_content() -> None:
    html = """<header><h1>Title</h1><nav>X</nav></header>
        <section><header><h2>Part</h2></header><p>text</p><aside>note</aside></section><footer>X</footer>"""
    assert markdown(html) == "# Title\n\n## Part\n\ntext\n\nnote"


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("<p>Grüße „aus“ Köln</p>".encode(), "utf-8"),
        ("<p>Grüße „aus“ Köln</p>".encode(), None),
        ("<p>Grüße „aus“ Köln</p>".encode("cp1252"), "ISO-8859-1"),
        ("<p>Grüße „aus“ Köln</p>".encode("cp1252"), None),
        (b"<meta charset=windows-1252>" + "<p>Grüße „aus“ Köln</p>".encode("cp1252"), None),
        (b"<meta charset=utf-16>" + "<p>Grüße „aus“ Köln</p>".encode(), None),
        (b"\xef\xbb\xbf" + "<p>Grüße „aus“ Köln</p>".encode(), "latin-1"),
        ("\ufeff<p>Grüße „aus“ Köln</p>".encode("utf-16-le"), "utf-8"),
        ("\ufeff<p>Grüße „aus“ Köln</p>".encode("utf-16-be"), None),
        ('<?xml version="1.0" encoding="latin-1"?><p>Grüße „aus“ Köln</p>'.encode(), None),
        *(("<p>Grüße „aus“ Köln</p>".encode(), odd) for odd in ("idna", "undefined", "hex", "utf-7", "no such", "é")),
    ],
)
def test_the_charset_of_mark_header_and_page(body: bytes, charset: str | None) -> None:
    assert page(body, charset).markdown == "Grüße „aus“ Köln\n"


def test_a_seven_bit_charset_is_believed() -> None:
    body = b"<meta charset=iso-2022-jp>" + "<p>日本語のページです</p>".encode("iso-2022-jp")
    assert page(body).markdown == "日本語のページです\n"


def test_one_broken_byte_does_not_spoil_a_utf8_page() -> None:
    assert page("<p>Grüße aus Köln und Nürnberg ".encode() + b"\xff</p>").markdown == (
        "Grüße aus Köln und Nürnberg \ufffd\n"
    )


def test_what_cannot_be_stored_becomes_a_replacement_character() -> None:
    converted = page(b"<title>t\x00t</title><p>a\x00b &#0; &#xD800; \xed\xa0\x80 words</p>", "utf-8")
    for text in (converted.markdown, converted.title or ""):
        assert "\x00" not in text
        text.encode()
    assert "a\ufffdb" in converted.markdown


@pytest.mark.parametrize("control", ["&#14;", "&#x1F;", "\x0e", "\x7f", "&#127;", "\uffff", "&#xFFFE;", "\x01" * 2_000])
def test_control_characters_are_no_text(control: str) -> None:
    html = f'<p>a{control}b <a href="/x{control}y">li{control} nk</a> &#10;c&#13; &#65533;</p>'
    assert markdown(html) == "ab [li nk](https://example.org/xy) c \ufffd"


def test_a_second_body_takes_nothing_away() -> None:
    html = "<!DOCTYPE html><title>T</title><main><h1>T</h1><p>First words.</p><body onload=x><p>More words.</p></main>"
    assert page(html).markdown == "# T\n\nFirst words.\n\nMore words.\n"


def test_no_page_can_name_a_placeholder() -> None:
    html = """<p>\ue0000\ue001 &#xe000;0&#xe001; <img src="x.png" alt="\ue0000\ue001"></p>
        <dl><dt>term</dt><dd>definition</dd></dl><pre>\ue0000\ue001</pre>"""
    text = markdown(html)
    assert (text.count("term"), text.count("definition")) == (1, 1)
    assert text.startswith("0 0 ![0](")


@pytest.mark.parametrize(
    "body",
    ["", " \n", "<html></html>", "<!-- words in a comment -->", "<body><nav>links</nav></body>", "\x00\x00", "¶"],
)
def test_empty_pages(body: str) -> None:
    with pytest.raises(FetchError) as caught:
        page(body)
    assert caught.value.reason is Reason.EMPTY_PAGE


@pytest.mark.parametrize("tag", ["div", "blockquote", "b", "table><tr><td", "dl><dd", "ul><li"])
def test_a_page_nested_too_deeply_is_refused_and_never_cut_short(tag: str) -> None:
    assert "bottom" in page(f"<{tag}>" * 120 + "bottom" + FILLER).markdown
    with pytest.raises(FetchError) as caught:
        page(f"<{tag}>" * 5_000 + "bottom" + FILLER)
    assert caught.value.reason is Reason.PARSE_FAILURE


@pytest.mark.slow
def test_what_follows_a_very_long_text_is_not_lost() -> None:
    assert page("<pre>" + "x = 1\n" * 1_800_000 + "</pre><h2>The end</h2>").markdown.endswith("## The end\n")


def test_metadata() -> None:
    converted = page(
        """<html lang="de"><head><title> A \n title </title><meta name="description" content="What it is">
        </head><body>Some words here.</body></html>"""
    )
    assert (converted.title, converted.description, converted.language) == ("A title", "What it is", "de")
    assert (converted.published, converted.modified) == (None, None)


@pytest.mark.parametrize("head", ["<title>{}</title>", '<meta property="og:title" content="{}">'])
def test_a_title_is_no_book(head: str) -> None:
    title = page(f"<head>{head.format('long words ' * 6_000)}</head><body>Some words here.</body>").title
    assert title == ("long words " * 28)[:300].rstrip()


@pytest.mark.parametrize("robots", ["noindex", "noindex, nofollow", "none"])
def test_what_is_said_to_search_engines_changes_no_text(robots: str) -> None:
    body = "<body>Some words here.</body>"
    plain = page(f"<head></head>{body}").markdown
    assert page(f'<head><meta name="robots" content="{robots}"></head>{body}').markdown == plain


def test_the_head_names_the_page_and_only_the_head() -> None:
    named = '<link rel="canonical" href="/docs/Page.html">'
    assert page(f"<head>{named}</head><body>Some words here.</body>").canonical == "https://example.org/docs/Page.html"
    assert page(f"<head></head><body>Some words here. {named}</body>").canonical is None


def test_a_flood_of_attributes_costs_the_attributes_and_not_the_page() -> None:
    flood = " ".join(f"a{number}=x" for number in range(200_000))
    found = convert_html(
        f"<body><main><p {flood}>Still a page of words.</p></main></body>".encode(), url="https://e.example/"
    )
    assert "Still a page of words." in found.markdown


@pytest.mark.parametrize("mark", ["\ue000{}\ue001", "&#57344;{}&#57345;", "&#xE000;{}&#xe001;", "&#0057344{}&#X0e001"])
def test_no_spelling_of_a_placeholder_is_believed(mark: str) -> None:
    for place in ("<p>{} words</p>", '<p title="{}">words</p>', '<p><img src=a.png alt="{}"> words</p>', "<h2>{}</h2>"):
        text = markdown("<dl><dt>term</dt><dd>definition</dd></dl>" + place.format(mark.format(0)))
        assert text.count("definition") == 1
        assert "\ue000" not in text
        assert "\ue001" not in text
