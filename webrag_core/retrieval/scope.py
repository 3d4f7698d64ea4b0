"""The scope of a search: what it may return, and how much that is.

Everything, and some sources, languages and types stay conditions, and their sizes are kept (`source_sizes`): none costs
more in a larger corpus. So does a filter by one of the dates that pages state: by the months that lie in it whole
(`month_sizes`), and the documents of those at its ends. What other filters let through is listed, document by document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import LiteralString

from psycopg import AsyncConnection, sql
from psycopg.types.multirange import Multirange
from psycopg.types.range import Range

from webrag_core.corpus.places import AT_OR_BELOW, Places
from webrag_core.errors import InvalidInputError
from webrag_core.retrieval.request import EVERYTHING, DateRange, ScopeFilter, check_text
from webrag_core.store.database import sent_together
from webrag_core.store.id_arrays import id_array

AT_PLACES = sql.SQL("""
AND (%(documents)s::integer[] IS NULL OR d.id = ANY(%(documents)s::integer[]))
AND (%(sources)s::text[] IS NULL OR d.source_id = ANY(ARRAY(
     SELECT s.id FROM sources s JOIN unnest(%(sources)s::text[]) AS n (name)
     ON s.key = n.name OR starts_with(s.key, n.name || '/'))))
AND (%(addresses)s::text[] IS NULL OR {below})
""").format(below=AT_OR_BELOW)
"""Condition on documents `d`, with the parameters of `place_parameters`."""

# IS NOT NULL: the planner takes an unbounded range for true, whatever the column holds
_RESOLVE = sql.SQL("""
SELECT coalesce(array_agg(d.id), '{{}}')
FROM documents d LEFT JOIN document_versions v ON v.id = d.current_version AND v.document_id = d.id
WHERE d.current_version IS NOT NULL
{places}
AND (%(kinds)s::integer[] IS NULL OR d.kind = ANY(%(kinds)s))
AND (%(flags)s::text[] IS NULL OR EXISTS
     (SELECT FROM document_flag_sizes f WHERE f.document_id = d.id AND f.flags && %(flags)s))
AND (%(published)s::tstzrange IS NULL OR v.published IS NOT NULL AND v.published <@ %(published)s)
AND (%(modified)s::tstzrange IS NULL OR v.modified IS NOT NULL AND v.modified <@ %(modified)s)
AND (%(fetched)s::tstzrange IS NULL OR v.fetched_at <@ %(fetched)s)
""").format(places=AT_PLACES)

_SOURCES = """
SELECT n.name, s.id FROM unnest(%s::text[]) AS n (name)
LEFT JOIN sources s ON s.key = n.name OR starts_with(s.key, n.name || '/')
"""

_KINDS = """
SELECT id FROM page_kinds WHERE (%(languages)s::text[] IS NULL OR language || '-' LIKE ANY(%(languages)s))
AND (%(types)s::text[] IS NULL OR type = ANY(%(types)s)) ORDER BY id
"""

_MONTHS = """
WITH touched AS MATERIALIZED (
    SELECT id, span, span <@ %(ranges)s::tstzmultirange AS is_whole
    FROM (SELECT id, tstzrange(month::timestamp AT TIME ZONE 'UTC', (month + interval '1 month') AT TIME ZONE 'UTC')
                 AS span FROM (SELECT id, {month} AS month FROM page_months) m WHERE month < 'infinity') s
    WHERE span && %(ranges)s::tstzmultirange
)
SELECT ARRAY(SELECT id FROM touched WHERE is_whole ORDER BY id),
       (SELECT range_agg(span) FROM touched WHERE NOT is_whole) * %(ranges)s::tstzmultirange
"""
_DATED_AT_END = """
SELECT d.id FROM (SELECT * FROM documents WHERE {inside}) d
JOIN document_versions v ON v.id = d.current_version AND v.document_id = d.id WHERE {date} <@ %(portion)s::tstzrange
"""
_UNDATED = "SELECT count(*) FROM documents WHERE months = 0 AND current_version IS NOT NULL AND {inside}"

_DATED = """
WITH page AS NOT MATERIALIZED (
    SELECT d.id, coalesce(v.modified, v.published) AS dated
    FROM documents d JOIN document_versions v ON v.id = d.current_version AND v.document_id = d.id WHERE {inside}
)
SELECT ARRAY(SELECT id FROM page WHERE dated <@ range_merge(%(ranges)s::tstzmultirange) AND dated <@ %(ranges)s),
       (SELECT count(*) FROM page WHERE dated IS NULL)
