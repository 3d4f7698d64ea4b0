"""Pages of cards: contents of several kinds in the mark-ups that public sites use, with a site's frame around them.

Each card has a title, a description and a line of facts (date, price, telephone, version, place). The frame has what a
reader of the page does not look for; FRAME_LINES are its texts.
"""

# ruff: noqa: E501  (mark-up reads better in whole elements)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Card:
    """One entry: its texts, and where its title leads."""

    title: str
    text: str
    fact: str
    path: str


@dataclass(frozen=True, slots=True)
class CardPage:
    """A page, and the texts of it that are content."""

    html: str
    cards: tuple[Card, ...]

    def lost(self, markdown: str) -> list[str]:
        """Lines of facts that the Markdown does not hold."""
        return [card.fact for card in self.cards if card.fact not in markdown]

    def lost_texts(self, markdown: str) -> list[str]:
        """Titles and descriptions that the Markdown does not hold."""
        return [text for card in self.cards for text in (card.title, card.text) if text not in markdown]


Make = Callable[[Card], str]


def _wrapped(start: str, card: Make, end: str) -> Callable[[tuple[Card, ...]], str]:
    return lambda cards: start + "".join(map(card, cards)) + end


MARKUPS: dict[str, Callable[[tuple[Card, ...]], str]] = {
    "card-footer": _wrapped(
        '<div class="row">',
        lambda c: (
            f'<div class="col-md-4"><div class="card"><div class="card-header">{c.title}</div><div'
            f' class="card-body"><p class="card-text">{c.text}</p></div><div class="card-footer">{c.fact}</div></div></div>'
        ),
        "</div>",
    ),
    "article with a date": _wrapped(
        '<div class="list">',
        lambda c: (
            f'<article><h3><a href="{c.path}">{c.title}</a></h3><p>{c.text}</p><p class="date">{c.fact}</p></article>'
        ),
        "</div>",
    ),
    "price box": _wrapped(
        '<div class="grid">',
        lambda c: f'<div class="item"><h3>{c.title}</h3><p>{c.text}</p><div class="price">{c.fact}</div></div>',
        "</div>",
    ),
    "utility classes": _wrapped(
        '<div class="grid grid-cols-3 gap-6">',
        lambda c: (
            '<div class="rounded-lg border bg-white p-6 shadow-sm"><h3 class="text-lg font-semibold">'
            f'{c.title}</h3><p class="mt-2 text-gray-600">{c.text}</p><div class="mt-4 text-sm text-gray-500">'
            f"{c.fact}</div></div>"
        ),
        "</div>",
    ),
    "article cards": _wrapped(
        '<section class="cards">',
        lambda c: (
            f'<article class="card"><header><h2>{c.title}</h2></header><p>{c.text}</p><footer>{c.fact}</footer>'
            "</article>"
        ),
        "</section>",
    ),
    "list entries": _wrapped(
        '<ul class="entries">',
        lambda c: f'<li class="entry"><h3>{c.title}</h3><p>{c.text}</p><span class="meta">{c.fact}</span></li>',
        "</ul>",
    ),
    "definitions": _wrapped("<dl>", lambda c: f"<dt>{c.title}</dt><dd>{c.text}</dd><dd>{c.fact}</dd>", "</dl>"),
    "list group": _wrapped(
        '<div class="list-group">',
        lambda c: (
            f'<a href="{c.path}" class="list-group-item list-group-item-action"><div class="d-flex w-100">'
            f'<h5 class="mb-1">{c.title}</h5></div><p class="mb-1">{c.text}</p><small>{c.fact}</small></a>'
        ),
        "</div>",
    ),
    "card-text": _wrapped(
        '<div class="card-deck">',
        lambda c: (
            f'<div class="card"><div class="card-body"><h5 class="card-title">{c.title}</h5><p'
            f' class="card-text">{c.text}</p><p class="card-text">{c.fact}</p></div></div>'
        ),
        "</div>",
    ),
    "facts first": _wrapped(
        '<div class="events">',
        lambda c: f'<div class="event"><span class="event-date">{c.fact}</span><h3>{c.title}</h3><p>{c.text}</p></div>',
        "</div>",
    ),
}
"""The mark-ups of the public reports."""

