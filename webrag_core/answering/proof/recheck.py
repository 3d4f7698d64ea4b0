"""Prove stored sentences again, from the database alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from psycopg import AsyncConnection

from webrag_core.answering.proof.prove import Quoted, prove
from webrag_core.corpus.quotes import Quote
from webrag_core.indexing.markdown import Block, parse_blocks
from webrag_core.text_work import beside_loop

_SENTENCES = """
SELECT s.answer_id, s.ordinal, s.text, s.proof,
       (SELECT jsonb_agg(jsonb_build_array(c.version_id, c.char_start, c.char_end, c.quote_sha256) ORDER BY c.number)
        FROM sentence_citations n JOIN citations c ON c.answer_id = n.answer_id AND c.number = n.number
        WHERE n.answer_id = s.answer_id AND n.ordinal = s.ordinal)
FROM answer_sentences s WHERE %(answer)s::bigint IS NULL OR s.answer_id = %(answer)s ORDER BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class CitedVersion:
    """A version that is cited: its Markdown (None: no longer kept), title and blocks."""

    markdown: str | None
    title: str | None
    blocks: Sequence[Block]

    def quoted(self, quote: Quote) -> Quoted | str:
        """A quote as the version has it, or what is wrong with it."""
        if self.markdown is None:
            return "a cited text is no longer kept"
        if not quote.proves(self.markdown):
            return "a quote is not what its page says there"
        block = self._block_at(quote.start)
        headings = (*(() if block is None else block.heading_path), *([self.title] if self.title else []))
        return Quoted(quote.words(self.markdown), "other" if block is None else block.kind, headings)

    def _block_at(self, position: int) -> Block | None:
        place = bisect_right(self.blocks, position, key=lambda block: block.start) - 1
        return self.blocks[place] if place >= 0 and position < self.blocks[place].end else None


async def recheck(connection: AsyncConnection, answer_id: int | None = None) -> AsyncIterator[tuple[str, str | None]]:
    """Yield the name of every stored sentence (None = of all answers) with what is wrong with its proof, or None.

    A proof holds when each quote is the hashed slice of its stored version, and the sentence is what the proof's kind
    makes of those quotes. Each version is loaded and parsed once, however many sentences cite it.
    """
    cursor = await connection.execute(_SENTENCES, {"answer": answer_id})
    rows = [(*row[:4], [Quote(*span) for span in row[4] or []]) for row in await cursor.fetchall()]
    by_version: dict[int, set[Quote]] = {}
    for quote in (quote for row in rows for quote in row[4]):
        by_version.setdefault(quote.version_id, set()).add(quote)
    quoted: dict[Quote, Quoted | str] = {}
    for version_id, quotes in by_version.items():
        version = await cited_version(connection, version_id)
        quoted |= {quote: version.quoted(quote) for quote in quotes}
    for answer, ordinal, text, proof, cited in rows:
        yield f"answer {answer}, sentence {ordinal}", problem_of(text, proof, [quoted[quote] for quote in cited])


async def cited_version(connection: AsyncConnection, version_id: int) -> CitedVersion:
    """Load a version and parse it, beside the event loop."""
    cursor = await connection.execute("SELECT markdown, title FROM document_versions WHERE id = %s", (version_id,))
    markdown, title = await cursor.fetchone() or (None, None)
    return CitedVersion(markdown, title, [] if markdown is None else await beside_loop(_blocks, markdown))


def problem_of(text: str, proof: str, quotes: Sequence[Quoted | str]) -> str | None:
    """What is wrong with the proof of one sentence by these quotes, or None."""
    if not quotes:
        return "it cites nothing"
    for quote in quotes:
        if isinstance(quote, str):
            return quote
    proved = prove(text, [quote for quote in quotes if not isinstance(quote, str)])
    if proved is None:
        return "its quotes do not prove it"
    return None if proved == proof else f"it is {proved}, not {proof}"


@lru_cache(maxsize=16)  # what an answer cites is proved as it is said, and again as it is stored
def _blocks(markdown: str) -> list[Block]:
    return parse_blocks(markdown)
