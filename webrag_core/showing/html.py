"""An answer to read: one HTML file that needs no network and no script."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from jinja2 import Template
from markupsafe import Markup, escape

from webrag_core.answering.models import Answer, Highlight, SentenceCitation
from webrag_core.html_template import load_template
from webrag_core.page_text import visible
from webrag_core.retrieval.text_fragments import fragment_url
from webrag_core.showing.passage import Line, Part, by_group, in_runs, passage
from webrag_core.showing.plan_lines import task_lines
from webrag_core.showing.wording import (
    FORGOTTEN_SENTENCE,
    PROOFS,
    forgotten_line,
    missing_lines,
    sentence_case,
    sureness,
    verdict,
)

_PARTS: dict[Part, Markup] = {
    "around": Markup('<span class="around">{}</span>'),
    "quote": Markup("{}"),
    "marked": Markup("<mark>{}</mark>"),
}


def render_page(answer: Answer) -> str:
    """The HTML file. All text of pages is escaped; control signs are made visible."""
    return _template().render(
        answer=answer,
        verdict=verdict(answer),
        sureness=sureness(answer),
        proofs=PROOFS,
        forgotten_sentence=FORGOTTEN_SENTENCE,
        forgotten=forgotten_line(answer),
    )


def marked(citation: SentenceCitation, highlight: Highlight | None = None) -> Markup:
    """The quote in its block as HTML, the quoted words (of a highlight: its likeliest sentences) marked. Marks of
    Markdown are left out; the stamp below says where the exact text stands."""
    runs = in_runs(passage(citation, highlight, around=True))
    return Markup("\n").join(
        Markup("<pre>{}</pre>").format(Markup("\n").join(map(_line_html, run)))
        if is_code
        else Markup("\n").join(Markup("<p>{}</p>").format(_line_html(line)) for line in run)
        for is_code, run in runs
    )


def _line_html(line: Line) -> Markup:
    item = Markup('<span class="around">{}</span> ').format(line.item) if line.item else Markup()
    return item + Markup().join(_PARTS[part].format(escape(words)) for part, words in line.pieces)


@lru_cache(maxsize=1)
def _template() -> Template:
    file = Path(__file__).with_name("answer_page.html.j2")
    functions: dict[str, Callable[..., object]] = {
        "marked": marked,
        "fragment_url": fragment_url,
        "visible": visible,
        "missing_lines": missing_lines,
        "sentence_case": sentence_case,
        "task_lines": task_lines,
        "groups": by_group,
    }
    return load_template(file, functions)