OTHER_MARKUPS: dict[str, Callable[[tuple[Card, ...]], str]] = {
    "material": _wrapped(
        '<div class="mdc-layout-grid__inner">',
        lambda c: (
            '<div class="mdc-layout-grid__cell"><div class="mdc-card"><div class="mdc-card__content">'
            f'<h6 class="mdc-typography--headline6">{c.title}</h6><div class="mdc-typography--body2">{c.text}</div></div>'
            f'<div class="mdc-card__footer">{c.fact}</div></div></div>'
        ),
        "</div>",
    ),
    "bulma": _wrapped(
        '<div class="columns is-multiline">',
        lambda c: (
            '<div class="column is-one-third"><div class="card"><header class="card-header"><p'
            f' class="card-header-title">{c.title}</p></header><div class="card-content"><div class="content">{c.text}'
            f'</div></div><footer class="card-footer"><p class="card-footer-item">{c.fact}</p></footer></div></div>'
        ),
        "</div>",
    ),
    "bootstrap panels": _wrapped(
        '<div class="row">',
        lambda c: (
            '<div class="col-sm-6"><div class="panel panel-default"><div class="panel-heading"><h3'
            f' class="panel-title">{c.title}</h3></div><div class="panel-body">{c.text}</div><div class="panel-footer">'
            f"{c.fact}</div></div></div>"
        ),
        "</div>",
    ),
    "shop": _wrapped(
        '<ul id="product-grid" class="grid product-grid grid--3-col-desktop" role="list">',
        lambda c: (
            '<li class="grid__item"><div class="card-wrapper product-card-wrapper"><div class="card__content">'
            f'<div class="card__information"><h3 class="card__heading h5"><a href="{c.path}" class="full-unstyled-link">'
            f'{c.title}</a></h3><div class="card-information"><div class="caption-large light">{c.text}</div>'
            f'<div class="price"><div class="price__container"><span class="price-item">{c.fact}</span></div></div></div>'
            "</div></div></div></li>"
        ),
        "</ul>",
    ),
    "posts of a query": _wrapped(
        '<ul class="wp-block-post-template is-layout-flow">',
        lambda c: (
            f'<li class="wp-block-post post type-post"><h2 class="wp-block-post-title"><a href="{c.path}">'
            f'{c.title}</a></h2><div class="wp-block-post-excerpt"><p class="wp-block-post-excerpt__excerpt">{c.text}</p>'
            f'</div><div class="wp-block-post-date">{c.fact}</div></li>'
        ),
        "</ul>",
    ),
    "media objects": _wrapped(
        '<div class="team">',
        lambda c: (
            '<div class="media"><img class="mr-3" src="p.jpg" alt=""><div class="media-body"><h5 class="mt-0">'
            f'{c.title}</h5>{c.text}<div class="contact"><i class="fa fa-phone"></i> {c.fact}</div></div></div>'
        ),
        "</div>",
    ),
    "figures": _wrapped(
        '<div class="gallery">',
        lambda c: (
            f'<figure class="tile"><img src="t.jpg" alt=""><figcaption><strong>{c.title}</strong><p>{c.text}</p>'
            f'<span class="tile-footer">{c.fact}</span></figcaption></figure>'
        ),
        "</div>",
    ),
    "quotes": _wrapped(
        '<div class="reviews">',
        lambda c: f"<h3>{c.title}</h3><blockquote><p>{c.text}</p><footer>{c.fact}</footer></blockquote>",
        "</div>",
    ),
    "headings in one box": _wrapped(
        '<div class="content-block">',
        lambda c: f'<h3>{c.title}</h3><p>{c.text}</p><p class="small text-muted">{c.fact}</p>',
        "</div>",
    ),
    "sections with lists": _wrapped(
        '<div class="offers">',
        lambda c: (
            f'<section class="offer"><h3>{c.title}</h3><p>{c.text}</p><ul class="offer__facts"><li>{c.fact}</li>'
            f'</ul><a class="btn btn-primary" href="{c.path}">Read more</a></section>'
        ),
        "</div>",
    ),
    "components": _wrapped(
        '<div class="sl-card-grid">',
        lambda c: (
            '<article class="sl-card flex"><p class="title flex"><span>'
            f'{c.title}</span></p><div class="body"><p>{c.text}</p></div><div class="sl-footer">{c.fact}</div></article>'
        ),
        "</div>",
    ),
    "generated classes": _wrapped(
        '<div class="css-1x2y3z">',
        lambda c: (
            f'<div class="css-k008qs"><div class="css-0"><p class="css-a1">{c.title}</p><p class="css-b2">'
            f'{c.text}</p></div><div class="css-c3"><span>{c.fact}</span></div></div>'
        ),
        "</div>",
    ),
}
"""Mark-ups of other frameworks and shops."""