"""

_MONTH_DATES: dict[str, LiteralString] = {  # of `_MONTHS`
    "published": "published",
    "modified": "modified",
    "stated": "CASE WHEN modified < 'infinity' THEN modified ELSE published END",
}
_DATES: dict[str, LiteralString] = {
    "published": "v.published",
    "modified": "v.modified",
    "stated": "coalesce(v.modified, v.published)",
}

_KEPT = """
SELECT coalesce(sum(documents) FILTER (WHERE {inside}), 0), coalesce(sum(parents) FILTER (WHERE {inside}), 0),
       coalesce(sum(children) FILTER (WHERE {inside}), 0), coalesce(sum(tokens) FILTER (WHERE {inside}), 0),
       coalesce(sum(indexed) FILTER (WHERE {inside}), 0), coalesce(sum(length) FILTER (WHERE {inside}), 0),
       coalesce(sum(indexed), 0), coalesce(sum(children), 0), ARRAY(SELECT rules FROM lexical_rules ORDER BY rules)
FROM source_sizes
"""

_ADDED_UP = """
SELECT s.*, l.*, k.*, ARRAY(SELECT rules FROM lexical_rules ORDER BY rules) FROM ({sizes}) AS s CROSS JOIN (
    SELECT coalesce(sum(parents), 0), coalesce(sum(length), 0) FROM lexical_documents
    WHERE document_id = ANY(%(documents)s::integer[])
) AS l CROSS JOIN (SELECT coalesce(sum(indexed), 0), coalesce(sum(children), 0) FROM source_sizes) AS k
"""
_KEPT_OF_MONTHS = """
SELECT s.*, k.*, ARRAY(SELECT rules FROM lexical_rules ORDER BY rules) FROM (
    SELECT coalesce(sum(documents), 0), coalesce(sum(parents), 0), coalesce(sum(children), 0), coalesce(sum(tokens), 0),
           coalesce(sum(indexed), 0), coalesce(sum(length), 0)
    FROM (
        SELECT documents, parents, children, tokens, indexed, length FROM month_sizes
        WHERE months = ANY(%(scope_months)s::integer[]) AND {inside}
        UNION ALL SELECT 1, parents, children, tokens, 0, 0 FROM document_sizes
        WHERE document_id = ANY(%(scope_ends)s::integer[])
        UNION ALL SELECT 0, 0, 0, 0, parents, length FROM lexical_documents
        WHERE document_id = ANY(%(scope_ends)s::integer[])
    ) r
) AS s CROSS JOIN (SELECT coalesce(sum(indexed), 0), coalesce(sum(children), 0) FROM source_sizes) AS k
"""
_SIZES = """
SELECT count(*), coalesce(sum(parents), 0), coalesce(sum(children), 0), coalesce(sum(tokens), 0)
FROM document_sizes WHERE document_id = ANY(%(documents)s::integer[])
"""
_FLAGGED_SIZES = """
SELECT count(DISTINCT document_id), coalesce(sum(parents), 0), coalesce(sum(children), 0), coalesce(sum(tokens), 0)
FROM document_flag_sizes WHERE document_id = ANY(%(documents)s::integer[]) AND flags && %(flags)s::text[]
"""


@dataclass(frozen=True, slots=True)
class Scope:
    """Documents by id, else all ready documents of some sources, kinds (`page_kinds`) and months (`page_months`) by id;
    None = of all. Of other months than those come the documents `end_ids`, which lie in the sources and kinds.

    `depths` gives the link distance from the seed in this run (absent = 0). With `flags`, only chunks that carry one of
    them; raises ValueError for flags without documents by id.
    """

    document_ids: tuple[int, ...] | None
    depths: dict[int, int]
    flags: tuple[str, ...] = ()
    source_ids: tuple[int, ...] | None = None
    kind_ids: tuple[int, ...] | None = None
    month_ids: tuple[int, ...] | None = None
    end_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.flags and self.document_ids is None:
            raise ValueError("a scope with flags needs its documents by id")

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all can lie inside."""
        nothing_dated = self.month_ids == () and not self.end_ids
        return nothing_dated or () in (self.document_ids, self.source_ids, self.kind_ids)

    @property
    def is_everything(self) -> bool:
        """Whether every ready document lies inside, whenever it is asked."""
        return (self.document_ids, self.source_ids, self.kind_ids, self.month_ids) == (None, None, None, None)

    @property
    def parameters(self) -> dict[str, object]:
        """Parameters of `lookup`, `test` and `condition`."""
        ids = {
            "documents": self.document_ids,
            "scope_sources": self.source_ids,
            "scope_kinds": self.kind_ids,
            "scope_months": self.month_ids,
            "scope_ends": None if self.month_ids is None else self.end_ids,
        }
        return {name: _repeated_id_array(values) for name, values in ids.items() if values is not None}

    @property
    def kept_condition(self) -> LiteralString:
        """Condition on the columns `source_id` and `kind` of a scope without documents by id."""
        of_sources: LiteralString = "source_id = ANY(%(scope_sources)s::integer[])"
        of_kinds: LiteralString = "kind = ANY(%(scope_kinds)s::integer[])"
        if self.kind_ids is None:
            return "true" if self.source_ids is None else of_sources
        return of_kinds if self.source_ids is None else f"{of_sources} AND {of_kinds}"

    @property
    def condition(self) -> LiteralString:
        """Condition on the rows of `documents` of a scope without documents by id."""
        if self.month_ids is None:
            return self.kept_condition
        of_months: LiteralString = "months = ANY(%(scope_months)s::integer[])"
        if self.end_ids:
            of_months = f"({of_months} OR id = ANY(%(scope_ends)s::integer[]))"
        return f"{of_months} AND {self.kept_condition}"

    def lookup(self, column: LiteralString) -> LiteralString:
        """Condition by which rows are found through an index on `column`, which holds a document's id."""
        if self.document_ids is not None:
            return f"{column} = ANY(%(documents)s::integer[])"
        if self.is_everything:
            return "true"
        return f"{column} IN (SELECT id FROM documents WHERE {self.condition})"  # noqa: S608

    def test(self, column: LiteralString, *, hashed: bool = False) -> LiteralString:
        """The same condition for rows that are at hand: no index on `column` can be used for it, and no join made of
        it, so the rows keep coming the way they do.

        Of sources and kinds, each row's document is looked up; or all of their documents first, and `hashed`, which is
        cheaper where the rows are many times as many.
        """
        if self.document_ids is not None:
            return f"{column} + 0 = ANY(%(documents)s::integer[])"
        if self.is_everything:
            return "true"
        if hashed:
            return f"({self.lookup(column)}) IS TRUE"
        return f"(SELECT {self.condition} FROM documents o WHERE o.id = {column})"  # noqa: S608

    def only(self, document_ids: Iterable[int]) -> Scope:
        """These of its documents."""
        return Scope(tuple(sorted(document_ids)), self.depths, self.flags)

    @classmethod
    def of(cls, depths: dict[int, int]) -> Scope:
        """The documents of a run with their link depth."""
        return cls(tuple(sorted(depths)), dict(depths))


