"""The picture of a walk: which page led where, and what became of each."""

from __future__ import annotations

from lxml import etree

from webrag_core.orchestration.walk import Walk, make_walk
from webrag_core.showing.walk_figure import walk_figure

SITE = "https://tea.example"
EVIL = "<b onclick=x>\u202eteapot</b>"


def walk(**changes: object) -> Walk:
    """A start page that led to a page, which led on; another one without a text; a stored one that is quoted."""
    given: dict[str, object] = {
        "rounds": {f"{SITE}/": 0, f"{SITE}/green": 1, f"{SITE}/lost": 1, f"{SITE}/gaiwan": 2},
        "failed": [f"{SITE}/lost"],
        "origins": {
            f"{SITE}/green": f"{SITE}/index.html",
            f"{SITE}/lost": f"{SITE}/sitemap.xml",
            f"{SITE}/": f"{SITE}/gaiwan",
            f"{SITE}/pots": f"{SITE}/green",
        },
        "titles": {f"{SITE}/green": f"{EVIL} — Tea"},
        "quotes": {f"{SITE}/green": [2, 1], f"{SITE}/old": [3]},
        "look_next": [f"{SITE}/pots", f"{SITE}/green"],
    }
    return make_walk("How hot?", **{**given, **changes})  # type: ignore[arg-type]


def test_each_page_stands_with_what_led_to_it() -> None:
    pages = {page.url.removeprefix(SITE): page for page in walk().pages}
    assert list(pages) == ["/", "/green", "/lost", "/gaiwan", "/old", "/pots"]
    assert pages["/"].from_url is None, "nothing later has led to a start page"
    assert pages["/green"].from_url == f"{SITE}/", "an index file is its folder"
    assert (pages["/lost"].state, pages["/lost"].named_in) == ("failed", f"{SITE}/sitemap.xml")
    assert (pages["/gaiwan"].from_url, pages["/gaiwan"].named_in) == (None, None)
    assert (pages["/old"].state, pages["/old"].quotes) == ("stored", (3,))
    assert (pages["/pots"].state, pages["/pots"].from_url) == ("next", f"{SITE}/green")


def test_the_picture_and_its_table_say_the_same() -> None:
    figure = walk_figure(walk(), lambda number: f"/answers/1?quote={number}#page")
    assert figure is not None
    svg = etree.fromstring(figure.svg())
    assert svg.xpath("//a/@href") == ["/answers/1?quote=2#page", "/answers/1?quote=3#page"]
    texts = svg.xpath("//text/text()")
    assert "4 pages in 3 rounds, 2 pages quoted" in texts
    assert "read in round 1, quotes 1, 2" in texts
    assert "<b onclick=x>teapot</b>" in texts, "markup of a title is text, and the name of its site is left out"
    assert len(svg.xpath("//line[@class='cross']")) == 2
    rows = {row[1].removeprefix(SITE): row[2:] for row in figure.table.rows}
    assert rows["/gaiwan"] == ("read in round 2", "–", "–")
    assert rows["/lost"] == ("read in round 1, gave no text", f"{SITE}/sitemap.xml", "–")
    assert "not known" in figure.note


def test_many_pages_leave_the_quoted_ones_in_the_picture() -> None:
    rounds = {f"{SITE}/": 0, **{f"{SITE}/{number}": 1 for number in range(60)}}
    origins = {url: f"{SITE}/" for url in rounds}
    figure = walk_figure(walk(rounds=rounds, origins=origins, quotes={f"{SITE}/59": [1]}, failed=[], look_next=[]))
    assert figure is not None
    assert len(figure.table.rows) == 61
    assert "are in the table" in figure.note
    assert "tea.example/59" in etree.fromstring(figure.svg()).xpath("//text/text()")


def test_a_walk_without_pages_has_no_picture() -> None:
    assert walk_figure(walk(rounds={}, quotes={}, look_next=[], failed=[])) is None
