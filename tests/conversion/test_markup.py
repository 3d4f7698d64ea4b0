"""What a page states in JSON-LD, microdata, RDFa and its head is kept as plain values, within limits."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.anchors import AnchorMarks
from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.conversion.html import convert_html
from webrag_core.conversion.markup.models import MAX_CHARS, MAX_NODES, NO_MARKUP, MarkupNode, PageMarkup
from webrag_core.conversion.worker import convert_in_worker
from webrag_core.errors import FetchError

URL = "https://shop.example/kettles/k1.html"
TEXT = "<p>The kettle boils a litre of water in three minutes.</p>"


def convert(head: str, body: str = TEXT) -> ConvertedPage:
    return convert_html(f"<html><head><title>K</title>{head}</head><body>{body}</body></html>".encode(), url=URL)


def script(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f'<script type="application/ld+json">{text}</script>'


def markup(*values: object, body: str = TEXT) -> PageMarkup:
    return convert("".join(map(script, values)), body).markup


def properties(node: MarkupNode) -> dict[str, str | int]:
    return dict(node.properties)


def test_a_product_of_a_shop() -> None:
    page = markup(
        {
            "@context": "https://schema.org",
            "@type": ["Product", "schema:Thing"],
            "@id": "#product",
            "name": "Kettle &amp; Co",
            "gtin13": 4006381333931,
            "description": "x" * 50,
            "brand": {"@type": "https://schema.org/Brand", "name": "ACME"},
            "offers": [{"@type": "Offer", "price": 19.5, "seller": {"@id": "/#shop"}}],
        }
    )
    product, brand, offer, shop = page.nodes
    assert product == MarkupNode(
        "JSON-LD",
        f"{URL}#product",
        ("Product", "Thing"),
        (("name", "Kettle & Co"), ("gtin13", "4006381333931"), ("brand", 1), ("offers", 2)),
        True,
    )
    assert (brand.types, properties(brand), brand.top) == (("Brand",), {"name": "ACME"}, False)
    assert properties(offer) == {"seller": 3}
    assert shop.identifier == "https://shop.example/#shop"
    assert page.cut == ()


def test_nodes_with_one_identifier_are_one_and_circles_end() -> None:
    page = markup(
        {
            "@graph": [
                {"@id": "#a", "@type": "Article", "author": {"@id": "#b"}, "isPartOf": {"@id": "#a"}},
                {"@id": "#b", "name": "Jane Doe", "knows": {"@id": "#a"}},
                {"@id": "_:x", "name": "Local"},
                {"@type": "Thing", "about": {"@id": "_:x"}},
            ]
        }
    )
    assert [node.identifier for node in page.nodes] == [f"{URL}#a", f"{URL}#b", None, None]
    assert properties(page.nodes[0]) == {"author": 1, "isPartOf": 0}
    assert properties(page.nodes[1]) == {"name": "Jane Doe", "knows": 0}
    assert properties(page.nodes[3]) == {"about": 2}


def test_microdata_of_a_recipe() -> None:
    page = convert(
        "",
        """<main itemscope itemtype="https://schema.org/Recipe"><h1 itemprop="name">Apple pie</h1>
        <p>By <span itemprop="author" itemscope itemtype="https://schema.org/Person"><a itemprop="name" href="/jane">
        Jane Doe</a><link itemprop="url" href="/jane"></span>,
        <time itemprop="datePublished" datetime="2024-05-01">May</time></p>
        <ul><li itemprop="recipeIngredient">3 apples</li><li itemprop="recipeIngredient">200 g flour</li></ul>
        <meta itemprop="recipeCuisine" content="English"></main>""",
    ).markup
    recipe, author = page.nodes
    assert recipe.syntax == "microdata"
    assert recipe.properties == (
        ("name", "Apple pie"),
        ("author", 1),
        ("datePublished", "2024-05-01"),
        ("recipeIngredient", "3 apples"),
        ("recipeIngredient", "200 g flour"),
        ("recipeCuisine", "English"),
    )
    assert properties(author) == {"name": "Jane Doe", "url": "https://shop.example/jane"}


def test_rdfa_lite_of_an_article() -> None:
    page = convert(
        "",
        """<div vocab="https://schema.org/" typeof="Article" resource="#art"><h1 property="headline">News of tea</h1>
        <div property="schema:author" typeof="Person"><b property="name">Jane Doe</b></div><p>Text of the news.</p>
        <figure typeof="mw:File"><img src="a.png"></figure></div>""",
    ).markup
    article, author = page.nodes
    assert (article.syntax, article.identifier, article.types) == ("RDFa", f"{URL}#art", ("Article",))
    assert article.properties == (("headline", "News of tea"), ("author", 1))
    assert properties(author) == {"name": "Jane Doe"}


def test_relations_of_head_and_header() -> None:
    page = AcquiredPage(
        url=URL,
        final_url=URL,
        status=200,
        headers={"content-type": "text/html", "link": '</v3>; rel="latest-version", </x>; rel=next'},
        body=f"<head><link rel='canonical successor-version' href='/v2'><link rel=canonical href='javascript:1'></head>"
        f"<body>{TEXT}<link rel=canonical href=/comment></body>".encode(),
        fetched_at=datetime(2025, 1, 1, tzinfo=UTC),
        bytes_raw=1,
    )
    converted = asyncio.run(convert_in_worker(page))
    assert converted.markup.relations == (
        ("latest-version", "https://shop.example/v3"),
        ("canonical", "https://shop.example/v2"),
        ("successor-version", "https://shop.example/v2"),
    )
    assert converted.canonical == "https://shop.example/v2"


def test_what_a_worker_hands_over_is_what_it_read() -> None:
    body = (script({"@type": "Product", "name": "K", "brand": {"name": "ACME"}}) + "<h2 id=a>One</h2>" + TEXT).encode()
    page = AcquiredPage(URL, URL, 200, {"content-type": "text/html"}, body, datetime(2025, 1, 1, tzinfo=UTC), len(body))
    assert asyncio.run(convert_in_worker(page)).markup == convert_html(body, url=URL).markup


def test_a_worker_that_lies_is_not_believed() -> None:
    node = MarkupNode("JSON-LD", None, (), (("a", 1),), True)
    assert not PageMarkup((node,)).is_sound(10)
    assert not PageMarkup(anchors=(("a", 11),)).is_sound(10)
    assert not PageMarkup((MarkupNode("JSON-LD", None, (), (("a", "\x00"),), True),)).is_sound(10)
    assert not PageMarkup((MarkupNode("JSON-LD", "x" * 5_000, (), (), True),)).is_sound(10)
    assert PageMarkup((MarkupNode("JSON-LD", "x", (), (("a", 0),), True),), anchors=(("a", 10),)).is_sound(10)


DEEP = '{"a":' * 900 + "{}" + "}" * 900
HOSTILE: dict[str, tuple[str, str | None]] = {
    "a megabyte": (json.dumps([{"@type": "Thing", "name": f"n{number}"} for number in range(40_000)]), "too_large"),
    "many nodes": (json.dumps([{"name": f"n{number}"} for number in range(2_000)]), "too_many_nodes"),
    "many values": (json.dumps({"name": "A", "x": ["y" * 250 for _ in range(700)]}), None),
    "deep objects": (DEEP, "nested_too_deeply"),
    "deep lists": ("[" * 90_000 + "]" * 90_000, "not_json"),
    "no JSON": ('{"name": ', "not_json"),
    "NaN": ('{"name": "A", "x": NaN, "y": -Infinity, "z": 1e999999}', None),
    "huge number": ('{"name": "A", "sku": ' + "9" * 100_000 + "}", None),
    "duplicated keys": ('{"name": "Z", "name": "A"}', None),
    "lone surrogates": ('{"name": "A", "x\\ud800": "y", "b": "\\ud83d \\udc00"}', None),
    "control signs": ('{"name": "\nA\t\\u0001", "b": "c\nd"}', None),
    "NUL": ('{"name": "A", "b": "\\u0000"}', None),
    "a closing script": ('{"name": "</script><h1>Forged</h1>"}', "not_json"),
    "a comment": ('<!-- {"name": "A"} -->', "not_json"),
    "keys that are no names": (
        '{"name": "A", "": "b", "a b": "c", "' + "k" * 5_000 + '": "d", "@type": {"a": 1}}',
        None,
    ),
    "nothing but types": ('{"@type": ["' + '","'.join(f"T{n}" for n in range(5_000)) + '"], "name": "A"}', None),
    "identifiers": ('{"@id": "javascript:alert(1)", "name": "A", "b": {"@id": "http://[::1"}, "c": {"@id": 5}}', None),
    "boxes": ('{"name": {"@value": "A"}, "b": {"@list": [{"@set": [1]}]}, "c": [[["d"]]], "e": {"@graph": {}}}', None),
    "no objects": ('[null, 1, "text", [[]], {"@graph": [null, 2]}, {"@graph": {"name": "in"}}]', None),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_scripts_are_bounded_and_cost_the_page_nothing(name: str) -> None:
    text, reason = HOSTILE[name]
    page = convert(script(text))
    assert "three minutes" in page.markdown
    assert page.markup.is_sound(len(page.markdown))
    assert len(page.markup.nodes) <= MAX_NODES
    kept = sum(len(value) for node in page.markup.nodes for _, value in node.properties if isinstance(value, str))
    assert kept <= MAX_CHARS
    assert reason is None or reason in page.markup.cut, page.markup.cut
    if reason is None and "A" in text:
        assert properties(page.markup.nodes[0])["name"] == "A"
    json.dumps([[value for _, value in node.properties] for node in page.markup.nodes], ensure_ascii=False).encode()


def test_json_ld_is_no_text_and_no_context_is_fetched() -> None:
    page = convert(
        script({"@context": "https://127.0.0.1:1/c.json", "@type": "Article", "articleBody": "Secret words."})
    )
    assert "Secret" not in page.markdown
    assert "Secret" not in str(page.markup)


@pytest.mark.slow
def test_hostile_attributes_are_bounded() -> None:
    nested = "<div itemscope itemprop=a>" * 400 + "x" + "</div>" * 400
    wide = "<p itemscope itemtype=Thing><b itemprop=name>n</b></p>" * 3_000
    many = "<div itemscope>" + "<b itemprop=x>y</b>" * 9_000 + "</div>"
    for body, reason in ((nested, "nested_too_deeply"), (wide, "too_many_nodes"), (many, "too_large")):
        page = convert("", TEXT + body)
        assert reason in page.markup.cut
        assert page.markup.is_sound(len(page.markdown))


def test_anchors_stand_where_headings_and_terms_end() -> None:
    page = convert(
        "",
        """<section id=top><h1>Queues<a class=headerlink href=#top>¶</a></h1><p>Text of queues.</p>
        <span id=old></span><h2 id=two>Get <em>it </em></h2><dl><dt class=sig id=q.get>q.get(n)<a href=#q.get>¶</a></dt>
        <dd><p>Gets.</p><dl><dt id=inner>inner one</dt><dd>In.</dd></dl></dd>
        <dt id=x>x</dt><dt id=y>y</dt><dd>Both</dd></dl>
        <h2 id=two>Again</h2><h3 id=empty></h3></section>""",
    )
    text = page.markdown
    found = {name: text[:offset].rpartition("\n")[2] for name, offset in page.markup.anchors}
    assert found == {
        "top": "# Queues",
        "old": "## Get *it",
        "two": "## Get *it",
        "q.get": "`q.get(n)`",
        "inner": "    inner one",
        "x": "x",
        "y": "x, y",
    }


MARKED = st.recursive(
    st.sampled_from(["word", " two  words ", "# 1. - x", "`t` *e* _u_", "", "<br>", "&#57344;#0&#57345;",
                     "<code>a b</code>", "<a name=n></a>", "<img alt=pic src=x.png>", "<span id=s> </span>", "$x$",
                     "<pre>c\n d</pre>"]),
    lambda inner: st.builds(
        lambda tag, ident, parts: f"<{tag}{ident}>{''.join(parts)}</{tag}>",
        st.sampled_from(["h1", "h2", "h4", "em", "p", "div", "section", "dl", "dt", "dd", "li", "ul", "blockquote",
                         "td", "table", "a href=/x", "code"]),
        st.sampled_from(["", " id=i", " id='q.x' class=sig"]),
        st.lists(inner, max_size=4),
    ),
    max_leaves=25,
)  # fmt: skip


@pytest.mark.slow
@example(["<h1><dl id=i><code>a b</code></dl></h1>"])
@given(st.lists(MARKED, max_size=5))
def test_marks_change_nothing_and_offsets_are_right(parts: list[str]) -> None:
    body = TEXT + "".join(parts)
    try:
        page = convert("", body)
    except FetchError:
        return
    with patch.object(AnchorMarks, "of", lambda *_: ""):
        assert convert("", body).markdown == page.markdown
    offsets = [offset for _, offset in page.markup.anchors]
    assert offsets == sorted(offsets)
    assert all(page.markdown[offset - 1 : offset].strip() for offset in offsets)


def test_nothing_is_read_of_a_page_without_markup() -> None:
    assert convert("").markup == PageMarkup()
    assert NO_MARKUP.is_sound(0)
