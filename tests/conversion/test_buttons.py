"""Buttons and options: what says something is text, what only does something is not."""

from __future__ import annotations

import pytest

from webrag_core.conversion.html import convert_html
from webrag_core.conversion.shown.action_words import is_action
from webrag_core.indexing.markdown import parse_blocks


def markdown(html: str) -> str:
    return convert_html(html.encode(), url="https://example.org/valve.html").markdown


def page(body: str) -> str:
    return markdown(f"<main><h1>Valve</h1><p>The valve opens at two bar and closes at one.</p>{body}</main>")


SENTENCES = {
    "<p>The <button class=tip>dead band</button> is 2 bar wide.</p>": "The dead band is 2 bar wide.",
    "<div><button class=glossary>hysteresis</button> is the lag of it.</div>": "hysteresis is the lag of it.",
    "<p>It has a <b>wide</b> <button>dead band</button>, once set.</p>": "It has a **wide** dead band, once set.",
    "<p>The lag is called <button>hysteresis</button>.</p>": "The lag is called hysteresis.",
    "<p>Click <button>Copy</button> to copy the setting.</p>": "Click Copy to copy the setting.",
    "<li>See <button type=button aria-describedby=x>dead band</button> (page 3)": "See dead band (page 3)",
    "<p>The <code>p</code> <button>offset</button> <em>may</em> be negative.</p>": "The `p` offset *may* be negative.",
    "<ul><li><button>Small - 12 EUR</button></li><li><button>Large</button></li></ul>": "- Small - 12 EUR\n- Large",
    "<table><tr><th>Plan<th>Price<tr><td><button>A</button><td><b><button>10 EUR</button></b></table>":
        "| A | **10 EUR** |",
    "<button class=card><h3>Basic</h3><p>It costs 10 EUR.</p></button>": "### Basic\n\nIt costs 10 EUR.",
    "<div role=radiogroup aria-label=Size><button role=radio>38 cm</button><button role=radio>40 cm</button></div>":
        "- 38 cm\n- 40 cm",
}  # fmt: skip


@pytest.mark.parametrize("html", SENTENCES)
def test_a_button_with_words_of_the_text_is_text(html: str) -> None:
    assert SENTENCES[html] in page(html)


TITLES = {
    "class": "<button class=accordion>Q1</button><div class=panel><p>A1</p></div><button"
    " class=accordion>Q2</button><div"
    " class=panel><p>A2</p></div>",
    "state": "<div><button aria-expanded=true>Q1</button><div>A1</div></div><div><button"
    " aria-expanded=false>Q2</button>"
    "<div>A2</div></div>",
    "ids": "<div class=i><div class=h><button aria-controls=a>Q1</button></div><p>-</p><div id=a>A1</div></div><div"
    " class=i>"
    "<div class=h><button aria-controls=b>Q2</button></div><p>-</p><div id=b>A2</div></div>",
    "repeated": "<section><button class=x1>Q1</button><p class=y>A1</p><button class=x1>Q2</button><p"
    " class=y>A2</p></section>",
    "Bootstrap": "<div><button data-bs-toggle=collapse data-bs-target='#a'>Q1</button><div class=collapse"
    " id=a>A1</div></div>"
    "<div><button data-bs-toggle=collapse data-bs-target='#b'>Q2</button><div class=collapse id=b>A2</div></div>",
    "items": "<ul><li><button aria-expanded=false>Q1</button><p>A1</p></li><li><button"
    " aria-expanded=false>Q2</button><p>A2"
    "</p></li></ul>",
    "wrapped": "<div class=row><span><button class=faq-toggle>Q1<svg><path"
    " d='M0'/></svg></button></span><div>A1</div></div>"
    "<div class=row><span><button class=faq-toggle>Q2</button></span><div>A2</div></div>",
}


@pytest.mark.parametrize("kind", TITLES)
def test_a_button_stands_before_its_panel(kind: str) -> None:
    questions = ("How much is delivery?", "Can I change an order?")
    answers = ("It costs 9 EUR.", "Only in the first hour.")
    html = TITLES[kind]
    for number in (1, 2):
        html = html.replace(f"Q{number}", questions[number - 1]).replace(f"A{number}", answers[number - 1])
    text = page(f"<h2>Orders</h2>{html}<p>Write to us for anything else.</p>")
    places = [text.index(words) for pair in zip(questions, answers, strict=True) for words in pair]
    assert places == sorted(places)
    paths = {text[block.start : block.end]: block.heading_path for block in parse_blocks(text)}
    for question, answer in zip(questions, answers, strict=True):
        assert next(path for block, path in paths.items() if answer in block)[-1] == question
    assert paths["Write to us for anything else."] == ("Valve", "Orders")


