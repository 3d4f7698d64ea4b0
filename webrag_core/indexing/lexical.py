"""Tables `lexical_terms`, `lexical_postings`, `lexical_documents`: the inverted index that BM25 is computed from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from psycopg import AsyncConnection

from webrag_core.indexing.markdown import plain_text
from webrag_core.indexing.terms import terms

_MAX_FREQUENCY = 32_767


def term_counts(heading_path: Sequence[str], body: str) -> Counter[str]:
    """Terms of a chunk with their frequency, its heading path counted in."""
    return Counter(terms(" ".join(heading_path) + "\n" + plain_text(body)))


class TermIds:
    """Term to id, remembered for the life of the process (ids never change)."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    async def resolve(self, connection: AsyncConnection, wanted: Iterable[str]) -> Mapping[str, int]:
        """Ids of all `wanted` terms, made when new. Needs autocommit: term rows must not wait for a long
        transaction, or two writers that meet each other's terms in another order would deadlock."""
        unknown = await self._learn(connection, set(wanted) - self._known.keys())
        if unknown:  # asked first: a conflicting insert would use up an id for every term of every page
            await connection.execute(
                "INSERT INTO lexical_terms (term) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING",
                (sorted(unknown),),
            )
            await self._learn(connection, unknown)
        return self._known

    async def _learn(self, connection: AsyncConnection, terms: set[str]) -> set[str]:
        """Read the ids of `terms` and return the terms that have none."""
        if not terms:
            return terms
        cursor = await connection.execute("SELECT term, id FROM lexical_terms WHERE term = ANY(%s)", (list(terms),))
        self._known.update({term: int(term_id) for term, term_id in await cursor.fetchall()})
        return terms - self._known.keys()


async def replace_postings(
    connection: AsyncConnection,
    document_id: int,
    counts: Mapping[int, Counter[str]],
    term_ids: Mapping[str, int],
) -> None:
    """Make these the only postings of the document; `counts` maps a parent chunk's id to its term counts."""
    await connection.execute("DELETE FROM lexical_postings WHERE document_id = %s", (document_id,))
    await connection.execute(
        "INSERT INTO lexical_documents (document_id, parents, length) VALUES (%s, %s, %s)"
        " ON CONFLICT (document_id) DO UPDATE SET parents = EXCLUDED.parents, length = EXCLUDED.length",
        (document_id, len(counts), sum(count.total() for count in counts.values())),
    )
    async with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY lexical_postings (term_id, document_id, chunk_id, frequency, length) FROM STDIN WITH (FORMAT BINARY)"
        ) as copy,
    ):
        copy.set_types(["int4", "int4", "int8", "int2", "int4"])
        for chunk_id, frequencies in counts.items():
            length = frequencies.total()
            for term, frequency in frequencies.items():
                row = (term_ids[term], document_id, chunk_id, min(frequency, _MAX_FREQUENCY), length)
                await copy.write_row(row)
