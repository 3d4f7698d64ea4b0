"""An answer to read: as one HTML file that needs no network and no script, or as Markdown."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote as percent_encoded

from jinja2 import Template
from markupsafe import Markup, escape

from webrag_core.answering.models import Answer, Highlight, SentenceCitation
from webrag_core.answering.unit_text import FENCE, unit_text
from webrag_core.html_template import load_template
from webrag_core.indexing.markdown import plain_text
from webrag_core.page_text import visible

VERDICTS = {
    "high": "Answered, with high confidence",
    "medium": "Answered, with medium confidence",
    "low": "Answered in part, with low confidence",
    "insufficient": "No answer: nothing that was read is sure enough",
}
PROOFS = {
    "verbatim": "the page's own words",
    "trimmed": "the page's own words, with their heading in brackets or without a leading word",
    "assembled": "the cells of a table row, with the names of their columns",
}
"""What each proof means, for people."""
_LINE = re.compile(r"\S(?:.*\S)?")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|])")
_FRAGMENT_WORDS = 6
AROUND = 160
"""Characters of the page around a quote (`SentenceCitation.before`, `after`)."""


def render_page(answer: Answer) -> str:
    """The HTML file. All text of pages is escaped; control signs are made visible."""
    return _template().render(answer=answer, verdict=VERDICTS[answer.band], proofs=PROOFS)


def render_markdown(answer: Answer) -> str:
    """The same as Markdown, text of pages escaped."""
    lines = [f"# {_escaped(answer.question)}", "", f"**{VERDICTS[answer.band]}** ({int(answer.confidence * 100)}%)", ""]
    for sentence in answer.sentences:
        numbers = "".join(f"[^{number}]" for number in sentence.citations)
        lines += [f"{_escaped(sentence.text)}{numbers}", ""]
    for shown in answer.highlights:
        citation = answer.citation(shown.citation)
        lines += [
            *(f"> {_escaped(line)}" for line in visible(citation.quote).split("\n")),
            f"> [^{citation.number}]",
            "",
        ]
    if answer.missing:
        lines += ["## What is missing", "", *(f"- {_escaped(one.text)}" for one in answer.missing), ""]
    if answer.look_next:
        lines += ["## Where to look next", "", *(f"- <{url}>" for url in answer.look_next), ""]
    lines += [
        f"[^{one.number}]: <{one.url}>, version {one.version}, characters {one.char_start} to {one.char_end}:"
        f" “{_escaped(unit_text(one.quote, 'paragraph'))}”"
        for one in answer.citations
    ]
    return "\n".join(lines).rstrip() + "\n"


def fragment_url(citation: SentenceCitation) -> str:
    """The page's address with a text fragment, at which a browser opens the live page at the quote."""
    words = unit_text(citation.quote, "paragraph").split()
    start = percent_encoded(" ".join(words[:_FRAGMENT_WORDS]), safe="").replace("-", "%2D")
    if not start:
        return citation.url
    end = percent_encoded(" ".join(words[-_FRAGMENT_WORDS:]), safe="").replace("-", "%2D")
    return f"{citation.url}#:~:text={start}" + (f",{end}" if len(words) > 2 * _FRAGMENT_WORDS else "")


def marked(citation: SentenceCitation, highlight: Highlight | None = None) -> Markup:
    """The quote in its paragraph as HTML, the quoted words (of a highlight: its likeliest sentences) marked. Marks of
    Markdown are left out; the stamp below says where the exact text stands."""
    spans = [(0, len(citation.quote))] if highlight is None else sorted(highlight.marks)
    before, after = citation.before.rpartition("\n\n"), citation.after.partition("\n\n")
    lead = before[2] if before[1] or citation.char_start <= AROUND else before[2].partition(" ")[2]  # no half words
    tail = after[0] if after[1] or len(citation.after) < AROUND else after[0].rpartition(" ")[0]
    pieces = [Markup('<span class="around">{}</span>').format(readable(lead))]
    position = 0
    for start, end in spans:
        pieces.append(escape(readable(citation.quote[position:start])))
        pieces.append(Markup("<mark>{}</mark>").format(readable(citation.quote[start:end])))
        position = end
    pieces.append(escape(readable(citation.quote[position:])))
    pieces.append(Markup('<span class="around">{}</span>').format(readable(tail)))
    return Markup("").join(pieces)


def readable(markdown: str) -> str:
    """Markdown for reading: without link targets, emphasis and the fences of code, its lines and the white space around
    it as they are."""
    lines = FENCE.sub("", markdown).split("\n")
    return visible("\n".join(_LINE.sub(lambda line: plain_text(line[0]), line) for line in lines))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(visible(text).split()))


@lru_cache(maxsize=1)
def _template() -> Template:
    file = Path(__file__).with_name("answer_page.html.j2")
    return load_template(file, {"marked": marked, "fragment_url": fragment_url, "visible": visible})
