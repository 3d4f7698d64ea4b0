"""What a converted page leaves out is counted by reason, and headings that lost all below them are named."""

from __future__ import annotations

import pytest

from tests.conversion.card_pages import CONTENTS, FRAME_LINES, MARKUPS, card_page
from webrag_core.conversion.converted_page import NOTHING_LEFT_OUT, ConvertedPage, LeftOut
from webrag_core.conversion.html import convert_html

PROSE = "Every paragraph of the text says something, with commas, in sentences that are long enough to be read."


def converted(html: str, *, all_text: bool = False) -> ConvertedPage:
    return convert_html(html.encode(), url="https://example.org/a", all_text=all_text)


PARTS = {
    "navigation": "<nav><a href='/b'>other page</a></nav>",
    "hidden": "<p hidden>not shown</p>",
    "actions": "<button>Share it</button>",
    "boilerplate": "<div class='newsletter'><p>Hear from us</p><input></div>",
}


@pytest.mark.parametrize("kept", [None, *PARTS])
def test_each_reason_counts_its_characters(kept: str | None) -> None:
    sizes = {"navigation": 9, "hidden": 8, "actions": 7, "boilerplate": 10}
    around = "".join(html for name, html in PARTS.items() if name != kept)
    page = converted(f"<body>{around}<h1>Title</h1><pre>code</pre><p>{PROSE}</p><script>var unseen = 1;</script>")
    assert page.left_out == LeftOut(**{name: size for name, size in sizes.items() if name != kept})


def test_a_page_of_content_alone_leaves_out_nothing() -> None:
    page = converted(f"<body><main><h1>Title</h1><p>{PROSE} <b>And more.</b></p><ul><li>one</li></ul></main>")
    assert page.left_out == NOTHING_LEFT_OUT
    assert not page.warnings


@pytest.mark.parametrize("heading", ["<h3>Length</h3>", "<div><h2><b>Length</b></h2></div>"])
def test_a_heading_that_lost_its_text_is_a_warning(heading: str) -> None:
    answer = "<div class=pagination><a href=/1>for</a> <a href=/2>two</a> <a href=/3>years</a></div>"
    page = converted(f"<main><h1>Lamp</h1>{heading}{answer}<h2>Price</h2><p>{PROSE}</p></main>")
    assert page.left_out.bare_headings == 1
    assert "“Length”" in page.warnings[0]


@pytest.mark.parametrize(
    "below",
    [
        "",
        "<img src='a.png' alt='A plan'>",
        "<nav>Parts</nav>",
        "<div id='book-navigation-2'><ul><li><a href=/b>What is a lamp?</a><li><a href=/c>Who made it?</a></ul></div>",
        "<button>Show</button>",
        "<div role=button>Show more</div>",
        "<a href='javascript:void(0)'>Expand</a>",
        "<form><input name=q><input type=submit value=Go></form>",
        "<ul><li><input type=checkbox disabled checked> </li></ul>",
        "a",
    ],
)
def test_other_headings_are_none(below: str) -> None:
    page = converted(f"<main><h1>Lamp</h1><h2>Plan</h2>{below}<h2>Price</h2><p>{PROSE}</p></main>")
    assert page.left_out.bare_headings == 0
    assert not page.warnings


@pytest.mark.parametrize("in_main", [True, False])
def test_all_text_keeps_what_the_page_shows(in_main: bool) -> None:
    page = card_page(MARKUPS["card-footer"], CONTENTS["events"], in_main=in_main)
    hidden = "<p hidden>UNSEEN</p><script>UNSEEN</script><style>UNSEEN</style>"
    full = converted(page.html.replace("</h1>", f"</h1>{hidden}"), all_text=True)
    assert all(line in full.markdown for line in (*FRAME_LINES, "Visit", "Decline"))
    assert "UNSEEN" not in full.markdown
    assert full.left_out == LeftOut(hidden=6)


def test_many_boxes_and_headings_are_counted_in_one_walk() -> None:
    html = "<nav>" * 200 + "a" + "</nav>" * 200 + f"<h2>t</h2><p>{PROSE}</p>" * 500 + "<button>go on</button>" * 3_000
    page = converted(f"<body><main>{html}</main>")
    assert (page.left_out.navigation, page.left_out.actions, page.left_out.bare_headings) == (1, 12_000, 0)
