"""Cards, lists of entries and named boxes: what a page shows of its content stays, what stands around it does not."""

from __future__ import annotations

import lxml.html
import pytest

from tests.conversion.card_pages import (
    CONTENTS,
    FRAME_LINES,
    MARKUPS,
    OTHER_CONTENTS,
    OTHER_MARKUPS,
    Card,
    CardPage,
    card_page,
)
from webrag_core.conversion.boilerplate import kind_of_box
from webrag_core.conversion.content.cards import card_groups
from webrag_core.conversion.content.facts import states_fact, states_quantity
from webrag_core.conversion.content.units import text_units
from webrag_core.conversion.html import convert_html


def markdown(html: str) -> str:
    return convert_html(html.encode(), url="https://example.org/page.html").markdown


@pytest.mark.parametrize("in_main", [True, False])
@pytest.mark.parametrize("name", MARKUPS)
def test_cards_keep_all_their_parts_and_the_frame_goes(name: str, in_main: bool) -> None:
    pages = [card_page(MARKUPS[name], content, in_main=in_main) for content in CONTENTS.values()]
    for page in (*pages, card_page(MARKUPS[name], OTHER_CONTENTS["flats"], in_main=in_main, count=12)):
        _check(page)


@pytest.mark.parametrize("name", OTHER_MARKUPS)
def test_cards_of_other_frameworks_and_languages_stay_too(name: str) -> None:
    content = list(OTHER_CONTENTS.values())[len(name) % len(OTHER_CONTENTS)]
    _check(card_page(OTHER_MARKUPS[name], content, in_main=len(name) % 2 == 0, count=5))


def _check(page: CardPage) -> None:
    text = markdown(page.html)
    assert not page.lost(text)
    assert not page.lost_texts(text)
    assert not [line for line in FRAME_LINES if line in text]


PROSE = "The house was built for the miller, and has been a school, a shop and a hall for dances in its time."
FACTS = [
    "Entry: 12 EUR",
    "+49 351 4956 110",
    "Open 10:00 to 17:00",
    "since 3 May 2019",
    "Version 3.2.1",
    "140 m²",
    "7 km",
]


@pytest.mark.parametrize("fact", FACTS)
@pytest.mark.parametrize(
    "box", ["<p class='price'>{}</p>", "<div class='meta'>{}</div>", "<span class='label'>{}</span>"]
)
def test_a_short_fact_beside_prose_stays(box: str, fact: str) -> None:
    texts = "".join(f"<p>{PROSE.replace('miller', name)}</p>" for name in ("miller", "baker", "smith", "weaver"))
    html = f"<body><div class='page'><div class='entry'><h2>The house</h2>{texts}{texts}{box.format(fact)}</div></div>"
    assert fact in markdown(
        f"{html}<footer class='site-footer'><p>© 2024 The house, phone 0351 4956</p></footer></body>"
    )


@pytest.mark.parametrize(
    "text", [*FACTS, "19,99 €", "5. Mai 2024", "12 de abril de 2024", "2024年3月4日", "-10 %", "v2.1"]
)
def test_facts_are_known(text: str) -> None:
    assert states_fact(text)


@pytest.mark.parametrize("text", ["Free", "Page 2 of 3", "Chapter 12", "1,204", "3 comments", "5 min read", "x" * 170])
def test_other_numbers_are_no_facts(text: str) -> None:
    assert not states_fact(text)
    assert not states_quantity("Posted on 3 May 2024, 10:15")


NAMES = [
    "pagination", "share-this", "comment-list", "breadcrumb-config", "cookie-notice", "related-posts", "newsletter",
    "social-media", "card-footer", "panel-footer", "table-footer", "footer-note", "api-pagination", "share-tools",
    "comments-section", "mdc-card__footer", "entry-footer", "pagination-limits", "disqus",
]  # fmt: skip


