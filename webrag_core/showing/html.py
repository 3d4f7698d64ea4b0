"""Elements as HTML, all text escaped; and a result as one file to keep, which needs no network and no script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from jinja2 import Template
from markupsafe import Markup, escape

from webrag_core.answering.models import SentenceCitation
from webrag_core.html_template import load_template
from webrag_core.page_text import one_line, visible
from webrag_core.readable import Readable
from webrag_core.retrieval.text_fragments import fragment_url
from webrag_core.showing.elements import Element, Passage, Section, Sentence, Title, Verdict
from webrag_core.showing.passage import Line, Part, in_runs
from webrag_core.showing.view import view
from webrag_core.showing.wording import FORGOTTEN_SENTENCE, PROOFS, sections, stamp

_PARTS: dict[Part, Markup] = {
    "around": Markup('<span class="around">{}</span>'),
    "quote": Markup("{}"),
    "marked": Markup("<mark>{}</mark>"),
}


class Links:
    """Where the numbers of quotes and the places to look next lead; here: to the quotes below, and to the live web."""

    folds = False
    """Whether only what is enough at first sight is open."""

    def to_quote(self, citation: SentenceCitation) -> Markup:
        """The number of a quote, behind a sentence."""
        return Markup('<sup><a href="#quote-{0}">{0}</a></sup>').format(citation.number)

    def of_quote(self, citation: SentenceCitation) -> Markup:
        """The number of a quote, before its words."""
        return Markup("<b>{}</b> ·").format(citation.number)

    def to_place(self, url: str) -> Markup:
        """A place to look next."""
        return Markup('<a href="{}" rel="noreferrer noopener">{}</a>').format(url, one_line(url))


def write_html(parts: Sequence[Element | Sentence], links: Links) -> Markup:
    """Elements as HTML; a sentence by itself is an item of a list."""
    elements = [element for part in parts if isinstance(part, Section) for element in part.elements]
    # numbers lead to the first passage of a quote
    first = {element.citation.number: element for element in reversed(elements) if isinstance(element, Passage)}
    return Markup(_template("elements.html.j2").render(elements=parts, links=links, first=first).strip())


def render_page(result: Readable) -> str:
    """The HTML file. All text of pages is escaped; control signs are made visible."""
    parts = view(result)
    head = next(part for part in parts if isinstance(part, Verdict | Title))
    title = head.question if isinstance(head, Verdict) else head.text
    return _template("page.html.j2").render(title=title, body=write_html(parts, Links()))


def marked(lines: Iterable[Line]) -> Markup:
    """The lines of a quote as HTML, marked words and what stands around them told apart. Marks of Markdown are left
    out; the stamp below says where the exact text stands."""
    return Markup("\n").join(
        Markup("<pre>{}</pre>").format(Markup("\n").join(map(_line_html, run)))
        if is_code
        else Markup("\n").join(Markup("<p>{}</p>").format(_line_html(line)) for line in run)
        for is_code, run in in_runs(lines)
    )


def _line_html(line: Line) -> Markup:
    item = Markup('<span class="around">{}</span> ').format(line.item) if line.item else Markup()
    return item + Markup().join(_PARTS[part].format(escape(words)) for part, words in line.pieces)


def _kind_of(element: object) -> str:
    return type(element).__name__


@lru_cache(maxsize=2)
def _template(name: str) -> Template:
    names = {
        "forgotten_sentence": FORGOTTEN_SENTENCE,
        "fragment_url": fragment_url,
        "kind_of": _kind_of,
        "marked": marked,
        "one_line": one_line,
        "proofs": PROOFS,
        "sections": sections,
        "stamp": stamp,
        "visible": visible,
    }
    return load_template(Path(__file__).with_name(name), names)