@dataclass(frozen=True, slots=True)
class IndexSizes:
    """Parents with postings in the documents of a scope, and the terms in them; all parents with postings and all
    children of the corpus."""

    parents: int = 0
    length: int = 0
    corpus_parents: int = 0
    corpus_children: int = 0


@dataclass(frozen=True, slots=True)
class ScopeSize:
    """Searchable content of a scope: documents, parent chunks, child chunks, tokens of the parents; the `rules` of
    words by which pages of the corpus are indexed (`language.words`). `indexes` says what the searches by words and by
    vectors choose their ways by."""

    documents: int
    parents: int
    children: int
    tokens: int
    rules: tuple[str, ...] = ()
    indexes: IndexSizes = field(default=IndexSizes(), compare=False)


async def source_scope(connection: AsyncConnection, keys: Sequence[str] | None) -> Scope:
    """Every ready document of these sources, or of all sources for None.

    Raises InvalidInputError naming a source that does not exist.
    """
    return await resolve_scope(connection, ScopeFilter(sources=keys))


async def resolve_scope(connection: AsyncConnection, filters: ScopeFilter) -> Scope:
    """The ready documents that match `filters`, each at depth 0; possibly none.

    Raises InvalidInputError for an unknown source and for values that are not valid text, FetchError(INVALID_URL) for
    what is no address.
    """
    for name, values in (
        ("source", filters.sources),
        ("language", filters.languages),
        ("flag", filters.flags),
        ("document type", filters.types),
        ("URL prefix", filters.url_prefixes),
    ):
        for value in values or ():
            check_text(value, name)
    of_sources = None if filters.sources is None else await _of_sources(connection, filters.sources)
    kinds = await _kinds(connection, filters)
    conditions = Scope(None, {}, source_ids=of_sources, kind_ids=kinds)
    others = replace(filters, sources=None, languages=None, types=None)
    if others == EVERYTHING:
        return conditions
    for date, dates, rest in (
        ("published", filters.published, replace(others, published=None)),
        ("modified", filters.modified, replace(others, modified=None)),
    ):
        if dates is not None and rest == EVERYTHING:
            return await _in_months(connection, conditions, date, Multirange([dates.sql]))
    cursor = await connection.execute(
        _RESOLVE,
        {
            **place_parameters(filters),
            "kinds": None if kinds is None else id_array(kinds),
            "flags": _list(filters.flags),
            "published": _range(filters.published),
            "modified": _range(filters.modified),
            "fetched": _range(filters.fetched),
        },
        prepare=False,  # unused conditions drop out of the plan only when the values are known
    )
    row = await cursor.fetchone()
    assert row is not None
    return Scope(tuple(sorted(row[0])), {}, tuple(sorted(set(filters.flags or ()))))


