"""Links of a page with what surrounds them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.convert import convert_page
from webrag_core.conversion.converted_page import PageLink
from webrag_core.conversion.html import convert_html

URL = "https://example.org/a/page.html"


def links(body: str, head: str = "") -> list[PageLink]:
    html = f"<head>{head}</head><body>{body}<p>Some words here.</p></body>"
    return list(convert_html(html.encode(), url=URL).links)


def test_anchor_block_and_heading_path() -> None:
    [first, second] = links(
        """<h1>Top<a class="headerlink" href="#top">¶</a></h1><p>Before it.</p><h2>Old</h2><h2>New  part</h2>
        <p>A first sentence. Read <a href="../b.html#x">the <b>other</b>
        page</a>, e.g. now! A <a href="c">third</a></p>"""
    )
    assert first == PageLink(
        "https://example.org/b.html",
        "the other page",
        "A first sentence. Read the other page, e.g. now! A third",
        ("Top", "New part"),
        in_navigation=False,
        nofollow=False,
    )
    assert (second.target_url, second.context) == ("https://example.org/a/c", first.context)


@pytest.mark.parametrize(
    ("html", "contexts"),
    [
        ("<dl><dt><a href=1>one</a><dt>uno<dd>First.<dd>Of all.<dt><a href=2>two</a><dd>Second.</dl>",
         ["one uno First. Of all.", "two Second."]),
        ("<table><tr><td><a href=1>one</a><td>First.<td>A<tr><td>B<td><a href=2>two</a></table>",
         ["one First. A", "B two"]),
        ("<ul><li><a href=1>one</a><p>First.</p><ul><li><a href=2>two</a>: second</ul>Rest.</ul>",
         ["one First. Rest.", "two : second"]),
        ("<h2><a href=1>one</a></h2><p>What it is.</p><p>More.</p>", ["one What it is."]),
        ("<h2><a href=1>one</a></h2><h3>Within</h3><p>Else.</p>", ["one"]),
    ],
)  # fmt: skip
def test_the_block_around_a_link(html: str, contexts: list[str]) -> None:
    """The definition after its term, the whole row, the rest of the item, the paragraph below a heading."""
    assert [link.context.replace(" :", ":") for link in links(html)] == [text.replace(" :", ":") for text in contexts]


def test_headings_end_with_their_section() -> None:
    found = links("<h1>A</h1><h3>B</h3><a href=1>x</a><h2>C</h2><a href=2>x</a><h1>D</h1><a href=3>x</a>")
    assert [link.heading_path for link in found] == [("A", "B"), ("A", "C"), ("D",)]


def test_what_is_no_link_to_another_page() -> None:
    assert (
        links(
            """<a>no</a> <a href="">no</a> <a href="#part">no</a> <a href="page.html#part">no</a>
            <a href="mailto:a@example.org">no</a> <a href="javascript:x()">no</a> <a href="http://[broken">no</a>
            <a href="http://me:secret@example.org/">no</a> <script>document.write("<a href=x>no</a>")</script>
            <template><a href="t">no</a></template>"""
        )
        == []
    )


@pytest.mark.parametrize(
    ("html", "navigation"),
    [
        ('<nav><a href="x">x</a></nav>', True),
        ('<footer><a href="x">x</a></footer>', True),
        ('<div role="navigation"><a href="x">x</a></div>', True),
        ('<ul class="main-menu"><li><a href="x">x</a></ul>', True),
        ('<div id="page_sidebar"><a href="x">x</a></div>', True),
        ('<p class="navigate information">see <a href="x">x</a></p>', False),
        ('<main class="with-sidebar"><a href="x">x</a></main>', False),
        ('<nav>-</nav><p><a href="x">x</a></p>', False),
    ],
)
def test_navigation(html: str, navigation: bool) -> None:
    assert [link.in_navigation for link in links(html)] == [navigation]


def test_a_layout_class_of_the_body_makes_no_navigation() -> None:
    html = b'<body class="right-sidebar nav-open"><p>see <a href="x">x</a> and more</p></body>'
    assert [link.in_navigation for link in convert_html(html, url=URL).links] == [False]


def test_nofollow_and_titles() -> None:
    [first, second] = links('<a rel="noopener NOFOLLOW" href="a">a</a> <a href="b" title="A picture"><img src="p"></a>')
    assert (first.nofollow, second.nofollow) == (True, False)
    assert second.anchor_text == "A picture"


@pytest.mark.parametrize(
    ("rel", "nofollow"),
    [("sponsored", True), ("noopener Sponsored", True), ("ugc nofollow", True), ("ugc", False), ("notnofollow", False)],
)
def test_paid_links_are_not_followed_and_those_of_users_are(rel: str, nofollow: bool) -> None:
    assert [link.nofollow for link in links(f'<a rel="{rel}" href="a">a</a>')] == [nofollow]


@pytest.mark.parametrize(
    ("head", "nofollow"),
    [
        ('<meta name="robots" content="nofollow">', True),
        ('<meta name="ROBOTS" content="NOINDEX, NoFollow">', True),
        ('<meta name="robots" content="index"><meta name="robots" content="none">', True),
        ('<meta name="webrag" content="nofollow">', True),
        ('<meta name="robots" content="nofollow"><meta name="webrag" content="all">', True),
        ('<meta name="robots" content="noindex">', False),
        ('<meta name="googlebot" content="nofollow">', False),
        ('<meta name="robots" content="noarchive, follow">', False),
        ('<meta property="robots" content="nofollow">', False),
    ],
)
def test_robots_meta_speaks_for_all_links(head: str, nofollow: bool) -> None:
    assert [link.nofollow for link in links('<a href="a">a</a> <nav><a href="b">b</a></nav>', head)] == [nofollow] * 2


@pytest.mark.parametrize(
    ("header", "nofollow"),
    [
        ("nofollow", True),
        ("noindex, None", True),
        ("webrag: nofollow", True),
        ("googlebot: noindex, webrag: noarchive, nofollow", True),
        ("max-snippet: 20, nofollow", True),
        ("unavailable_after: Wed, 03 Dec 2031 13:09:53 GMT, nofollow", True),
        ("googlebot: noindex, nofollow", False),
        ("noindex", False),
        ("", False),
    ],
)
def test_the_robots_header_speaks_for_all_links(header: str, nofollow: bool) -> None:
    body = b'<p>Some words and <a href="a">a link</a>.</p>'
    headers = {"content-type": "text/html", "x-robots-tag": header}
    page = AcquiredPage(URL, URL, 200, headers, body, datetime.now(UTC), len(body))
    assert [link.nofollow for link in convert_page(page).links] == [nofollow]


def test_base_and_one_spelling_per_target() -> None:
    found = links(
        '<a href="x?utm_source=q">x</a> <a href="/base/x">x</a> <a href="x#y">X</a> <a href="HTTPS://Example.org/z">z</a>',
        head='<base href="/base/">',
    )
    assert [(link.target_url, link.anchor_text) for link in found] == [
        ("https://example.org/base/x", "x"),
        ("https://example.org/base/x", "X"),
        ("https://example.org/z", "z"),
    ]


def test_a_link_around_blocks_has_all_their_words() -> None:
    [card, plain] = links(
        """<div><a href="card"><h3>Title</h3><p>What it is about.</p></a></div><p>See <a href="b">b</a>.</p>"""
    )
    assert (card.anchor_text, card.context) == ("Title What it is about.", "Title What it is about.")
    assert (plain.anchor_text, plain.context) == ("b", "See b.")


def test_a_long_block_is_cut_around_the_link_between_words() -> None:
    [link] = links(f"<p>{'before ' * 300}<a href='x'>anchor</a>{' after' * 300}</p>")
    assert 580 < len(link.context) <= 600
    assert "before anchor after" in link.context
    assert set(link.context.split()) == {"before", "anchor", "after"}
    [link] = links(f"<p>{'Before it. ' * 100}See <a href='x'>anchor</a>. {'After it. ' * 100}</p>")
    assert link.context.startswith("See anchor. After it. After")
    assert len(links(f"<p>{'x' * 5_000}<a href='x'>anchor</a></p>")[0].context) <= 600


def test_comments_and_brackets_between_words_lose_nothing() -> None:
    [link] = links("<p>one <!-- c --> two <a href='x'>a<!-- d -->b</a><?pi?> three</p>")
    assert (link.anchor_text, link.context) == ("ab", "one two ab three")


@pytest.mark.slow
@pytest.mark.parametrize("separator", [" ", "<br>", ". "])
def test_many_links_in_one_paragraph(separator: str) -> None:
    """Looking at the whole paragraph for each link would take minutes."""
    count = 8_000
    found = links("<p>" + separator.join(f'<a href="/{n}">Link {n}</a>' for n in range(count)) + "</p>")
    assert len(found) == count
    assert all(link.anchor_text in link.context for link in found[:: count // 10])


@pytest.mark.slow
def test_a_directory_of_very_many_links_keeps_them_all_and_the_text_around_the_first() -> None:
    """Each would hold 600 characters of its own, and the page would be refused for them."""
    count = 10_100
    results = links("<p>" + " ".join(f"<a href=/{number}>x{number}</a>" for number in range(count)) + "</p>")
    assert len(results) == count
    assert len(results[9_999].context) > len(results[9_999].anchor_text)
    assert results[10_000].context == results[10_000].anchor_text == "x10000"


def test_characters_that_only_break_lines_are_no_part_of_words() -> None:
    [link] = links("<h2>He\u00adad</h2><p>See the so\u00adft <a href=x>li\u200bnk</a> here.</p>")
    assert (link.anchor_text, link.context, link.heading_path) == ("link", "See the soft link here.", ("Head",))


@pytest.mark.parametrize(
    "href",
    [
        "http://b\u00fccher.example/x",
        "https:///triple.example/a",
        "https:\\\\back.example\\slash",
        "//Upper.EXAMPLE:443/%7euser",
        "a b.html?q=1&utm_source=x",
        "../../../far.html",
        "\ttab\n.html",
        "?page=2",
    ],
)
def test_a_link_is_spelt_alike_in_the_text_and_in_the_table(href: str) -> None:
    html = f"<main><p>Words before the <a href='{href}#part'>link</a> of the page.</p></main>"
    page = convert_html(html.encode(), url="https://site.example/docs/p.html")
    assert [f"[link]({link.target_url}#part)" in page.markdown for link in page.links] == [True]


@pytest.mark.parametrize(
    "href", ["http://[bad", "http://user:secret@site.example/", "javascript:x()", "http://", "ftp://a/b"]
)
def test_a_link_that_leads_nowhere_is_words(href: str) -> None:
    html = f"<main><p>Words before the <a href='{href}'>link</a> of the page.</p></main>"
    page = convert_html(html.encode(), url="https://site.example/docs/p.html")
    assert (page.markdown, page.links) == ("Words before the link of the page.\n", ())
