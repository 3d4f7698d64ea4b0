"""An answer to read: as one HTML file that needs no network and no script, or as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from urllib.parse import quote as percent_encoded

from jinja2 import Template
from markupsafe import Markup, escape

from webrag_core.answering.models import Answer, Highlight, Listed, SentenceCitation
from webrag_core.answering.passage import Line, Part, passage
from webrag_core.answering.plan_lines import task_lines
from webrag_core.answering.unit_text import unit_text
from webrag_core.answering.wording import PROOFS, missing_lines, sentence_case, sureness, verdict
from webrag_core.html_template import load_template
from webrag_core.page_text import visible

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_TICKS = re.compile(r"`+")
_FRAGMENT_WORDS = 6
_PARTS: dict[Part, Markup] = {
    "around": Markup('<span class="around">{}</span>'),
    "quote": Markup("{}"),
    "marked": Markup("<mark>{}</mark>"),
}


def render_page(answer: Answer) -> str:
    """The HTML file. All text of pages is escaped; control signs are made visible."""
    return _template().render(answer=answer, verdict=verdict(answer), sureness=sureness(answer), proofs=PROOFS)


def render_markdown(answer: Answer) -> str:
    """The same as Markdown, text of pages escaped."""
    sure = sureness(answer)
    lines = [f"# {_escaped(answer.question)}", "", f"**{_escaped(verdict(answer))}**{f' ({sure})' if sure else ''}", ""]
    for sentence in answer.sentences:
        numbers = "".join(f"[^{number}]" for number in sentence.citations)
        if "\n" in sentence.text:
            lines += [*_code_block(sentence.text), "", numbers, ""]
        else:
            lines += [f"{_escaped(sentence.text)}{numbers}", ""]
    for group, rows in groups(answer):
        lines += [f"## {_escaped(group)}", ""]
        for row in rows:
            citation = answer.citation(row.citation)
            lines += [f"{_escaped(row.label)}:", ""]
            lines += [*(f"> {line}".rstrip() for line in _passage_markdown(citation)), ""]
    if answer.highlights:
        lines += ["## The nearest passages", ""]
    for highlight in answer.highlights:
        citation = answer.citation(highlight.citation)
        lines += [*(f"> {line}".rstrip() for line in _passage_markdown(citation, highlight)), ""]
    if missing := missing_lines(answer):
        lines += ["## What is missing", "", *(f"- {_escaped(line)}" for line in missing), ""]
    if answer.look_next:
        lines += ["## Where to look next", "", *(f"- <{url}>" for url in answer.look_next), ""]
    lines += [line for note in answer.notes for line in (_escaped(sentence_case(note)), "")]
    passages = {one.citation for one in answer.highlights} | {one.citation for one in answer.listed}
    for one in answer.citations:
        words = "" if one.number in passages else f": “{_escaped(unit_text(one.quote, 'paragraph'))}”"
        place = f"version {one.version}, characters {one.char_start} to {one.char_end}"
        lines.append(f"[^{one.number}]: <{one.url}>, {place}{words}")
    return "\n".join(lines).rstrip() + "\n"


def fragment_url(citation: SentenceCitation) -> str:
    """The page's address with a text fragment, at which a browser opens the live page at the quote."""
    return text_fragment(citation.url, citation.quote)


def text_fragment(url: str, quote: str) -> str:
    """`url` with a fragment for the words of `quote` (Markdown): a browser opens the page there, and marks them."""
    words = unit_text(quote, "paragraph").split()
    start = percent_encoded(" ".join(words[:_FRAGMENT_WORDS]), safe="").replace("-", "%2D")
    if not start:
        return url
    end = percent_encoded(" ".join(words[-_FRAGMENT_WORDS:]), safe="").replace("-", "%2D")
    return f"{url.partition('#')[0]}#:~:text={start}" + (f",{end}" if len(words) > 2 * _FRAGMENT_WORDS else "")


def marked(citation: SentenceCitation, highlight: Highlight | None = None) -> Markup:
    """The quote in its block as HTML, the quoted words (of a highlight: its likeliest sentences) marked. Marks of
    Markdown are left out; the stamp below says where the exact text stands."""
    runs = _runs(passage(citation, highlight, around=True))
    return Markup("\n").join(
        Markup("<pre>{}</pre>").format(Markup("\n").join(map(_line_html, run)))
        if is_code
        else Markup("\n").join(Markup("<p>{}</p>").format(_line_html(line)) for line in run)
        for is_code, run in runs
    )


def _line_html(line: Line) -> Markup:
    item = Markup('<span class="around">{}</span> ').format(line.item) if line.item else Markup()
    return item + Markup().join(_PARTS[part].format(escape(words)) for part, words in line.pieces)


def _passage_markdown(citation: SentenceCitation, highlight: Highlight | None = None) -> list[str]:
    lines: list[str] = []
    where = " › ".join(filter(None, (citation.title or citation.url, citation.heading)))
    for is_code, run in _runs(passage(citation, highlight)):
        if is_code:
            lines += [*_code_block("\n".join(line.text for line in run)), ""]
        else:
            lines += [part for line in run for part in (_line_markdown(line), "")]
    return [*lines, f"— {_escaped(where)} [^{citation.number}]"]


def _line_markdown(line: Line) -> str:
    item = f"{'-' if line.item == '•' else line.item} " if line.item else ""
    return item + "".join(
        _strong(words) if part == "marked" else _escaped(words, strip=False) for part, words in line.pieces
    )


def _strong(words: str) -> str:
    """Bold: its stars stand at words, or they would be read as stars."""
    inner = words.strip()
    lead, tail = words[: len(words) - len(words.lstrip())], words[len(words.rstrip()) :]
    return f"{lead}**{_escaped(inner)}**{tail}" if inner else words


def _code_block(text: str) -> list[str]:
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    return [fence, *visible(text).split("\n"), fence]


def groups(answer: Answer) -> list[tuple[str, list[Listed]]]:
    """Listed passages by what they are one of, in their order."""
    return [(group, list(rows)) for group, rows in groupby(answer.listed, key=lambda one: one.group)]


def _runs(lines: Iterable[Line]) -> list[tuple[bool, list[Line]]]:
    """Lines of code that follow each other, and lines of prose."""
    return [(is_code, list(run)) for is_code, run in groupby(lines, key=lambda line: line.code)]


def _escaped(text: str, *, strip: bool = True) -> str:
    clean = visible(text)
    return _SPECIAL.sub(r"\\\1", " ".join(clean.split()) if strip else clean)


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
        "groups": groups,
    }
    return load_template(file, functions)
