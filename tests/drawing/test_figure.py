"""Figures are well-formed, hold no markup and no style of anybody else, and fit what is given to them."""

from __future__ import annotations

from lxml import etree

from webrag_core.drawing.figure import DataTable, Figure, Label, fitted, text_width
from webrag_core.drawing.tree import Node, tree

EVIL = "<script>alert(1)</script>\u202e\"'&amp; ]]> -->"
SVG = "{http://www.w3.org/2000/svg}"


def test_text_stays_text_in_elements_and_in_files() -> None:
    figure = Figure(EVIL, 100, 40, [Label("soft", 0, 10, EVIL)])
    for text in (str(figure.svg()), figure.document()):
        assert "<script" not in text
        assert "\u202e" not in text
        root = etree.fromstring(text)
        assert root.get("aria-label") == EVIL.replace("\u202e", "")
        assert not root.xpath("//@style | //@onload")


def test_a_file_has_its_looks_in_it_and_an_element_has_none() -> None:
    figure = Figure("Nothing", 100, 40, [])
    assert etree.fromstring(figure.document()).find(f"{SVG}style") is not None
    assert "prefers-color-scheme: dark" in figure.document()
    assert "<style" not in figure.svg()


def test_labels_are_cut_to_their_room() -> None:
    for text in ("short", "a label that goes on and on and on for ever", "長い題名がここに続いています"):
        assert text_width(fitted(text, 120)) <= 120
    assert fitted("short", 120) == "short"
    assert fitted("W" * 50, 3) == "…"


def test_a_tree_has_a_row_for_each_node_below_its_parent() -> None:
    nodes = [
        Node("root", "Root", "", "none", None),
        Node("b", EVIL, "", "full", "root", href="/b?x=1&y=2"),
        Node("c", "C", "", "cross", "root", is_sure=False),
        Node("d", "D", "", "open", "b"),
    ]
    figure = tree("A tree", nodes, DataTable((), ()))
    root = etree.fromstring(figure.svg())
    rows = [text for text in root.xpath("//text[@class!='soft']/text()")]
    assert rows[0] == "Root"
    assert rows[2:] == ["D", "C"]
    assert root.xpath("//a/@href") == ["/b?x=1&y=2"]
    assert len(root.xpath("//line[@class='way broken']")) == 1
    assert root.get("role") == "group", "what has links is no image"
    assert len({text.get("y") for text in root.xpath("//text[@class!='soft']")}) == 4
