"""The results of a search as a person reads them: quotes with the words of the query marked, and how fresh they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup
from psycopg import AsyncConnection

from webrag_core.answering.models import Highlight, SentenceCitation
from webrag_core.corpus.freshness import Freshness, load_freshness
from webrag_core.retrieval.models import AlsoOn, CitationSpan, RetrievedChunk
from webrag_core.retrieval.quotes import matching_words, quote_window
from webrag_core.retrieval.search import CorpusSearch
from webrag_core.showing.html import marked
from webrag_core.showing.passage import passage
from webrag_core.web.paths import stored_page_path

QUOTE_CHARS = 500


@dataclass(frozen=True, slots=True)
class Result:
    """A quote of a page. `text` shows `quote`, the part of it that is read here; `path` leads to all of it.

    `dated` is the date that the page states, `relevance` is in [0, 1]; `also_on` are other pages that say the same.
    """

    quote: SentenceCitation
    text: Markup
    is_cut: bool
    headings: tuple[str, ...]
    path: str
    relevance: float
    language: str | None
    dated: datetime | None
    fresh: Freshness
    also_on: Sequence[AlsoOn] = ()


async def load_results(
    connection: AsyncConnection, search: CorpusSearch, citations: Sequence[CitationSpan]
) -> list[Result]:
    """These citations of a search, in their order; those whose page was removed meanwhile are left out."""
    chunks = {ranked.chunk.chunk_id: ranked.chunk for ranked in search.chunks}
    fresh = await load_freshness(connection, [citation.version_id for citation in citations])
    return [
        _result(search.searched_for, citation, chunks[citation.chunk_id], fresh[citation.version_id])
        for citation in citations
        if citation.version_id in fresh
    ]


def _result(query: str, citation: CitationSpan, chunk: RetrievedChunk, fresh: Freshness) -> Result:
    window = quote_window(citation.verbatim_text, query, QUOTE_CHARS).shown
    text = window.of(citation.verbatim_text)
    shown = citation.part(window.start, window.end)
    quote = SentenceCitation(
        number=citation.number,
        url=citation.source_url,
        title=citation.title,
        heading=citation.section_heading,
        version=fresh.version,
        version_sha256=citation.version_sha256,
        char_start=shown.start,
        char_end=shown.end,
        quote=text,
        sha256=shown.sha256,
        before="",
        after="",
        seen_at=fresh.seen_at,
        current=fresh.is_current,
        page=citation.page,
    )
    words = [(span.start, span.end) for span in matching_words(text, query, chunk.language)]
    return Result(
        quote=quote,
        text=marked(passage(quote, Highlight(citation=citation.number, marks=words))),
        is_cut=len(text) < len(citation.verbatim_text),
        headings=tuple(citation.section_heading.split(" > ")) if citation.section_heading else (),
        path=stored_page_path(citation.version_id, citation.char_start, citation.char_end),
        relevance=citation.relevance,
        language=chunk.language,
        dated=chunk.dated,
        fresh=fresh,
        also_on=citation.also_on,
    )
