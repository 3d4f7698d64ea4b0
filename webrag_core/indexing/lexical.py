"""Tables `lexical_terms`, `lexical_postings`, `lexical_documents`, `lexical_rules`: the inverted index of BM25."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from psycopg import AsyncConnection, AsyncCursor

from webrag_core.indexing.markdown import plain_text
from webrag_core.indexing.terms import terms
from webrag_core.store.database import Database

FREQUENCIES = 8
"""Codes per term in `lexical_postings.terms`: frequencies 1 to 7, and 0 for what `frequent` holds."""

FREQUENT = 1_000
"""Parents from which on the shares of a term are kept: of fewer a search counts them in half a millisecond."""

_RECOUNT = 0.05  # of the parents have come or gone since: idf moves by as much at most, and ranks hardly
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

    def of(self, terms: Iterable[str]) -> TermLookup:
        """The look-up of all `terms`."""
        wanted = set(terms)
        return TermLookup(self, {term: self._ids[term] for term in wanted & self._ids.keys()}, wanted)

    def remember(self, ids: Mapping[str, int]) -> None:
        """Keep the ids of terms."""
        if len(self._ids) + len(ids) > _MAX_IDS:
            self._ids.clear()
        self._ids |= ids


_TERM_IDS = """
WITH wanted AS (SELECT unnest(%(terms)s::text[]) AS term),
known AS MATERIALIZED (SELECT term, id FROM lexical_terms WHERE term = ANY(%(terms)s)),
new AS (
    INSERT INTO lexical_terms (term)
    SELECT w.term FROM wanted w WHERE NOT EXISTS (SELECT FROM known k WHERE k.term = w.term) ORDER BY w.term COLLATE "C"
    ON CONFLICT DO NOTHING RETURNING term, id
)
TABLE known UNION ALL TABLE new
"""


class TermLookup:
    """The ids of the terms of pages; new terms get one. Ask, read, and once more where some are `unknown`: those that
    somebody else made meanwhile.

    Needs autocommit: two long transactions that insert the same terms in different order would deadlock.
    """

    def __init__(self, memory: TermIds, ids: dict[str, int], wanted: Collection[str]) -> None:
        self._memory = memory
        self.ids = ids
        self.unknown = set(wanted) - ids.keys()
        self._cursor: AsyncCursor | None = None

    async def ask(self, connection: AsyncConnection) -> None:
        """Send the statement, which may be part of a pipeline."""
        if self.unknown:
            self._cursor = await connection.execute(_TERM_IDS, {"terms": list(self.unknown)})

    async def read(self) -> None:
        """Take in what was asked last."""
        cursor, self._cursor = self._cursor, None
        if cursor is None:
            return
        rows = {term: int(term_id) for term, term_id in await cursor.fetchall()}
        self.ids |= rows
        self.unknown -= rows.keys()
        self._memory.remember(rows)


async def unused_terms(connection: AsyncConnection) -> frozenset[str]:
    """The terms that no page has: those of pages and texts that are gone."""
    cursor = await connection.execute(
        "SELECT term FROM lexical_terms WHERE id NOT IN"
        " (SELECT DISTINCT code / %s FROM lexical_postings CROSS JOIN unnest(terms) AS e (code))",
        (FREQUENCIES,),
    )
    return frozenset(str(row[0]) for row in await cursor.fetchall())


async def drop_terms(connection: AsyncConnection, terms: Collection[str]) -> None:
    """Delete terms from the vocabulary. Whoever else writes pages remembers their ids (`TermIds`): call it alone."""
    await connection.execute("DELETE FROM lexical_terms WHERE term = ANY(%s)", (list(terms),))


async def replace_postings(
    connection: AsyncConnection,
    document_id: int,
    counts: Mapping[int, Counter[str]],
    term_ids: Mapping[str, int],
) -> None:
    """Make these the only postings of the document; `counts` maps a parent chunk's id to its term counts."""
    await connection.execute("DELETE FROM lexical_postings WHERE document_id = %s", (document_id,))
    await write_sizes(connection, {document_id: counts.values()})
    await copy_postings(connection, {document_id: counts}, term_ids)


