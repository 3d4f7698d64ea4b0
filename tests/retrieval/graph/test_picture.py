"""The drawing of a neighbourhood loads nothing and runs nothing that a page wrote."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import combinations

from lxml import html

from webrag_core.retrieval.graph.drawing import draw
from webrag_core.retrieval.graph.models import GraphEdge, GraphNode, KeyAnswer, Related, RelatedItem
from webrag_core.retrieval.graph.picture import render_picture

EVIL = "<script>alert(1)</script>\u202e\"'"


def edge(number: int, src: GraphNode, dst: GraphNode, *, statement: str | None = None) -> GraphEdge:
    """An edge of the text, or of the mark-up alone."""
    return GraphEdge(
        edge_id=number,
        kind="mentions" if statement is None else "typed",
        src=src,
        dst=dst,
        url="https://site.example/",
        title=EVIL,
        section=EVIL,
        version_id=1,
        version=1,
        version_sha256="0" * 64,
        char_start=0 if statement is None else None,
        char_end=5 if statement is None else None,
        quote=EVIL if statement is None else None,
        statement=statement,
        anchor=EVIL,
        strength=0.5,
        origin="explicit",
        seen_from=datetime(2024, 1, 1, tzinfo=UTC),
        seen_until=None,
    )


def test_nodes_edges_and_quotes_are_drawn_and_escaped() -> None:
    seed = GraphNode(kind="symbol", key="site:seed", label=EVIL)
    near = GraphNode(kind="page", key="https://site.example/near", label="Near")
    far = GraphNode(kind="page", key="https://site.example/far", label="")
    one, two = edge(1, near, seed), edge(2, near, far)
    related = Related(
        keys=[KeyAnswer(asked="seed", status="found", node=seed), KeyAnswer(asked="x", status="unknown_key")],
        items=[RelatedItem(node=near, score=0.5, chain=[one]), RelatedItem(node=far, score=0.2, chain=[one, two])],
    )
    page = render_picture(related)
    document = html.document_fromstring(page)
    assert not document.xpath("//script | //img | //link | //*[starts-with(@href, 'http')] | //*[@src]")
    assert len(document.xpath("//svg//line")) == 2
    assert len(document.xpath("//g/circle")) == 3
    assert document.xpath("//li/@id") == ["edge1", "edge2"]
    assert "<script>" not in page
    assert "\u202e" not in "".join(document.xpath("//svg//text/text()"))


def test_what_mark_up_states_is_told_from_what_the_text_says() -> None:
    seed, near = (
        GraphNode(kind="page", key="https://s.example/a", label="A"),
        GraphNode(kind="entity", key="x", label=EVIL),
    )
    stated = edge(1, seed, near, statement=f'JSON-LD: this page author Person "{EVIL}"')
    related = Related(
        keys=[KeyAnswer(asked="a", status="found", node=seed)],
        items=[RelatedItem(node=near, score=0.5, chain=[stated])],
    )
    page = render_picture(related)
    document = html.document_fromstring(page)
    assert "<script>" not in page
    assert "no longer kept" not in page
    assert "\u202e" not in "".join(document.xpath("//p[@class='stated']//text()"))
    assert document.xpath("string(//p[@class='stated'])").startswith(
        "stated in the page's mark-up, not in its text: JSON"
    )
    assert "characters" not in document.xpath("string(//div[@class='where'])")


def test_nothing_found_is_an_empty_drawing() -> None:
    page = render_picture(Related(keys=[KeyAnswer(asked="x", status="unknown_key")], items=[]))
    assert "nothing stored" in page


def test_labels_of_a_crowd_do_not_cover_each_other() -> None:
    seed = GraphNode(kind="page", key="https://s.example/", label="Start")
    nodes = [GraphNode(kind="symbol", key=f"s:{number}", label=f"some.long.name_{number}") for number in range(40)]
    items = [RelatedItem(node=node, score=0.5, chain=[edge(place, seed, node)]) for place, node in enumerate(nodes)]
    drawing = draw(Related(keys=[KeyAnswer(asked="s", status="found", node=seed)], items=items))
    assert len(drawing.spots) == 41
    assert not [(one, other) for one, other in combinations(drawing.spots, 2) if one.meets(other)]
    x, y, width, height = drawing.box
    assert all(x < spot.x < x + width and y < spot.y < y + height for spot in drawing.spots)