async def list_documents(connection: AsyncConnection, scope: Scope) -> list[int]:
    """The ids of the ready documents inside, ascending: for whoever needs each of them."""
    if scope.document_ids is not None:
        return list(scope.document_ids)
    cursor = await connection.execute(
        f"SELECT id FROM documents WHERE current_version IS NOT NULL AND {scope.lookup('id')} ORDER BY id",  # noqa: S608
        scope.parameters,
    )
    return [int(row[0]) for row in await cursor.fetchall()]


def place_parameters(filters: ScopeFilter) -> dict[str, object]:
    """Parameters of `AT_PLACES`: the documents, sources and URLs of `filters`. Raises FetchError(INVALID_URL)."""
    urls = filters.url_prefixes
    places: dict[str, list[str] | None] = {"addresses": None, "beginnings": None}
    return {
        "documents": _ids(filters.documents),
        "sources": _list(filters.sources),
        **(places if urls is None else Places.typed(urls).parameters),
    }


async def within_dates(
    connection: AsyncConnection, scope: Scope, date_ranges: Sequence[Sequence[DateRange]]
) -> tuple[Scope, int]:
    """The documents of `scope` whose date lies in one range of each list, and the number of those without a date
    (which are excluded)."""
    undated = 0
    if date_ranges and scope.document_ids is None and scope.month_ids is None:
        ranges = Multirange([dates.sql for dates in date_ranges[0]])
        cursor = await connection.execute(_UNDATED.format(inside=scope.kept_condition), scope.parameters)
        undated = int((await cursor.fetchone() or (0,))[0])
        scope = await _in_months(connection, scope, "stated", ranges)
        date_ranges = date_ranges[1:]
    for alternatives in date_ranges:
        ranges = Multirange([dates.sql for dates in alternatives])
        statement = _DATED.format(inside=scope.lookup("d.id"))
        cursor = await connection.execute(statement, {"ranges": ranges, **scope.parameters}, prepare=False)
        row = await cursor.fetchone()
        assert row is not None
        undated = max(undated, int(row[1]))  # the first filter removes them for the next
        scope = scope.only(row[0])
    return scope, undated