def test_a_panel_with_headings_has_the_words_of_its_button_as_a_heading() -> None:
    text = page(
        "<h2>Orders</h2><button aria-controls=a>Delivery</button><div id=a><h3>By air</h3><p>9 EUR.</p></div><button"
        " aria-controls=b>Change</button><div id=b><h3>By phone</h3><p>One hour.</p></div>"
    )
    assert "## Orders\n\n### Delivery\n\n#### By air\n\n9 EUR.\n\n### Change\n\n#### By phone\n\nOne hour." in text


ACTIONS = (
    "<button>Subscribe</button>",
    "<pre>x = 1</pre><button>Copy</button>",
    "<p>Read the manual.</p><button>Share on X</button>",
    "<ul><li><button>In den Warenkorb</button></li></ul>",
    "<table><tr><th>a<th>b<tr><td>1<td><button>Löschen</button> <button>Bearbeiten</button></table>",
    "<form><input type=email><button>Notify me by mail</button></form>",
    "<form><button type=submit>Order the valve today</button></form>",
    "<h2>Sizes <button>Copy link</button></h2>",
    "<ul class=pagination><li><button>1</button></li><li><button>2</button></li></ul>",
    "<p>Was this page helpful? <button>Rather</button> <button>Hardly</button></p>",
    "<button aria-label='Help'><svg><path d='M0'/></svg></button>",
    "<button aria-haspopup=menu aria-controls=m>Versions</button><ul id=m role=menu><li>OK</ul>",
)


@pytest.mark.parametrize("html", ACTIONS)
def test_actions_are_no_text(html: str) -> None:
    text = page(f"{html}<p>The last paragraph of the page.</p>")
    words = ("Subscribe", "Copy", "Share", "Warenkorb", "Löschen", "Notify", "Order", "Rather", "Help", "Versions")
    assert not [word for word in words if word in text]


@pytest.mark.parametrize(
    "words",
    ["Copy", " copy code ", "Search…", "MENU", "× Close", "Subscribe", "Add to cart", "Add 2 to basket", "Accept all",
     "Alle akzeptieren", "S’abonner", "Añadir al carrito", "Leggi di più", "Leia mais", "Zoeken", "Zaloguj się",
     "В корзину", "検索", "加入购物车", "더보기"],
)  # fmt: skip
def test_actions_in_many_languages_are_known(words: str) -> None:
    assert is_action(words)


@pytest.mark.parametrize(
    "words", ["Search operators", "Dead band", "S - 12 EUR", "Copy of a deed", "", "Menu of the day"]
)
def test_words_that_only_begin_like_actions_are_none(words: str) -> None:
    assert not is_action(words)


OPTIONS = "<option value=''>Please choose</option><option>Red - 12 EUR</option><option>Blue - 14 EUR</option>"
LISTS = (
    f"<label for=s>Colour</label><select id=s>{OPTIONS}</select>",
    f"<label>Colour <select>{OPTIONS}</select></label>",
    f"<p><label for=s>Colour</label> <select id=s name=colour>{OPTIONS}</select></p>",
    f"<div><span>Colour</span><select>{OPTIONS}</select></div>",
    f"<select aria-label=Colour>{OPTIONS}</select>",
    f"<form action=/cart/add><label>Colour</label><select>{OPTIONS}</select><button>Add to cart</button></form>",
    f"<form><label>Colour</label><select><optgroup label=All>{OPTIONS}</optgroup></select></form>",
)


@pytest.mark.parametrize("html", LISTS)
def test_options_are_a_list_below_their_label(html: str) -> None:
    text = page(html)
    assert "- Red - 12 EUR\n- Blue - 14 EUR" in text
    assert "Colour" in text[: text.index("Red")]
    assert "Please choose" not in text


def test_options_in_a_cell_stand_in_its_line() -> None:
    text = page(f"<table><tr><th>Shade<th>Colour<tr><td>Large<td><select>{OPTIONS}</select></table>")
    assert "| Large | Red - 12 EUR; Blue - 14 EUR |" in text


STEERING = (
    "<form><label>Colour</label><select><option>Red - 12 EUR</select><button type=submit>Send</button></form>",
    "<form><select><option>Red - 12 EUR</select><input type=submit></form>",
    "<select onchange='location = this.value'><option value='/1'>Red - 12 EUR<option value='/2'>Blue</select>",
    "<select><option value='https://example.org/1'>Red - 12 EUR<option value='/2.html'>Blue</select>",
    "<label>Sort by <select><option>Red - 12 EUR</select></label>",
    "<header><select><option>Red - 12 EUR</select></header>",
    "<select aria-label=Language><option>Red - 12 EUR</select>",
    f"<select>{''.join(f'<option>Red - 12 EUR {n}</option>' for n in range(100))}</select>",
)


@pytest.mark.parametrize("html", STEERING)
def test_options_that_are_sent_or_steer_the_page_are_no_text(html: str) -> None:
    assert "Red - 12 EUR" not in page(html)
