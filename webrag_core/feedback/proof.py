"""Prove a suggested span against the stored version that it names, or say what stands nearest."""

from __future__ import annotations

from collections import Counter

from psycopg import AsyncConnection

from webrag_core.acquisition.urls import canonicalise
from webrag_core.corpus.documents import find_document
from webrag_core.corpus.quotes import Quote
from webrag_core.corpus.version_texts import version_texts
from webrag_core.errors import InvalidInputError
from webrag_core.feedback.models import LEAST_QUOTE, LONGEST_QUOTE, Better, Suggestion
from webrag_core.indexing.terms import terms
from webrag_core.page_text import one_line
from webrag_core.retrieval.quotes import sentence_spans

_SHOWN = 300  # characters of the nearest sentence in a message
_READ = 2_000_000  # characters that are looked through for the nearest passage


class NotVerbatimError(InvalidInputError):
    """A quote does not stand where it is said to. The message quotes the nearest sentence of the page, if any; `plain`
    is the same without text of the page."""

    code = "not_verbatim"

    def __init__(self, where: str, near: str | None) -> None:
        self.plain = f"the quote does not stand, letter for letter, in {where}"
        hint = "no sentence shares a word with it" if near is None else f"nearest is: {one_line(near)[:_SHOWN]}"
        super().__init__(f"{self.plain}; {hint}")


async def prove(connection: AsyncConnection, better: Better) -> tuple[Suggestion, Quote]:
    """The suggestion as it is shown, and what it quotes.

    Raises InvalidInputError when the page or the version is not stored or too short, NotVerbatimError when the quote
    does not stand there.
    """
    url = canonicalise(better.url if "://" in better.url else f"https://{better.url}")
    document = await find_document(connection, url)
    if document is None:
        raise InvalidInputError(f"nothing is stored of {url}: `webrag ingest` it first, and quote what is stored")
    cursor = await connection.execute(
        "SELECT v.id, v.number, v.markdown, d.canonical_url FROM documents d JOIN document_versions v"
        " ON v.document_id = d.id WHERE d.id = %(document)s AND CASE WHEN %(number)s::bigint IS NULL"
        "  THEN v.id = d.current_version ELSE v.number = %(number)s END",
        {"document": document.id, "number": better.version},
    )
    row = await cursor.fetchone()
    if row is None or row[2] is None:
        which = "current text" if better.version is None else f"version {better.version}"
        raise InvalidInputError(f"{which} of {document.canonical_url} is not stored")
    version_id, number, markdown, canonical = row
    quote = Quote.of(markdown, version_id, *_span(better, markdown, f"{canonical} version {number}"))
    suggestion = Suggestion(
        url=canonical,
        version=number,
        char_start=quote.start,
        char_end=quote.end,
        quote=quote.words(markdown),
        sha256=quote.sha256,
    )
    return suggestion, quote


async def stands(connection: AsyncConnection, suggestion: Suggestion, version_id: int) -> bool:
    """Whether a stored suggestion still stands in its version."""
    quote = suggestion.as_quote(version_id)
    markdown = (await version_texts(connection, [version_id])).get(version_id)
    return markdown is not None and quote.proves(markdown) and quote.words(markdown) == suggestion.quote


def nearest(markdown: str, quote: str) -> str | None:
    """The sentence that shares most words with `quote`, as it stands; None when none shares any."""
    quote_terms = Counter(terms(quote))
    best, most = None, 0.0
    for span in sentence_spans(markdown[:_READ]):
        sentence = span.of(markdown)
        words = Counter(terms(sentence))
        shared = 2 * (quote_terms & words).total() / max(1, quote_terms.total() + words.total())
        if shared > most:
            best, most = sentence, shared
    return best


def _span(better: Better, markdown: str, where: str) -> tuple[int, int]:
    if better.quote is None:
        start, end = better.char_start or 0, better.char_end or 0
        if not 0 <= start < end <= len(markdown):
            raise InvalidInputError(f"characters {start}–{end} do not lie within {where}, which has {len(markdown):,}")
        if end - start > LONGEST_QUOTE or len(markdown[start:end].strip()) < LEAST_QUOTE:
            raise InvalidInputError(f"a span holds {LEAST_QUOTE} to {LONGEST_QUOTE:,} characters")
        return start, end
    start = markdown.find(better.quote)
    if start < 0:
        raise NotVerbatimError(where, nearest(markdown, better.quote))
    return start, start + len(better.quote)