_COURSES = (
    ("Throwing for beginners", "Six evenings at the wheel, in a group of eight at most. You will centre the clay and"
     " pull the walls of cups and small bowls.", "Starts on 4 March, costs 180 EUR."),
    ("Hand building", "Four evenings with coils and slabs. You will build a vase and a lidded box, and learn how to"
     " join parts so that they do not crack.", "Starts on 11 March, costs 120 EUR."),
    ("Glazing day", "One Saturday with test tiles, dipping, pouring and brushing. We fire on Monday, and you collect"
     " your tiles a week later.", "On 29 March, costs 65 EUR."),
    ("Raku in the yard", "We fire in the open, take the pots out while they glow, and let the smoke do the rest. Bring"
     " three pots that are fired once.", "On 12 April, costs 95 EUR."),
)  # fmt: skip
_PEOPLE = (
    ("Ada Brook", "Ada keeps the books and answers questions about invoices. She has been with the office since it"
     " moved to Mill Lane.", "Phone 0113 496 0110"),
    ("Ben Carter", "Ben looks after the greenhouses and their heating. He also leads the tours of the garden for"
     " schools and clubs.", "Phone 0113 496 0111"),
    ("Chris Dean", "Chris plans the exhibitions together with the museums of the county, and writes most of the labels"
     " that you read there.", "Phone 0113 496 0112"),
    ("Dora Ellis", "Dora is the head of the seed bank. Write to her when you want to swap seeds, or to bring rare ones"
     " from your own garden.", "Phone 0113 496 0113"),
)  # fmt: skip
_DOWNLOADS = (
    ("Gizmo for Linux", "A single file that runs on all common distributions. It needs no installation, and keeps its"
     " settings beside itself.", "Version 2.4.1, 18 MB"),
    ("Gizmo for macOS", "A disk image for computers with either processor. Drag the program into the folder of your"
     " applications, and open it once.", "Version 2.4.0, 22 MB"),
    ("Gizmo for Windows", "An installer that asks for no rights of an administrator. It can be run without questions"
     " from a script, too.", "Version 2.3.9, 25 MB"),
    ("Gizmo for Android", "The small sister of the program, without the editor. It reads every file that the others"
     " write, and sends them by mail.", "Version 1.9.3, 9 MB"),
)  # fmt: skip
_EVENTS = (
    ("Night of the owls", "A walk through the wood with the ranger, who knows where they breed. Please wear shoes that"
     " keep the water out.", "3 May 2025, 21:00, North gate"),
    ("Concert on the lawn", "The town band plays marches and dances, as it does each year. There is cake from the"
     " bakery, and chairs for everybody.", "17 May 2025, 15:00, Rose garden"),
    ("Plant market", "Growers from the valley sell herbs, tomatoes and old kinds of beans. Bring a box, so that you"
     " get your plants home well.", "24 May 2025, 09:00, Long meadow"),
    ("Summer theatre", "Three players, one cart, and a comedy that is four hundred years old. If it rains, we move to"
     " the barn behind the mill.", "6 June 2025, 20:00, Old stage"),
)  # fmt: skip
_RECIPES = (
    ("Bohnensuppe", "Die Bohnen über Nacht einweichen, am Morgen abgießen und mit frischem Wasser, Lorbeer und Möhren"
     " langsam weich kochen.", "90 Minuten, 4 Portionen"),
    ("Kürbisbrot", "Ein Brot, das lange frisch bleibt. Der Kürbis wird gedämpft, durch ein Sieb gestrichen und unter"
     " den Teig geknetet.", "150 Minuten, 1 Laib"),
    ("Rote Grütze", "Aus den Beeren des Gartens, mit wenig Zucker und etwas Stärke gebunden. Dazu passt kalte Sahne"
     " oder Vanillesoße.", "25 Minuten, 6 Portionen"),
    ("Quarkkuchen", "Der Boden ist aus Mürbeteig, der Belag aus Quark, Eiern und Zitrone. Erst am nächsten Tag"
     " schmeckt er richtig.", "70 Minuten, 12 Stück"),
)  # fmt: skip
_FLATS = (
    ("Deux pièces rue du Puits", "Au troisième étage d'un immeuble calme, avec une cuisine ouverte et une cave. Le"
     " chauffage est compris dans les charges.", "42 m², 780 € par mois"),
    ("Studio quai des Tanneurs", "Une grande pièce avec vue sur le canal, une salle d'eau refaite et une place pour le"
     " vélo dans la cour.", "28 m², 560 € par mois"),
    ("Maison avec jardin", "Quatre chambres, deux salles de bains et un garage, à dix minutes de la gare. Le jardin"
     " donne sur le parc.", "115 m², 1 450 € par mois"),
    ("Loft de l'ancienne filature", "De hautes fenêtres, un parquet de chêne et une mezzanine. L'ascenseur monte"
     " jusque dans l'appartement.", "96 m², 1 290 € par mois"),
)  # fmt: skip
_JOBS = (
    ("Gardener", "You look after the beds along the river and train two apprentices. A licence to drive is needed, a"
     " sense for colours is welcome.", "Full time, Leeds, from 31,000 GBP"),
    ("Bookbinder", "You repair books of the town's library by hand and keep a record of each. Experience with leather"
     " is more important than papers.", "Part time, York, from 19,500 GBP"),
    ("Lock keeper", "You work the lock and the bridge, and talk with the skippers by radio. Shifts change every week,"
     " nights are rare.", "Full time, Hull, from 27,000 GBP"),
    ("Night porter", "You welcome late guests, watch the doors and prepare breakfast for the early ones. The house is"
     " small, and mostly quiet.", "Three nights, Whitby, on request"),
)  # fmt: skip