@pytest.mark.parametrize("around", ["<main>{}</main>", "<article>{}</article>", "<div class='page'>{}</div>"])
@pytest.mark.parametrize("more", ["", "<pre>GET /items</pre>"])
def test_a_box_of_prose_stays_whatever_its_name(around: str, more: str) -> None:
    boxes = "".join(
        f'<div class="{name}"><p>KEEP {name} says how the setting of this name is read, and by whom.</p></div>'
        f'<p id="{name}">KEEP {name} is off in the beginning.</p>'
        for name in NAMES
    )
    assert markdown(f"<body>{around.format(f'<h1>Settings</h1>{more}{boxes}')}</body>").count("KEEP") == 2 * len(NAMES)


LINKS = "".join(f'<a href="/other/{number}">DROP page {number}</a> ' for number in range(4))


@pytest.mark.parametrize("around", ["<main>{}</main>", "<div class='page'>{}</div>"])
@pytest.mark.parametrize("name", ["breadcrumbs", "pagination", "wy-breadcrumbs", "share-buttons", "related-posts"])
def test_a_named_box_of_links_goes(around: str, name: str) -> None:
    html = around.format(f"<div class='{name}'>{LINKS}</div><h1>KEEP</h1><pre>KEEP</pre><p>KEEP {PROSE}</p>")
    text = markdown(f"<body>{html}</body>")
    assert "DROP" not in text
    assert text.count("KEEP") == 3


FORMS = {
    "newsletter": "<p>DROP Hear from us each month.</p><form><input type='email'></form>",
    "cookie-banner": "<p>DROP We use cookies to count visits.</p><button>Accept</button>",
    "comments-area": "<ol><li class='comment'><p>DROP Thank you!</p></li></ol>",
    "site-footer": "<p>DROP All rights reserved.</p>",
    "nav-footer": "<p>DROP next</p>",
}


@pytest.mark.parametrize("name", FORMS)
def test_named_boxes_around_a_reference_page_go_with_what_they_offer(name: str) -> None:
    text = markdown(
        f"<body><div><h1>KEEP</h1><pre>KEEP</pre><p>{PROSE}</p></div><div class='{name}'>{FORMS[name]}</div>"
    )
    assert "DROP" not in text
    assert text.count("KEEP") == 2


def test_names_of_a_part_are_no_names_of_the_frame() -> None:
    frames = "footer site-footer page-footer md-footer footer__inner navbar nav-footer subnav colophon footer-copyright"
    assert {kind_of_box(name) for name in frames.split()} == {"frame"}
    parts = "card-footer panel-footer table-footer footer-note mdc-card__footer modal-footer entry-footer"
    assert {kind_of_box(name) for name in parts.split()} == {"part"}


@pytest.mark.parametrize("markup", ["bulma", "article cards", "quotes"])
def test_footers_of_cards_stay_without_the_model(markup: str) -> None:
    page = card_page({**MARKUPS, **OTHER_MARKUPS}[markup], CONTENTS["courses"], in_main=False)
    text = markdown(page.html.replace("</h1>", "</h1><pre>make all</pre>"))
    assert not page.lost(text)
    assert FRAME_LINES[2] not in text


def test_sections_of_a_text_and_unlike_boxes_are_no_cards() -> None:
    sections = "".join(f"<h2>Part {number}</h2><p>{PROSE}</p><p>{PROSE}</p>" for number in range(3))
    unlike = f"<div class='box'><h2>a b</h2><p>{PROSE * 9}</p></div><div class='box'><ul><li>c</li></ul><p>d</p></div>"
    for html in (sections, unlike, f"<ul>{'<li>one of many</li>' * 5}</ul>"):
        root = lxml.html.document_fromstring(f"<body><div>{html}</div></body>").body
        assert not card_groups(root, text_units(root))


def test_groups_within_groups_come_first() -> None:
    card = "<div class='card'><h3>A title</h3><ul>" + "<li><b>x</b><p>y z</p>1</li>" * 3 + "</ul></div>"
    root = lxml.html.document_fromstring(f"<body><div>{card * 3}</div></body>").body
    groups = card_groups(root, text_units(root))
    assert [group.cards for group in groups] == [3, 3, 3, 3]
    assert len(groups[-1].units) == max(len(group.units) for group in groups)


def test_a_single_card_is_no_group() -> None:
    card = Card("A", "b c", "d", "/e")
    root = lxml.html.document_fromstring(f"<body>{MARKUPS['price box']((card,))}</body>").body
    assert not card_groups(root, text_units(root))
