"""What a page's mark-up states becomes edges that say where it is stated, and quote the text only where it says so."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.conversion.html import convert_html
from webrag_core.conversion.markup.models import MarkupNode, PageMarkup
from webrag_core.indexing.graph.extract import extract_edges
from webrag_core.indexing.graph.model import MAX_EDGES, MAX_STATEMENTS, Edge, Extraction

URL = "https://shop.example/kettles/k1"

PRODUCT = {
    "@context": "https://schema.org/",
    "@type": "Product",
    "name": "Kettle One",
    "sku": "K-1",
    "brand": {"@type": "Brand", "name": "ACME"},
    "offers": {
        "@type": "Offer",
        "price": "19.50",
        "availability": "https://schema.org/InStock",
        "seller": {"@type": "Organization", "@id": "https://shop.example/#shop", "name": "The Shop"},
    },
    "aggregateRating": {"@type": "AggregateRating", "ratingValue": 4.5},
}
ARTICLE = {
    "@context": "https://schema.org",
    "@graph": [
        {
            "@type": "NewsArticle",
            "@id": f"{URL}#article",
            "headline": "Tea is back",
            "articleBody": "Tea is back, and Jane Doe wrote it.",
            "author": [{"@type": "Person", "name": "Jane Doe", "@id": "https://shop.example/#/person/1"}],
            "publisher": {"@id": "https://shop.example/#shop"},
            "isPartOf": {"@id": URL},
            "mainEntityOfPage": {"@id": URL},
        },
        {"@type": "WebPage", "@id": URL, "isPartOf": {"@id": "https://shop.example/#site"}},
        {"@type": "WebSite", "@id": "https://shop.example/#site", "name": "Tea Times"},
        {"@type": "Organization", "@id": "https://shop.example/#shop", "name": "The Shop"},
    ],
}
LAW = {
    "@type": "Legislation",
    "@id": "http://data.europa.eu/eli/dir/2019/790",
    "legislationIdentifier": "32019L0790",
    "name": "Directive (EU) 2019/790",
    "legislationChanges": [{"@type": "Legislation", "@id": "http://data.europa.eu/eli/dir/1996/9"}],
    "legislationDate": "2019-04-17",
}


def page(*scripts: Any, body: str, head: str = "") -> ConvertedPage:
    text = "".join(f'<script type="application/ld+json">{json.dumps(one)}</script>' for one in scripts)
    return convert_html(f"<html><head>{head}{text}</head><body><main>{body}</main></body></html>".encode(), url=URL)


def edges_of(converted: ConvertedPage) -> Extraction:
    return extract_edges(converted.markdown, url=URL, source="shop.example", links={}, markup=converted.markup)


def told(converted: ConvertedPage) -> dict[tuple[str, str, str], tuple[str | None, str]]:
    """(source, relation, target) -> (quoted span, statement) of every edge that the mark-up states."""
    return {
        (edge.src.key, edge.label or "", edge.dst.key): (
            None if edge.start is None else converted.markdown[edge.start : edge.end],
            edge.statement,
        )
        for edge in edges_of(converted).edges
        if edge.statement is not None
    }


def test_a_product_has_a_brand_and_a_seller() -> None:
    converted = page(PRODUCT, body="<h1>Kettle One</h1><p>It boils water fast. ACME made it in 1999.</p>")
    kettle, acme, shop = "Product:Kettle One", "Brand:ACME", "https://shop.example/#shop"
    assert told(converted) == {
        (URL, "describes", kettle): ("# Kettle One", 'JSON-LD: Product "Kettle One"'),
        (kettle, "sku", "sku:K-1"): (None, 'JSON-LD: Product "Kettle One" sku "K-1"'),
        (kettle, "brand", acme): ("ACME made it in 1999.", 'JSON-LD: Product "Kettle One" brand Brand "ACME"'),
        (kettle, "offers.seller", shop): (None, 'JSON-LD: Product "Kettle One" offers.seller Organization "The Shop"'),
    }
    edges = {edge.label: edge for edge in edges_of(converted).edges if edge.statement}
    assert (edges["describes"].origin, edges["brand"].origin) == ("inferred", "explicit")
    assert edges["brand"].place.label == "Kettle One"
    assert edges["sku"].strength == pytest.approx(edges["brand"].strength / 2, abs=1e-3)


def test_an_article_is_the_page_and_things_with_one_identifier_are_one() -> None:
    converted = page(ARTICLE, body="<h1>Tea is back</h1><p>By Jane Doe, of The Shop.</p>")
    assert {key: quote for key, (quote, _) in told(converted).items()} == {
        (URL, "author", "https://shop.example/#/person/1"): "By Jane Doe, of The Shop.",
        (URL, "publisher", "https://shop.example/#shop"): "By Jane Doe, of The Shop.",
        (URL, "isPartOf", "https://shop.example/#site"): None,
        (URL, "describes", "https://shop.example/#site"): None,
        (URL, "describes", "https://shop.example/#shop"): "By Jane Doe, of The Shop.",
    }
    assert "Jane Doe wrote it" not in converted.markdown


def test_articles_of_a_list_are_things_of_their_own() -> None:
    posts = [{"@type": "BlogPosting", "headline": f"Post number {number}", "author": "Jane"} for number in (1, 2)]
    found = told(page(posts, body="<p>Post number 1, and then Post number 2.</p>"))
    assert (URL, "describes", "BlogPosting:Post number 1") in found
    assert ("BlogPosting:Post number 2", "author", "Thing:Jane") in found


def test_legislation_names_what_it_changes() -> None:
    found = told(page(LAW, body="<h1>Directive (EU) 2019/790</h1><p>Of copyright, 32019L0790.</p>"))
    law = "http://data.europa.eu/eli/dir/2019/790"
    assert found[law, "legislationChanges", "http://data.europa.eu/eli/dir/1996/9"][0] is None
    assert found[law, "legislationIdentifier", "legislationIdentifier:32019L0790"][0] == "Of copyright, 32019L0790."


def test_one_person_in_two_parts_is_two_edges() -> None:
    jane = {"@type": "Person", "name": "Jane Doe"}
    found = told(
        page({"@type": "WebPage", "author": jane, "editor": jane}, body="<p>Jane Doe wrote and edited it.</p>")
    )
    assert {label for _, label, _ in found} == {"author", "editor"}


def test_a_name_is_found_as_words_of_their_own() -> None:
    brand = {"@type": "Product", "name": "The Kettle", "brand": {"@type": "Brand", "name": "Bo"}}
    found = told(page(brand, body="<p>Books in a Bottle.</p><p>Made by Bo. Sold by Cy.</p>"))
    assert found["Product:The Kettle", "brand", "Brand:Bo"][0] == "Made by Bo."


def breadcrumbs(*steps: tuple[str, str | None]) -> dict[str, Any]:
    return {
        "@type": "BreadcrumbList",
        "itemListElement": [
            {"@type": "ListItem", "position": number, "name": name, **({"item": url} if url else {})}
            for number, (name, url) in reversed(list(enumerate(steps, start=1)))
        ],
    }


@pytest.mark.parametrize(
    ("steps", "parent"),
    [
        ([("Home", "https://shop.example/"), ("Kettles", "/kettles/"), ("K1", None)], "https://shop.example/kettles/"),
        ([("Home", "https://shop.example/"), ("Kettles", "/kettles/"), ("K1", URL)], "https://shop.example/kettles/"),
        ([("Home", "/"), ("K1", URL), ("Part", "/kettles/k1/part")], "https://shop.example/"),
        ([("Bank", "https://bank.example/"), ("K1", URL)], None),
        ([("K1", URL)], None),
        ([("No address", "http://[::1")], None),
    ],
)
def test_breadcrumbs_say_what_contains_the_page(steps: list[tuple[str, str | None]], parent: str | None) -> None:
    edges = edges_of(page(breadcrumbs(*steps), body="<p>Words of the page.</p>")).edges
    stated = [edge for edge in edges if edge.kind == "contains" and edge.statement]
    assert [edge.src.key for edge in stated] == ([] if parent is None else [parent])
    assert all(edge.dst.key == URL and edge.start is None for edge in stated)
    assert all(edge.statement == f"JSON-LD: BreadcrumbList {' › '.join(n for n, u in steps if u)}" for edge in stated)


def test_breadcrumbs_with_named_items_and_in_microdata() -> None:
    listed = {
        "@type": "BreadcrumbList",
        "itemListElement": [{"@type": "ListItem", "position": 1, "item": {"@id": "/kettles/", "name": "Kettles"}}],
    }
    microdata = """<ol itemscope itemtype="https://schema.org/BreadcrumbList">
        <li itemprop="itemListElement" itemscope itemtype="https://schema.org/ListItem">
        <a itemprop="item" href="/kettles/"><span itemprop="name">Kettles</span></a>
        <meta itemprop="position" content="1"></li></ol><p>Words of it.</p>"""
    for converted in (page(listed, body="<p>Words of it.</p>"), page(body=microdata)):
        [edge] = [edge for edge in edges_of(converted).edges if edge.kind == "contains" and edge.statement]
        assert (edge.src.key, edge.statement[-22:]) == ("https://shop.example/kettles/", "BreadcrumbList Kettles")


def test_relations_of_the_head() -> None:
    head = """<link rel=canonical href="https://other.example/k1"><link rel=latest-version href="/kettles/k9">
        <link rel=predecessor-version href="/kettles/k0"><link rel=predecessor-version href="https://bank.example/">"""
    edges = [edge for edge in edges_of(page(body="<p>Words of it.</p>", head=head)).edges if edge.statement]
    assert [(edge.src.key, edge.kind, edge.dst.key, edge.label) for edge in edges] == [
        (URL, "same_as", "https://other.example/k1", "canonical"),
        ("https://shop.example/kettles/k9", "replaces", URL, "latest-version"),
        (URL, "replaces", "https://shop.example/kettles/k0", "predecessor-version"),
    ]
    assert edges[0].statement == 'rel="canonical" https://other.example/k1'
    own = page(body="<p>Words of it.</p>", head=f"<link rel=canonical href='{URL}'>")
    assert not any(edge.statement for edge in edges_of(own).edges)


def check(text: str, extraction: Extraction) -> None:
    edges = extraction.edges
    assert len(edges) <= MAX_EDGES
    assert sum(edge.statement is not None for edge in edges) <= MAX_STATEMENTS
    identities = set()
    for edge in edges:
        assert 0 < edge.strength <= 1
        assert edge.src.key
        assert 0 < len(edge.dst.key.encode()) <= 2_000
        assert (edge.start is None) == (edge.end is None)
        if edge.start is None or edge.end is None:
            assert edge.statement
            assert edge.kind in ("typed", "same_as", "replaces", "contains")
            continue
        assert 0 <= edge.start < edge.end <= len(text)
        if edge.kind == "typed":
            assert edge.dst.label in text[edge.start : edge.end]
        identities.add((edge.src.key, edge.kind, edge.dst.key, edge.place.key, edge.name))
    assert len(identities) == sum(edge.start is not None for edge in edges)


WORDS = st.sampled_from(
    ["Jane", "Doe", "a", "Al", "Also", "ACME", "*", "\n\n", "`x`", "- ", " ", "# ", "é", "\U0001f400"]
)
VALUES = st.one_of(WORDS, st.lists(WORDS, max_size=4).map(" ".join), st.integers(0, 5))
PROPERTIES = st.lists(
    st.tuples(st.sampled_from(["name", "author", "brand", "url", "itemListElement", "item", "position", "x"]), VALUES),
    max_size=5,
)
NODES = st.lists(
    st.tuples(
        st.sampled_from([None, URL, f"{URL}#a", "https://x.example/#b", "urn:isbn:1"]),
        st.sampled_from(["Product", "WebPage", "Article", "BreadcrumbList", "ListItem", "Person"]),
        PROPERTIES,
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
)


@given(NODES, st.lists(WORDS, max_size=30).map(" ".join))
@pytest.mark.slow
def test_any_markup_has_valid_edges_with_right_offsets(
    drafts: list[tuple[str | None, str, list[tuple[str, str | int]], bool]], text: str
) -> None:
    nodes = tuple(
        MarkupNode(
            "JSON-LD",
            identifier,
            (kind,),
            tuple(
                (name, value % len(drafts) if isinstance(value, int) else value.strip() or "x") for name, value in given
            ),
            top,
        )
        for identifier, kind, given, top in drafts
    )
    text = f"Words.\n\n{text}\n"
    markup = PageMarkup(nodes)
    extractions = [extract_edges(text, url=URL, source="s", links={}, markup=markup) for _ in range(2)]
    assert extractions[0] == extractions[1]
    check(text, extractions[0])


def node(*properties: tuple[str, str | int], identifier: str | None = None, name: str | None = None) -> MarkupNode:
    named = () if name is None else (("name", name),)
    return MarkupNode("JSON-LD", identifier, ("Thing",), (*named, *properties), True)


STEPS = tuple(("itemListElement", 0) for _ in range(5_000))
NAMED = range(0, 50_000, 100)
HOSTILE: dict[str, tuple[str, PageMarkup]] = {
    "nameless things that lead to each other": (
        "Words.",
        PageMarkup(tuple(node(*(("a", to) for to in range(60)), name="A" if at == 0 else None) for at in range(60))),
    ),
    "names that nearly stand in the text": (
        "aa" * 500_000 + ".",
        PageMarkup(tuple(node(name="a" * (number + 2)) for number in range(400))),
    ),
    "one sentence that names all": (
        " ".join(f"name{number}" for number in range(100_000)) + ".",
        PageMarkup(tuple(node(name=f"name{number}") for number in NAMED)),
    ),
    "long names": (
        "Words.",
        PageMarkup(tuple(node(name="é" * 300, identifier=f"urn:x:{number}" * 200) for number in range(500))),
    ),
    "breadcrumbs without end": (
        "Words.",
        PageMarkup((MarkupNode("JSON-LD", None, ("BreadcrumbList",), STEPS, True),)),
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_is_bounded(name: str) -> None:
    text, markup = HOSTILE[name]
    extraction = extract_edges(text, url=URL, source="s", links={}, markup=markup)
    check(text, extraction)
    if name == "nameless things that lead to each other":
        assert extraction.reason == "too_many_statements"


@pytest.mark.slow
def test_statements_leave_room_for_what_the_text_says() -> None:
    text = "# A\n\n" + "".join(f"## S{number}\n\nText.\n\n" for number in range(MAX_EDGES + 10))
    extraction = extract_edges(text, url=URL, source="s", links={}, markup=PageMarkup((node(name="A"),)))
    assert len(extraction.edges) == MAX_EDGES
    assert all(edge.statement is None for edge in extraction.edges)
    assert extraction.reason == "too_many_edges"


def test_an_edge_of_the_text_has_no_statement() -> None:
    edges: list[Edge] = extract_edges("# A\n\nText.\n", url=URL, source="s", links={}).edges
    assert [edge.statement for edge in edges] == [None]