async def scope_size(connection: AsyncConnection, scope: Scope) -> ScopeSize:
    """What can be found in `scope`, from counts that are kept: per source and kind, or per document where they are
    listed. Documents without a chunk do not count."""
    if scope.document_ids is None:
        sizes = _KEPT if scope.month_ids is None else _KEPT_OF_MONTHS
        cursor = await connection.execute(
            sizes.format(inside=scope.kept_condition),
            scope.parameters,
            prepare=None if scope.month_ids is None else False,  # as below
        )
    else:
        cursor = await connection.execute(
            _ADDED_UP.format(sizes=_FLAGGED_SIZES if scope.flags else _SIZES),
            {**scope.parameters, "flags": list(scope.flags)},
            prepare=False,  # a plan for any array would look up every document by itself
        )
    row = await cursor.fetchone()
    assert row is not None
    *numbers, rules = row
    documents, parents, children, tokens, *indexes = map(int, numbers)
    return ScopeSize(documents, parents, children, tokens, tuple(rules), IndexSizes(*indexes))


async def _in_months(connection: AsyncConnection, scope: Scope, date: str, ranges: Multirange[datetime]) -> Scope:
    """The documents of a scope of conditions whose date (a key of `_DATES`) lies in the ranges. Call inside a
    transaction."""
    cursor = await connection.execute(_MONTHS.format(month=_MONTH_DATES[date]), {"ranges": ranges})
    row = await cursor.fetchone()
    assert row is not None
    whole, portions = row
    ends: list[int] = []
    for portion in portions or ():  # of months, each by the index of the dates
        async with sent_together(connection):
            # the pages of a portion lie close together: else the planner reads all documents for some thousand
            await connection.execute("SELECT set_config('random_page_cost', '1', true)")
            cursor = await connection.execute(
                _DATED_AT_END.format(date=_DATES[date], inside=scope.kept_condition),
                {"portion": portion, **scope.parameters},
                prepare=False,  # how many it holds is estimated when it is known
            )
            await connection.execute("SET LOCAL random_page_cost TO DEFAULT")
        ends += [int(row[0]) for row in await cursor.fetchall()]
    return replace(scope, month_ids=tuple(whole), end_ids=tuple(sorted(ends)))


_repeated_id_array = lru_cache(maxsize=16)(id_array)  # of a scope, in each of its statements


async def _of_sources(connection: AsyncConnection, keys: Sequence[str]) -> tuple[int, ...]:
    """Ids of these sources. Raises InvalidInputError naming those that do not exist."""
    cursor = await connection.execute(_SOURCES, (list(keys),))
    named = await cursor.fetchall()
    unknown = sorted({name for name, source_id in named if source_id is None})
    if unknown:
        raise InvalidInputError(f"no such source: {', '.join(unknown)}; `webrag source list` shows them")
    return tuple(sorted({int(source_id) for _, source_id in named}))


async def _kinds(connection: AsyncConnection, filters: ScopeFilter) -> tuple[int, ...] | None:
    """Ids of the kinds of pages in these languages and of these types; None = all."""
    if filters.languages is None and filters.types is None:
        return None
    languages = None if filters.languages is None else [_tag(language) for language in filters.languages]
    cursor = await connection.execute(_KINDS, {"languages": languages, "types": _list(filters.types)})
    return tuple(int(row[0]) for row in await cursor.fetchall())


def _list(values: Sequence[str] | None) -> list[str] | None:
    return None if values is None else list(values)


def _ids(documents: Sequence[int] | None) -> list[int] | None:
    # an id beyond PostgreSQL's integers names no document
    return None if documents is None else [document for document in documents if 0 < document < 2**31]


def _tag(language: str) -> str:
    """A pattern of LIKE for the tag and those that it stands for."""
    literal = language.strip().lower().replace("_", "-").replace("\\", "\\\\").replace("%", "\\%")
    return f"{literal}-%"


def _range(dates: DateRange | None) -> Range[datetime] | None:
    return None if dates is None else dates.sql
