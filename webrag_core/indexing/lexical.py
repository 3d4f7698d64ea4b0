"""Tables `lexical_terms`, `lexical_postings`, `lexical_documents`, `lexical_rules`: the inverted index of BM25."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from psycopg import AsyncConnection

from webrag_core.indexing.markdown import plain_text
from webrag_core.indexing.terms import terms

FREQUENCIES = 8
"""Codes per term in `lexical_postings.terms`: frequencies 1 to 7, and 0 for what `frequent` holds."""

_MAX_IDS = 200_000  # terms whose ids are remembered: about 30 MB


def term_counts(heading_path: Sequence[str], body: str, language: str | None = None) -> Counter[str]:
    """Terms of a chunk in a language (None = not clear) with their frequency, its heading path counted in."""
    return Counter(terms(" ".join(heading_path) + "\n" + plain_text(body), language))


async def note_rules(connection: AsyncConnection, rules: str) -> None:
    """Remember that postings are made by these rules of words, so that queries are cut by them too. Needs autocommit:
    two long transactions would wait for each other."""
    await connection.execute(
        "INSERT INTO lexical_rules (rules) SELECT %(rules)s WHERE NOT EXISTS"
        " (SELECT FROM lexical_rules WHERE rules = %(rules)s) ON CONFLICT DO NOTHING",
        {"rules": rules},
    )


class TermIds:
    """Term to id, with the ids of recent terms in memory (ids never change)."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    async def resolve(self, connection: AsyncConnection, terms: Iterable[str]) -> Mapping[str, int]:
        """Return the ids of all `terms`; new terms get one.

        Needs autocommit: two long transactions that insert the same terms in different order would deadlock.
        """
        unknown = set(terms)
        ids = {term: self._ids[term] for term in unknown & self._ids.keys()}
        unknown -= ids.keys()
        for insert in (False, True):
            if insert and unknown:  # after a look-up: a conflicting insert would use up an id for every known term
                await connection.execute(
                    "INSERT INTO lexical_terms (term) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING",
                    (sorted(unknown),),
                )
            if unknown:
                cursor = await connection.execute(
                    "SELECT term, id FROM lexical_terms WHERE term = ANY(%s)", (list(unknown),)
                )
                ids |= {term: int(term_id) for term, term_id in await cursor.fetchall()}
                unknown -= ids.keys()
        if len(self._ids) + len(ids) > _MAX_IDS:
            self._ids.clear()
        self._ids |= ids
        return ids


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
            "COPY lexical_postings (chunk_id, document_id, length, terms, frequent) FROM STDIN WITH (FORMAT BINARY)"
        ) as copy,
    ):
        copy.set_types(["int8", "int4", "int4", "int4[]", "int4[]"])
        for chunk_id, frequencies in counts.items():
            codes, frequent = posting_codes({term_ids[term]: count for term, count in frequencies.items()})
            await copy.write_row((chunk_id, document_id, frequencies.total(), codes, frequent))


def posting_codes(frequencies: Mapping[int, int]) -> tuple[list[int], list[int]]:
    """Columns `terms` and `frequent` of a parent, from the frequency of each term id in it."""
    codes, frequent = [], []
    for term_id, frequency in sorted(frequencies.items()):
        codes.append(term_id * FREQUENCIES + (frequency if frequency < FREQUENCIES else 0))
        if frequency >= FREQUENCIES:
            frequent += [-term_id, frequency]
    return codes, frequent
