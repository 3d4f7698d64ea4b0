"""Elements on a terminal, and as plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from webrag_core.answering.models import Band
from webrag_core.page_text import visible
from webrag_core.showing import elements
from webrag_core.showing.console import (
    print_heading,
    print_line,
    print_passage,
    print_place,
    print_table,
    print_wrapped,
)
from webrag_core.showing.wording import FORGOTTEN_SENTENCE, PROOFS, sections, stamp

_STYLES: dict[Band, str] = {
    "high": "bold green",
    "medium": "bold green",
    "low": "bold yellow",
    "likely": "bold yellow",
    "insufficient": "bold red",
}
_CHANGES = {"-": "red", "+": "green", "@": "cyan", "~": "blue"}


def print_view(
    parts: Sequence[elements.Element], console: Console, *, show_all: bool = False, proof: bool = False, more: str = ""
) -> None:
    """Print elements. Of passages those that are enough at first sight, and steps not at all, unless `show_all`; `more`
    is the command that shows them. With `proof`, what proves each quote."""
    follows_section = False
    for place, element in enumerate(parts):
        if place and (isinstance(element, elements.Section) or follows_section):
            print_line(console, "")
        follows_section = isinstance(element, elements.Section)
        match element:
            case elements.Verdict():
                sure = f" ({element.sureness})" if element.sureness else ""
                print_line(console, f"{element.text}{sure}", _STYLES[element.band])
                print_line(console, f"Question: {element.question}", "bold")
            case elements.Section():
                _print_section(element, console, show_all=show_all, proof=proof, more=more)
            case elements.Title():
                print_line(console, element.text, "bold")
            case elements.Table():
                if element.heading:
                    print_line(console, element.heading, "bold")
                print_table(console, element.columns, element.rows)
            case elements.Code():
                styles = _CHANGES if element.language == "diff" else {}
                for line in element.text.splitlines():
                    print_line(console, line, styles.get(line[:1]))
            case elements.Note():
                print_line(console, element.text, "yellow" if element.kind == "problem" else "dim")


def _print_section(section: elements.Section, console: Console, *, show_all: bool, proof: bool, more: str) -> None:
    strong = [element for element in section.elements if not (isinstance(element, elements.Quotation) and element.weak)]
    shown = section.elements if show_all else strong[: section.first]
    if section.heading:
        print_line(console, section.heading, "bold")
    for place, element in enumerate(shown):
        match element:
            case elements.Quotation():
                if place:
                    print_line(console, "")
                _print_quotation(element, console, proof=proof)
            case elements.Page():
                print_line(console, f"  {element.text}  {element.url}")
            case elements.Sentence() | elements.ForgottenSentence():
                if place:
                    print_line(console, "")
                _print_sentence(element, console)
            case elements.Passage():
                _print_passage(element, console, is_read=section.key != "evidence", proof=proof)
            case elements.Row():
                print_line(console, f"  {element.text}", "dim" if section.key == "gathered" else None)
            case elements.Place():
                print_line(console, f"  {element.url}")
            case elements.Step() if show_all:
                print_line(console, f"  {' '.join([*element.pages, element.text])}", "dim")
    if left := len(section.elements) - len(shown):
        weak = 0 if show_all else len(section.elements) - len(strong)
        low = f", {'all' if weak == left else weak} of low relevance" if weak else ""
        print_line(console, f"  ({left} more{low}: {more})", "dim")


def _print_sentence(sentence: elements.Sentence | elements.ForgottenSentence, console: Console) -> None:
    if isinstance(sentence, elements.ForgottenSentence):
        print_line(console, f"({FORGOTTEN_SENTENCE})", "dim")
        return
    numbers = "".join(f"[{citation.number}]" for citation in sentence.quotes)
    text = sentence.text
    for line in (*text.split("\n"), numbers) if "\n" in text else (f"{text} {numbers}",):
        print_wrapped(console, "", Text(visible(line)))


def _print_quotation(element: elements.Quotation, console: Console, *, proof: bool) -> None:
    """Where a passage stands and what it is worth, then its words."""
    lead = " " * 4
    print_heading(console, f"[{element.number}] ", element.title, element.headings)
    print_place(console, lead, element.url, element.quoted, element.notes, in_full=proof, page=element.page)
    if proof:
        print_line(console, f"{lead}{element.stamp}", "dim")
    if element.before:
        print_line(console, f"{lead}│ […]", "dim")
    print_passage(console, element.lines(), indent=f"{lead}│ ")
    if element.after:
        print_line(console, f"{lead}│ […]", "dim")


def _print_passage(element: elements.Passage, console: Console, *, is_read: bool, proof: bool) -> None:
    """Where a quote stands; its words, too, where they do not stand in a sentence."""
    citation, lead = element.citation, f"  [{element.citation.number}] "
    if is_read:
        title = element.label or element.title
        print_heading(console, lead, title, sections(title, citation.heading))
        lead = " " * 6
        print_passage(console, element.lines(), indent=f"{lead}│ ")
    print_place(console, lead, citation.url, citation.quote, in_full=proof, page=citation.page)
    if proof:
        print_line(console, f"{' ' * len(lead)}{stamp(citation)}", "dim")
        for kind in element.proofs:
            print_line(console, f"{' ' * len(lead)}{kind}: {PROOFS[kind]}", "dim")