async def write_sizes(connection: AsyncConnection, counts: Mapping[int, Collection[Counter[str]]]) -> None:
    """Write how many parents and terms each document has."""
    lengths = [sum(count.total() for count in parents) for parents in counts.values()]
    await connection.execute(
        "INSERT INTO lexical_documents (document_id, parents, length)"
        " SELECT * FROM unnest(%s::int[], %s::int[], %s::int[])"
        " ON CONFLICT (document_id) DO UPDATE SET parents = EXCLUDED.parents, length = EXCLUDED.length",
        (list(counts), [len(parents) for parents in counts.values()], lengths),
    )


async def copy_postings(
    connection: AsyncConnection, counts: Mapping[int, Mapping[int, Counter[str]]], term_ids: Mapping[str, int]
) -> None:
    """Add postings of documents; `counts` has those of `replace_postings` for each."""
    async with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY lexical_postings (chunk_id, document_id, length, terms, frequent) FROM STDIN WITH (FORMAT BINARY)"
        ) as copy,
    ):
        copy.set_types(["int8", "int4", "int4", "int4[]", "int4[]"])
        for document_id, parents in counts.items():
            for chunk_id, frequencies in parents.items():
                codes, frequent = posting_codes({term_ids[term]: count for term, count in frequencies.items()})
                await copy.write_row((chunk_id, document_id, frequencies.total(), codes, frequent))


_COUNT_CODES = """
WITH counted AS MATERIALIZED (
    SELECT code, count(*) AS parents FROM lexical_postings CROSS JOIN unnest(terms) AS e (code) GROUP BY code
), frequent AS (
    SELECT code / %(codes)s AS id, array_agg(mod(code, %(codes)s) ORDER BY code) AS codes,
           array_agg(parents::real / %(total)s ORDER BY code) AS held
    FROM counted GROUP BY 1 HAVING sum(parents) >= %(frequent)s
), spread AS (
    SELECT id, array(SELECT coalesce(held[array_position(codes, code)], 0)::real
                     FROM generate_series(0, %(codes)s - 1) AS code ORDER BY code) AS shares
    FROM frequent
)
UPDATE lexical_terms t SET shares = n.shares
FROM (SELECT o.id, s.shares FROM lexical_terms o LEFT JOIN spread s ON s.id = o.id) n
WHERE t.id = n.id AND t.shares IS DISTINCT FROM n.shares
"""


async def count_frequent_terms(database: Database) -> bool:
    """Count how many parents hold each frequent term, if a twentieth of all parents came or went since the last time.
    True if counted. Reads every posting: a second for 25,000 parents."""
    async with database.claims.hold("count terms"):
        async with database.connection() as connection:
            cursor = await connection.execute(
                "SELECT (SELECT coalesce(sum(indexed), 0) FROM source_sizes), (SELECT parents FROM counted_terms)"
            )
            total, before = await cursor.fetchone() or (0, None)
        if total < FREQUENT or (before is not None and abs(total - before) <= before * _RECOUNT):
            return False
        async with database.long_job() as connection, connection.transaction():
            await connection.execute(
                _COUNT_CODES, {"codes": FREQUENCIES, "frequent": FREQUENT, "total": int(total)}, prepare=False
            )
            await connection.execute(
                "INSERT INTO counted_terms (parents) VALUES (%s)"
                " ON CONFLICT (one) DO UPDATE SET parents = EXCLUDED.parents",
                (total,),
            )
    return True


def posting_codes(frequencies: Mapping[int, int]) -> tuple[list[int], list[int]]:
    """Columns `terms` and `frequent` of a parent, from the frequency of each term id in it."""
    codes, frequent = [], []
    for term_id, frequency in sorted(frequencies.items()):
        codes.append(term_id * FREQUENCIES + (frequency if frequency < FREQUENCIES else 0))
        if frequency >= FREQUENCIES:
            frequent += [-term_id, frequency]
    return codes, frequent