def _cards(rows: tuple[tuple[str, str, str], ...]) -> tuple[Card, ...]:
    return tuple(Card(*row, path=f"/entries/{number}") for number, row in enumerate(rows))


CONTENTS = {
    "courses": ("Evening courses in spring", "All courses take place in the old brick works. Clay, glazes and two"
                " firings are part of the price.", _cards(_COURSES)),
    "people": ("Who works here", "The office is open on weekdays. Each of us has a line of our own, and calls back when"
               " you leave a message.", _cards(_PEOPLE)),
    "downloads": ("Download Gizmo", "All builds come from the same sources, and are signed. Older ones are kept for two"
                  " years.", _cards(_DOWNLOADS)),
    "events": ("What is on in the park", "All events are free, and nobody needs a ticket. Dogs are welcome if they stay"
               " on the lead.", _cards(_EVENTS)),
}  # fmt: skip
"""Title, introduction and cards of the pages that rules were chosen with."""
OTHER_CONTENTS = {
    "recipes": ("Aus der Küche", "Was im Garten wächst, kommt bei uns auf den Tisch. Alle Angaben gelten für einen"
                " gewöhnlichen Herd.", _cards(_RECIPES)),
    "flats": ("Logements à louer", "Les loyers sont donnés sans les charges. Les visites se font le samedi, sur"
              " rendez-vous.", _cards(_FLATS)),
    "jobs": ("Work with us", "We answer every letter within two weeks. Send no photograph, and no papers that you would"
             " miss.", _cards(_JOBS)),
}  # fmt: skip
"""Others, in several languages."""

FRAME_LINES = (
    "We use cookies to make this site work",
    "Get our news once a month",
    "Mill Lane Trust, all rights reserved",
    "Site by Brook and Sons",
    "Terms and conditions",
)
_FRAME_START = (
    '<div id="cookie-banner" class="cookie-banner"><p>We use cookies to make this site work, and to count visits.</p>'
    '<button>Accept</button> <button>Decline</button></div><header class="site-header"><a class="logo" href="/">Mill'
    ' Lane</a><nav class="navbar"><ul class="nav"><li><a href="/a">Visit</a></li><li><a href="/b">Learn</a></li><li>'
    '<a href="/c">Support</a></li><li><a href="/d">Shop</a></li></ul></nav></header>'
)
_FRAME_END = (
    '<div class="newsletter"><h3>Newsletter</h3><p>Get our news once a month. You can unsubscribe at any time.</p><form'
    ' action="/n"><input type="email" placeholder="Mail"><button type="submit">Subscribe</button></form></div><footer'
    ' class="site-footer"><ul><li><a href="/terms">Terms and conditions</a></li><li><a href="/privacy">Privacy</a></li>'
    "</ul><p>© 2025 Mill Lane Trust, all rights reserved.</p><p>Site by Brook and Sons.</p></footer>"
)


def card_page(
    markup: Callable[[tuple[Card, ...]], str],
    content: tuple[str, str, tuple[Card, ...]],
    *,
    in_main: bool = True,
    count: int = 4,
) -> CardPage:
    """Make a page with `count` cards; from the fifth on, titles and facts are those of the first with a number."""
    title, introduction, first = content
    cards = tuple(
        card if round_ == 0 else Card(f"{card.title} {round_ + 1}", f"{card.text} ({round_ + 1})",
                                      f"{card.fact} / {round_ + 1}", f"{card.path}/{round_ + 1}")
        for round_ in range(-(-count // len(first)))
        for card in first
    )[:count]  # fmt: skip
    start, end = ("<main>", "</main>") if in_main else ('<div class="container">', "</div>")
    body = f"{start}<h1>{title}</h1><p>{introduction}</p>{markup(cards)}{end}"
    html = (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{title} - Mill Lane</title></head><body>'
        f"{_FRAME_START}{body}{_FRAME_END}</body></html>"
    )
    return CardPage(html, cards)
