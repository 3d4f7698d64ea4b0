"""Quotes as Markdown: where each stands, and its words, which stay text."""

from __future__ import annotations

from collections.abc import Sequence

from webrag_core.markdown_text import code, fenced, link, quote
from webrag_core.readable import counted
from webrag_core.retrieval.models import CitationSpan
from webrag_core.retrieval.quotes import quote_window
from webrag_core.retrieval.text_fragments import fragment_url

_SHOWN = 1_200  # characters of a passage


def citations_markdown(citations: Sequence[CitationSpan], query: str) -> list[str]:
    """Lines: for each passage its source, and a window around its best sentences for the query."""
    return [line for citation in citations for line in (*_lines(citation, query), "")]


def _lines(citation: CitationSpan, query: str) -> list[str]:
    passage = citation.verbatim_text
    window = quote_window(passage, query, _SHOWN)
    label = " › ".join(filter(None, (citation.title, citation.section_heading))) or citation.source_url
    best = passage if window.highlight is None else window.highlight.of(passage)
    source = (
        f"**{citation.number}.** {link(label, fragment_url(citation.source_url, best, citation.page))}:"
        f"{f' page {citation.page},' if citation.page else ''} version"
        f" {code(citation.version_sha256[:12])}, characters {citation.char_start} to {citation.char_end}, sha256"
        f" {code(citation.quote_sha256[:12])}, relevance {citation.relevance:.2f}"
    )
    if citation.also_on:
        source += f", also on {counted(len(citation.also_on), 'other page')}"
    before, after = window.shown.start, len(passage) - window.shown.end
    lines = [source, "", quote(fenced(window.shown.of(passage).strip("\n")))]
    if before or after:
        lines += [">", f"> {before} characters before and {after} after are not shown"]
    return lines
