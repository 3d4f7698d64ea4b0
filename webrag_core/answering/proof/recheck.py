"""Prove stored sentences again, from the database alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import AsyncIterator, Sequence
from functools import lru_cache

from psycopg import AsyncConnection

from webrag_core.answering.proof.prove import Quoted, prove
from webrag_core.corpus.quotes import Quote
from webrag_core.indexing.markdown import Block, parse_blocks

_SENTENCES = """
SELECT s.answer_id, s.ordinal, s.text, s.proof,
       (SELECT jsonb_agg(jsonb_build_array(c.version_id, c.char_start, c.char_end, c.quote_sha256) ORDER BY c.number)
        FROM sentence_citations n JOIN citations c ON c.answer_id = n.answer_id AND c.number = n.number
        WHERE n.answer_id = s.answer_id AND n.ordinal = s.ordinal)
FROM answer_sentences s WHERE %(answer)s::bigint IS NULL OR s.answer_id = %(answer)s ORDER BY 1, 2
"""

VersionTexts = dict[int, tuple[str | None, str | None]]
"""Markdown and title by version id."""


async def recheck(connection: AsyncConnection, answer_id: int | None = None) -> AsyncIterator[tuple[str, str | None]]:
    """Yield the name of every stored sentence (None = of all answers) with what is wrong with its proof, or None.

    A proof holds when each quote is the hashed slice of its stored version, and the sentence is what the proof's kind
    makes of those quotes.
    """
    cursor = await connection.execute(_SENTENCES, {"answer": answer_id})
    rows = await cursor.fetchall()
    texts: VersionTexts = {}
    for answer, ordinal, text, proof, spans in rows:
        quotes = [Quote(*span) for span in spans or []]
        yield f"answer {answer}, sentence {ordinal}", await problem_of(connection, text, proof, quotes, texts)


async def problem_of(
    connection: AsyncConnection, text: str, proof: str, quotes: Sequence[Quote], texts: VersionTexts
) -> str | None:
    """What is wrong with the proof of one sentence, or None. `texts` collects the versions that were read."""
    if not quotes:
        return "it cites nothing"
    for version_id in {quote.version_id for quote in quotes} - texts.keys():
        cursor = await connection.execute("SELECT markdown, title FROM document_versions WHERE id = %s", (version_id,))
        texts[version_id] = await cursor.fetchone() or (None, None)
    return _problem(text, proof, quotes, texts)


def _problem(text: str, proof: str, quotes: Sequence[Quote], texts: VersionTexts) -> str | None:
    read = []
    for quote in quotes:
        markdown, title = texts[quote.version_id]
        if markdown is None:
            return "a cited text is no longer kept"
        if not quote.proves(markdown):
            return "a quote is not what its page says there"
        block = _block_at(markdown, quote.start)
        headings = (*(() if block is None else block.heading_path), *([title] if title else []))
        read.append(Quoted(quote.words(markdown), "other" if block is None else block.kind, headings))
    proved = prove(text, read)
    if proved is None:
        return "its quotes do not prove it"
    return None if proved == proof else f"it is {proved}, not {proof}"


def _block_at(markdown: str, position: int) -> Block | None:
    blocks = _blocks(markdown)
    place = bisect_right(blocks, position, key=lambda block: block.start) - 1
    return blocks[place] if place >= 0 and position < blocks[place].end else None


@lru_cache(maxsize=16)  # sentences of an answer cite few pages
def _blocks(markdown: str) -> list[Block]:
    return parse_blocks(markdown)
