"""Quotes as Markdown: where each stands, and its words, which stay text."""

from __future__ import annotations

from collections.abc import Sequence

from webrag_core.markdown_text import code, fenced, link, quote
from webrag_core.retrieval.models import CitationSpan
from webrag_core.retrieval.quotes import quote_window
from webrag_core.retrieval.text_fragments import fragment_url

_SHOWN = 1_200  # characters of a passage


def source_markdown(
    number: int, label: str, url: str, words: str, *, version: str, start: int, end: int, sha256: str
) -> str:
    """One line: the number of a quote, a link that opens the live page at `words`, and where exactly it is stored."""
    opened = link(label, fragment_url(url, words))
    return f"**{number}.** {opened}: version {version}, characters {start} to {end}, sha256 {code(sha256[:12])}"


def citations_markdown(citations: Sequence[CitationSpan], query: str) -> list[str]:
    """Lines: for each passage its source, and a window around its best sentences for the query."""
    return [line for citation in citations for line in (*_lines(citation, query), "")]


def _lines(citation: CitationSpan, query: str) -> list[str]:
    passage = citation.verbatim_text
    window = quote_window(passage, query, _SHOWN)
    source = source_markdown(
        citation.number,
        " › ".join(filter(None, (citation.title, citation.section_heading))) or citation.source_url,
        citation.source_url,
        passage if window.highlight is None else window.highlight.of(passage),
        version=code(citation.version_sha256[:12]),
        start=citation.char_start,
        end=citation.char_end,
        sha256=citation.quote_sha256,
    )
    before, after = window.shown.start, len(passage) - window.shown.end
    lines = [f"{source}, relevance {citation.relevance:.2f}", "", quote(fenced(window.shown.of(passage).strip("\n")))]
    if before or after:
        lines += [">", f"> {before} characters before and {after} after are not shown"]
    return lines
