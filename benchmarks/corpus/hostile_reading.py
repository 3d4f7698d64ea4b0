"""Pages that are hostile to whoever reads them: to what converts, cuts, counts and embeds their text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from benchmarks.corpus import hostile_pages as pages
from benchmarks.corpus.hostile_wire import SUCCESS, Case, Piece, sent
from webrag_core.acquisition.office_types import DOCX

_MB = 1_000_000


def _html(start: bytes, piece: bytes, size: int, *ends: str, end: bytes = b"") -> Case:
    return sent(partial(pages.html, start, piece, size, end), *ends)


def _markdown(start: bytes, piece: bytes, size: int, *ends: str, end: bytes = b"") -> Case:
    return _text(partial(pages.markdown, start, piece, size, end), *ends)


def _numbered(start: bytes, pattern: bytes, count: int, *ends: str, end: bytes = b"") -> Case:
    return sent(partial(pages.numbered, start, pattern, count, end), *ends)


def _text(body: Callable[[], Iterable[Piece]], *ends: str, media: str = "text/markdown; charset=utf-8") -> Case:
    return sent(body, *ends, media=media)


def _pdf(body: Callable[[], Iterable[Piece]], *ends: str) -> Case:
    return sent(body, *ends, media="application/pdf")


def _office(body: Callable[[], Iterable[Piece]], *ends: str) -> Case:
    return sent(body, *ends, media=DOCX)


_HTML_PAGES = {
    "body_19mb": _html(b"<p>", b"words of a long page</p>\n<p>", 19 * _MB),
    "links_100000": _numbered(b"", b"<p>See <a href=/p/%d>page %d</a> for more.</p>", 100_000, SUCCESS),
    "links_one_run": _numbered(b"<p>", b"<a href=/p/%d>page %d</a> ", 100_000, SUCCESS),
    "links_nested": _numbered(b"", b"<a href=/p/%d><b>x ", 100_000),
    "link_text_5mb": _html(b"<a href=/x>", b"words of a link ", 5 * _MB, SUCCESS, end=b"</a>"),
    "attributes_200000": _numbered(b"<div ", b"a%d=v ", 200_000, SUCCESS, end=b">text of it</div>"),
    "attribute_10mb": _html(b'<div title="', b"x", 10 * _MB, SUCCESS, end=b'">text of it</div>'),
    "class_5mb": _html(b'<div class="', b"nav-a bBb_ ", 5 * _MB, end=b'">text of it</div>'),
    "elements_200000": _html(b"", b"<p>x<b>y</b>", 1_200_000, SUCCESS),
    "elements_inline": _html(b"<p>", b"<b>x</b>", 2_400_000, SUCCESS),
    "elements_empty": _html(b"", b"<br>", 4 * _MB),
    "nesting_100000": _html(b"", b"<div>", 500_000, "parse_failure", end=b"deep"),
    "nesting_450": _html(b"", b"<div class=nav>" * 450 + b"x" + b"</div>" * 450, 1_000_000),
    "nesting_lists": _html(b"", b"<ul><li>x" * 200 + b"</ul>" * 200, 2_000_000),
    "quotes_nested": _html(b"", b"<blockquote>x" * 200 + b"</blockquote>" * 200, 2_000_000),
    "misnested": _html(b"", b"<b><i><a href=x><p>", 1_000_000),
    "definitions_200000": _numbered(b"<dl>", b"<dt>term %d</dt><dd>meaning %d</dd>", 200_000, end=b"</dl>"),
    "definitions_100000": _numbered(b"<dl>", b"<dt>term %d</dt><dd>meaning %d</dd>", 100_000, SUCCESS, end=b"</dl>"),
    "definitions_one_list": _html(b"<dl><dt>term</dt>", b"<dd>x</dd>", 2 * _MB, SUCCESS, end=b"</dl>"),
    "definitions_nested": _html(b"", b"<dl><dt>x<dd>y", 7_000, end=b"deep"),
    "definitions_divs": _html(b"<dl>", b"<div>", 2_000, end=b"<dt>x<dd>deep words</dl>"),
    "table_2000x1000": sent(partial(pages.wide_table, 2_000, 1_000)),
    "table_tall_wide": sent(partial(pages.tall_wide_table, 5_000, 200_000)),
    "table_spans": _html(b"<table>", b"<tr><td colspan=1000000 rowspan=1000000>x</td></tr>", 52_000),
    "tables_nested": _html(b"", b"<table><tr><td>x<td>", 8_000),
    "line_10mb": _html(b"<p>", b"x0y1", 10 * _MB, SUCCESS),
    "line_10mb_words": _html(b"<p>", b"word and sentence. ", 10 * _MB, SUCCESS),
    "one_character_5mb": _html(b"<p>", b"a", 5 * _MB, SUCCESS),
    "emoji_5mb": _html(b"<p>", "\U0001f469\u200d\U0001f4bb".encode(), 5 * _MB, SUCCESS),
    "combining_5mb": _html(b"<p>a", "\u0301\u0316".encode(), 5 * _MB),
    "han_5mb": _html(b"<p>", "\u6f22\u5b57".encode(), 5 * _MB, SUCCESS),
    "text_19mb": _text(lambda: pages.repeated(b"words of a long text.\n", 19 * _MB), media="text/plain"),
    "distinct_words_10mb": _text(partial(pages.distinct_words, 10 * _MB), "too_large", media="text/plain"),
    "distinct_words_1mb": _text(partial(pages.distinct_words, 1 * _MB), SUCCESS, media="text/plain"),
    "blanks_5mb": _html(b"<p>x", b" ", 5 * _MB, end=b"y"),
    "blanks_pre_5mb": _html(b"<pre>x", b" ", 5 * _MB, end=b"y</pre>"),
    "line_ends_5mb": _html(b"<pre>x", b"\n", 5 * _MB, end=b"y</pre>"),
    "braces": _html(b"<p>", b"{", 2 * _MB),
    "dollars": _html(b"<p>", b"$", 2 * _MB),
    "dollars_apart": _html(b"<p>", b"$x ", 2 * _MB),
    "tex_open": _html(b"<script src=mathjax.js></script><p>", b"\\( x ", 2 * _MB),
    "tex_closed": _html(b"<script src=mathjax.js></script><p>", b"\\(x\\) ", 1 * _MB),
    "math_spans": _html(b"<p>", b"<span class=math>\\(x\\)</span>", 3 * _MB),
    "superscripts": _html(b"<p>1", b"<sup>2</sup>", 2 * _MB),
    "code_inline": _html(b"<p>", b"<code>x</code> ", 3 * _MB),
    "code_nested": _html(b"", b"<code>x", 1 * _MB),
    "pre_nested": _html(b"", b"<pre>x", 2_000),
    "pre_many": _html(b"", b"<pre>x\ny</pre>", 2 * _MB),
    "code_ticks": _html(b"<p>", b"<code>`</code>``", 1 * _MB),
    "comments_open": _html(b"<p>", b"<!-- ", 1 * _MB),
    "comments": _html(b"<p>", b"<!-- x -->y", 2 * _MB),
    "tags_open": _html(b"<p>", b"<a <b ", 1 * _MB),
    "entities": _html(b"<p>", b"&amp;&#x41;&bogus;", 3 * _MB),
    "frames_5000": _html(b"", b"<iframe src=/x></iframe><frame src=/y>", 190_000),
    "images_data": _html(b"<p>", b'<img src="data:image/png;base64,AAAA" alt="words">', 5 * _MB),
    "meta_refresh": _html(b"", b'<meta http-equiv=refresh content="0;url=/">', 100_000),
    "scripts_only": sent(lambda: pages.repeated(b"<script>document.write('x')</script>", 5 * _MB), "needs_script"),
    "state_lists": _html(b"<script type=application/json>", b"[[],", 5 * _MB, SUCCESS, end=b"</script>"),
    "state_deep": _html(b"<script type=application/json>", b"[", 5 * _MB, SUCCESS, end=b"</script>"),
    "state_assigned": _html(b"<script>", b"window.a={ words of no state;", 5 * _MB, SUCCESS, end=b"</script>"),
    "state_sentences": _html(
        b'<script type=application/json>["', b"A text of several words, and more of them. ", 2 * _MB, end=b'"]</script>'
    ),
    "noscript_deep": _html(b"", b"<noscript>words of it in no order ", 3 * _MB),
    "utf16_odd": sent(lambda: [b"\xff\xfe" + "<p>Three plain words and more.</p>".encode("utf-16-le") + b"x"]),
    "bad_charset": sent(lambda: pages.html(b"<p>", b"\xff\xfe\xc3", 3 * _MB), media="text/html; charset=bogus-8"),
    "headings": _html(b"", b"<h1>x</h1>", 2 * _MB),
    "heading_5mb": _html(b"<h1>", b"[a `b _c ", 5 * _MB, end=b"</h1>"),
    "bases": _html(b"", b"<base href=/x/>", 1 * _MB),
    "article_boxes": _html(
        b"<meta property=og:type content=article>", b"<div class=share><p>Some text, with marks. More.</p>", 1 * _MB
    ),
}

_MARKDOWN_PAGES = {
    "md_quotes": _markdown(b"", b"> ", 1 * _MB, end=b"deep"),
    "md_quotes_lines": _markdown(b"", b">" * 90 + b" x\n", 2 * _MB),
    "md_lists": _markdown(b"", b"- ", 1 * _MB, end=b"deep"),
    "md_list_deep": _text(lambda: [b"Three plain words.\n\n", *(b" " * n + b"- x\n" for n in range(0, 3_000, 2))]),
    "md_list_long": _markdown(b"", b"- x\n", 800_000, SUCCESS),
    "md_ordered": _markdown(b"", b"1) x\n", 20 * _MB // 2),
    "md_backticks": _text(lambda: [b"Three plain words.\n\n# ", *(b"`" * n + b"a" for n in range(1, 3_000))], SUCCESS),
    "md_backticks_text": _text(lambda: [b"Three words x ", *(b"`" * n + b"a" for n in range(1, 3_000))], SUCCESS),
    "md_fences": _markdown(b"", b"```\n", 800_000, SUCCESS),
    "md_brackets": _markdown(b"", b"[", 2 * _MB),
    "md_images": _markdown(b"", b"![", 2 * _MB),
    "md_image_heads": _markdown(b"# ", b"![a](b ", 2 * _MB, SUCCESS),
    "md_emphasis": _markdown(b"", b"*a **b _c __d ", 2 * _MB, SUCCESS),
    "md_underscores": _markdown(b"", b"_", 2 * _MB),
    "md_dollars": _markdown(b"", b"$x\ny", 1_900_000, SUCCESS),  # 475,000 lines: 500,000 are taken
    "md_references": _markdown(b"", b"[a]: b\n", 2 * _MB),
    "md_reference_open": _markdown(b"", b"[a\\\n", 2 * _MB),
    "md_reference_title": _markdown(b"", b"[a]: b 'c\n", 2 * _MB),
    "md_definitions": _markdown(b"", b"a\n:   b\n\n", 900_000, SUCCESS),
    "md_definitions_nested": _markdown(b"a\n", b": ", 1 * _MB, end=b"deep"),
    "md_colons": _markdown(b"", b"a\n\n: b\n", 2 * _MB),
    "md_table_tall": _text(partial(pages.tall_markdown_table, 10_000, 200_000)),
    "md_table_full": _text(partial(pages.full_markdown_table, 2_000, 2_000)),
    "md_headings": _markdown(b"", b"# a\n", 800_000, SUCCESS),
    "md_html": _markdown(b"", b"<div>\n\n", 2 * _MB),
    "md_html_open": _markdown(b"", b"<!-- <?x <![CDATA[\n", 2 * _MB),
    "md_admonition": _markdown(b"", b"!*-", 5 * _MB, end=b" note"),
    "md_carriage_returns": _markdown(b"", b"x\r\r", 3 * _MB),
    "md_underlines": _markdown(b"", b"a\n=\n", 2 * _MB),
    "md_tabs": _markdown(b"", b"\t", 2 * _MB, end=b"x"),
    "md_escapes": _markdown(b"", b"\\[\\*", 2 * _MB),
    "md_nul": _markdown(b"", b"\x00 x", 2 * _MB),
}

_PDF_PAGES = {
    "pdf_xref_loop": _pdf(lambda: pages.pdf_page(pages.stream(b""), trailer=b"/Prev @TABLE")),
    "pdf_tree_loop": _pdf(pages.pdf_tree_loop),
    "pdf_pages_100000": _pdf(lambda: pages.pdf_many_pages(100_000), "too_large"),
    "pdf_pages_1900": _pdf(lambda: pages.pdf_many_pages(1_900)),
    "pdf_stream_bomb": _pdf(pages.pdf_stream_bomb),
    "pdf_flate_bomb": _pdf(pages.pdf_flate_bomb),
    "pdf_form_loop": _pdf(pages.pdf_form_loop),
    "pdf_forms": _pdf(pages.pdf_form_bomb),
    "pdf_text_5mb": _pdf(lambda: pages.pdf_long_text(5 * _MB)),
    "pdf_garbage": _pdf(lambda: pages.repeated(b"%PDF-1.7 1 0 obj << /Type ", 5 * _MB), "parse_failure"),
}

_OFFICE_FILES = {
    "office_bomb": _office(partial(pages.office_file, b" ", 2_000 * _MB // 100), "too_large"),
    "office_entities": _office(pages.office_entities, "parse_failure"),
    "office_parts": _office(partial(pages.office_parts, 60_000), "too_large"),
    "office_paragraphs": _office(
        partial(pages.office_file, b"<w:p><w:r><w:t>x</w:t></w:r></w:p>", 5_900_000), "too_large"
    ),
    "office_nested": _office(partial(pages.office_file, b"<w:tbl><w:tr><w:tc>", 500_000), "parse_failure"),
}

READING: dict[str, Case] = _HTML_PAGES | _MARKDOWN_PAGES | _PDF_PAGES | _OFFICE_FILES
