"""Citations: a quote is a slice of a stored page version, proved by hash. No fuzzy matching, no model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from psycopg import AsyncConnection, AsyncCursor
from psycopg.types.string import ByteaBinaryLoader

from webrag_core.corpus.quotes import Quote
from webrag_core.errors import IntegrityError
from webrag_core.retrieval.folding import spread
from webrag_core.retrieval.models import RELEVANCE_FLOOR, CitationSpan, MatchSpan, RankedChunk, RetrievedChunk
from webrag_core.store.id_arrays import id_array


def relevant(citations: Sequence[CitationSpan]) -> list[CitationSpan]:
    """The citations at or above `RELEVANCE_FLOOR`, or else the first one. `citations` most relevant first."""
    return [citation for citation in citations if citation.relevance >= RELEVANCE_FLOOR] or list(citations[:1])


def cite(chunks: Iterable[RankedChunk], *, spreads: bool = False) -> list[CitationSpan]:
    """Quote every match of every chunk, most relevant first; with `spreads` few of a page among the first
    (`folding.spread`). Raises IntegrityError for a span outside its chunk."""
    matches = [
        (ranked.reranked_score * match.share, ranked.chunk, match)
        for ranked in chunks
        for match in ranked.chunk.matches
    ]
    matches.sort(key=lambda scored: -scored[0])
    if spreads:
        matches = spread(matches, lambda scored: scored[1].document_id, lambda scored: scored[0] >= RELEVANCE_FLOOR)
    return [
        extract_citation(chunk, match, number=number, relevance=relevance)
        for number, (relevance, chunk, match) in enumerate(matches, start=1)
    ]


def extract_citation(chunk: RetrievedChunk, match: MatchSpan, *, number: int, relevance: float) -> CitationSpan:
    """The match inside `chunk` as a numbered citation. Raises IntegrityError when it does not lie within the chunk."""
    quote = Quote.of(chunk.text, chunk.version_id, match.start, match.end, offset=chunk.char_start)
    return CitationSpan(
        number=number,
        chunk_id=chunk.chunk_id,
        verbatim_text=chunk.text[quote.start - chunk.char_start : quote.end - chunk.char_start],
        source_url=chunk.source_url,
        title=chunk.title,
        section_heading=" > ".join(match.heading_path) or None,
        document_id=chunk.document_id,
        version_id=quote.version_id,
        version_sha256=chunk.version_sha256,
        char_start=quote.start,
        char_end=quote.end,
        quote_sha256=quote.sha256,
        relevance=relevance,
        also_on=chunk.also_on,
    )


_PAGES = """
SELECT c.number, max(substr(a ->> 0, 6)::int)
FROM unnest(%(numbers)s::int[], %(versions)s::int[], %(starts)s::int[]) AS c (number, version_id, char_start)
JOIN version_markup m USING (version_id) CROSS JOIN jsonb_array_elements(m.content -> 'anchors') AS a
WHERE a ->> 0 ~ '^page=[0-9]{1,5}$' AND (a ->> 1)::int <= c.char_start GROUP BY c.number
"""


async def ask_pages(connection: AsyncConnection, citations: Sequence[CitationSpan]) -> AsyncCursor:
    """Ask for what `with_pages` reads, which may be part of a pipeline."""
    return await connection.execute(
        _PAGES,
        {
            "numbers": id_array(citation.number for citation in citations),
            "versions": id_array(citation.version_id for citation in citations),
            "starts": id_array(citation.char_start for citation in citations),
        },
    )


async def with_pages(reading: AsyncCursor, citations: Sequence[CitationSpan]) -> list[CitationSpan]:
    """The citations, those of files with pages with the number of theirs."""
    pages = {int(number): int(page) for number, page in await reading.fetchall()}
    if not pages:
        return list(citations)
    return [citation.model_copy(update={"page": pages.get(citation.number)}) for citation in citations]


async def prove_citations(connection: AsyncConnection, citations: list[CitationSpan]) -> None:
    """Check every quote against the stored version text, by slice and by hash.

    Raises IntegrityError for the first mismatch.
    """
    cursor = connection.cursor(binary=True)
    cursor.adapters.register_loader("text", ByteaBinaryLoader)  # as it is hashed: encoding it again takes as long
    await cursor.execute(
        "SELECT id, markdown FROM document_versions WHERE id = ANY(%s)",
        (id_array(sorted({citation.version_id for citation in citations})),),
    )
    texts: dict[int, str] = {}
    hashes: dict[int, str] = {}
    for version_id, markdown in await cursor.fetchall():
        texts[version_id], hashes[version_id] = markdown.decode(), hashlib.sha256(markdown).hexdigest()
    for citation in citations:
        text = texts.get(citation.version_id)
        if text is None or hashes[citation.version_id] != citation.version_sha256:
            raise IntegrityError(f"citation {citation.number}: its page version is not stored as cited")
        quote = citation.as_quote()
        if not quote.proves(text) or quote.words(text) != citation.verbatim_text:
            raise IntegrityError(f"citation {citation.number}: the quote is not what {citation.source_url} says there")
