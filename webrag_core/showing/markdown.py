"""Elements as Markdown. Text of pages is data: escaped, or in code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from webrag_core.answering.models import SentenceCitation
from webrag_core.markdown_text import address, fenced, link, prose, quote
from webrag_core.readable import Readable
from webrag_core.retrieval.text_fragments import fragment_url
from webrag_core.showing import elements
from webrag_core.showing.passage import Line, Part, in_runs
from webrag_core.showing.view import view
from webrag_core.showing.wording import FORGOTTEN_SENTENCE, sections, stamp

CodeBlock = Callable[[str], str]


def render_markdown(result: Readable) -> str:
    """A result to read: its quotes with their sources."""
    return write_markdown(view(result))


def write_markdown(parts: Sequence[elements.Element], *, level: int = 1, code_block: CodeBlock = fenced) -> str:
    """Elements as Markdown, the question as a heading of `level`. How the evidence was gathered is left out: nothing
    can be folded here, and so are quotes of low relevance."""
    blocks: list[str] = []
    for element in parts:
        match element:
            case elements.Verdict():
                sure = f" ({prose(element.sureness)})" if element.sureness else ""
                blocks += [f"{'#' * level} {prose(element.question)}", f"**{prose(element.text)}**{sure}"]
            case elements.Section():
                blocks += _section(element, level + 1, code_block)
            case elements.Title():
                blocks.append(f"{'#' * level} {prose(element.text)}")
            case elements.Table():
                blocks += _table(element, level + 1)
            case elements.Code():
                blocks.append(fenced(element.text, element.language))
            case elements.Note():
                blocks.append(prose(element.text))
    return "\n\n".join(blocks) + "\n"


def _section(section: elements.Section, level: int, code_block: CodeBlock) -> Iterator[str]:
    if section.key == "gathered":
        return
    if section.heading:
        yield f"{'#' * level} {prose(section.heading)}"
    rows: list[str] = []
    for element in section.elements:
        match element:
            case elements.ForgottenSentence():
                yield f"*({FORGOTTEN_SENTENCE})*"
            case elements.Sentence():
                numbers = " ".join(map(_number, element.quotes))
                is_block = "\n" in element.text
                yield f"{code_block(element.text)}\n\n{numbers}" if is_block else f"{prose(element.text)} {numbers}"
            case elements.Passage():
                yield _source(element)
                words = element.citation.quote.strip("\n")
                is_exact = section.key == "evidence"
                yield quote(code_block(words) if is_exact else passage_markdown(element.lines(), code_block))
            case elements.Quotation() if not element.weak:
                yield _quotation(element)
                yield quote(passage_markdown(element.lines(), code_block))
                if element.cut:
                    yield f"*{element.cut}*"
            case elements.Page():
                rows.append(f"- {prose(element.text)}: {address(element.url)}")
            case elements.Place():
                rows.append(f"- {address(element.url)}")
            case elements.Row() | elements.Step():
                rows.append(f"- {prose(element.text)}")
    if rows:
        yield "\n".join(rows)


def _table(table: elements.Table, level: int) -> Iterator[str]:
    if table.heading:
        yield f"{'#' * level} {prose(table.heading)}"
    rows = [table.columns, tuple("---" for _ in table.columns), *(tuple(map(_cell, row)) for row in table.rows)]
    yield "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(text: str) -> str:
    return prose(text).replace("\n", " ") if text else ""


def _quotation(element: elements.Quotation) -> str:
    """One line: the number of a passage, a link that opens the live page there, where it is stored, and its worth."""
    opened = link(
        " › ".join([element.title, *element.headings]), fragment_url(element.url, element.quoted, element.page)
    )
    return f"**{element.number}.** {opened}: {', '.join([element.stamp, *element.notes])}"


def _number(citation: SentenceCitation) -> str:
    return link(f"[{citation.number}]", fragment_url(citation.url, citation.quote, citation.page))


def _source(element: elements.Passage) -> str:
    """One line: the number of a quote, a link that opens the live page there, and where exactly it is stored."""
    citation = element.citation
    label = f"{prose(element.name)}: " if element.name else ""
    place = " › ".join([element.title, *sections(element.title, citation.heading)])
    opened = link(place, fragment_url(citation.url, citation.quote, citation.page))
    return f"**{citation.number}.** {label}{opened}: {stamp(citation)}"


def passage_markdown(lines: Iterable[Line], code_block: CodeBlock = fenced) -> str:
    """A passage as people read it: paragraphs and items of lists, marked words bold; lines of code by `code_block`."""
    parts: list[str] = []
    for is_code, run in in_runs(lines):
        parts += [code_block("\n".join(line.text for line in run))] if is_code else [*map(_line, run)]
    return "\n\n".join(parts)


def _line(line: Line) -> str:
    item = f"{'-' if line.item == '•' else line.item} " if line.item else ""
    return item + "".join(_piece(part, words) for part, words in line.pieces).strip()


def _piece(part: Part, words: str) -> str:
    shown = prose(words)
    inner = f"**{shown}**" if part == "marked" and shown else shown
    return f"{' ' * words[:1].isspace()}{inner}{' ' * words[-1:].isspace()}"
