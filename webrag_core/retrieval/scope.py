"""The scope of a search: the documents that it may return, and their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from psycopg import AsyncConnection, sql
from psycopg.types.multirange import Multirange
from psycopg.types.range import Range

from webrag_core.errors import InvalidInputError
from webrag_core.retrieval.request import DateRange, ScopeFilter, check_text

AT_PLACES = sql.SQL("""
AND (%(documents)s::integer[] IS NULL OR d.id = ANY(%(documents)s::integer[]))
AND (%(sources)s::text[] IS NULL OR d.source_id = ANY(ARRAY(
     SELECT s.id FROM sources s JOIN unnest(%(sources)s::text[]) AS n (name)
     ON s.key = n.name OR starts_with(s.key, n.name || '/'))))
AND (%(urls)s::text[] IS NULL OR EXISTS (SELECT FROM unnest(%(urls)s::text[]) AS u (prefix)
     WHERE starts_with(d.canonical_url, u.prefix)))
""")
"""Condition on documents `d`, with the parameters of `place_parameters`."""

# IS NOT NULL: the planner takes an unbounded range for true, whatever the column holds
_RESOLVE = sql.SQL("""
SELECT coalesce(array_agg(d.id ORDER BY d.id), '{{}}')
FROM documents d LEFT JOIN document_versions v ON v.id = d.current_version
WHERE d.current_version IS NOT NULL
{places}
AND (%(languages)s::text[] IS NULL OR EXISTS (SELECT FROM unnest(%(languages)s::text[]) AS t (tag)
     WHERE starts_with(language_of(v.language, v.detected_language) || '-', t.tag || '-')))
AND (%(types)s::text[] IS NULL OR CASE
     WHEN v.media_type IN ('text/html', 'application/xhtml+xml') THEN 'html'
     WHEN v.media_type = 'application/pdf' THEN 'pdf'
     WHEN v.media_type LIKE 'text/%%' THEN 'text' END = ANY(%(types)s))
AND (%(flags)s::text[] IS NULL OR EXISTS
     (SELECT FROM document_flag_sizes f WHERE f.document_id = d.id AND f.flags && %(flags)s))
AND (%(published)s::tstzrange IS NULL OR v.published IS NOT NULL AND v.published <@ %(published)s)
AND (%(modified)s::tstzrange IS NULL OR v.modified IS NOT NULL AND v.modified <@ %(modified)s)
AND (%(fetched)s::tstzrange IS NULL OR v.fetched_at <@ %(fetched)s)
""").format(places=AT_PLACES)

_DATED = """
SELECT coalesce(array_agg(d.id ORDER BY d.id) FILTER (WHERE t.dated <@ %(ranges)s::tstzmultirange), '{}'),
       count(*) FILTER (WHERE t.dated IS NULL)
FROM documents d JOIN document_versions v ON v.id = d.current_version,
LATERAL (SELECT coalesce(v.modified, v.published) AS dated) t
WHERE d.id = ANY(%(documents)s::integer[])
"""

_SIZE = """
SELECT count(*), coalesce(sum(parents), 0), coalesce(sum(children), 0), coalesce(sum(tokens), 0),
       ARRAY(SELECT rules FROM lexical_rules ORDER BY rules)
FROM document_sizes WHERE document_id = ANY(%(documents)s::integer[])
"""

_FLAGGED_SIZE = """
SELECT count(DISTINCT document_id), coalesce(sum(parents), 0), coalesce(sum(children), 0), coalesce(sum(tokens), 0),
       ARRAY(SELECT rules FROM lexical_rules ORDER BY rules)
FROM document_flag_sizes WHERE document_id = ANY(%(documents)s::integer[]) AND flags && %(flags)s::text[]
"""


@dataclass(frozen=True, slots=True)
class Scope:
    """Documents by id. `depths` gives the link distance from the seed in this run (absent = 0).

    With `flags`, only chunks that carry one of them.
    """

    document_ids: tuple[int, ...]
    depths: dict[int, int]
    flags: tuple[str, ...] = ()

    @property
    def id_array(self) -> str:
        """The ids as PostgreSQL writes an array: for thousands of them ten times faster to send than a list, and one
        search sends them several times."""
        return _id_array(self.document_ids)

    @classmethod
    def of(cls, depths: dict[int, int]) -> Scope:
        """The documents of a run with their link depth."""
        return cls(tuple(sorted(depths)), dict(depths))


@dataclass(frozen=True, slots=True)
class ScopeSize:
    """Searchable content of a scope: documents, parent chunks, child chunks, tokens of the parents; and the `rules` of
    words by which pages of the corpus are indexed (`language.words`)."""

    documents: int
    parents: int
    children: int
    tokens: int
    rules: tuple[str, ...] = ()


async def source_scope(connection: AsyncConnection, keys: Sequence[str] | None) -> Scope:
    """Every ready document of these sources, or of all sources for None.

    Raises InvalidInputError naming a source that does not exist.
    """
    return await resolve_scope(connection, ScopeFilter(sources=keys))


async def resolve_scope(connection: AsyncConnection, filters: ScopeFilter) -> Scope:
    """The ready documents that match `filters`, each at depth 0; possibly none.

    Raises InvalidInputError for an unknown source and for values that are not valid text.
    """
    await _check_sources(connection, filters.sources)
    for name, values in (
        ("language", filters.languages),
        ("flag", filters.flags),
        ("document type", filters.types),
        ("URL prefix", filters.url_prefixes),
    ):
        for value in values or ():
            check_text(value, name)
    languages = None if filters.languages is None else [_tag(language) for language in filters.languages]
    cursor = await connection.execute(
        _RESOLVE,
        {
            **place_parameters(filters),
            "languages": languages,
            "types": _list(filters.types),
            "flags": _list(filters.flags),
            "published": _range(filters.published),
            "modified": _range(filters.modified),
            "fetched": _range(filters.fetched),
        },
        prepare=False,  # unused conditions drop out of the plan only when the values are known
    )
    row = await cursor.fetchone()
    assert row is not None
    return Scope(tuple(row[0]), {}, tuple(sorted(set(filters.flags or ()))))


def place_parameters(filters: ScopeFilter) -> dict[str, object]:
    """Parameters of `AT_PLACES`: the documents, sources and URLs of `filters`."""
    return {
        "documents": _ids(filters.documents),
        "sources": _list(filters.sources),
        "urls": _prefixes(filters.url_prefixes),
    }


async def within_dates(
    connection: AsyncConnection, scope: Scope, date_ranges: Sequence[Sequence[DateRange]]
) -> tuple[Scope, int]:
    """The documents of `scope` whose date lies in one range of each list, and the number of those without a date
    (which are excluded)."""
    undated = 0
    for alternatives in date_ranges:
        ranges = Multirange([dates.sql for dates in alternatives])
        cursor = await connection.execute(_DATED, {"ranges": ranges, "documents": scope.id_array}, prepare=False)
        row = await cursor.fetchone()
        assert row is not None
        undated = max(undated, int(row[1]))  # the first filter removes them for the next
        scope = replace(scope, document_ids=tuple(row[0]))
    return scope, undated


async def scope_size(connection: AsyncConnection, scope: Scope) -> ScopeSize:
    """What can be found in `scope`, from counts that are kept per document. Documents without a chunk do not count."""
    cursor = await connection.execute(
        _FLAGGED_SIZE if scope.flags else _SIZE,
        {"documents": scope.id_array, "flags": list(scope.flags)},
        prepare=False,  # a plan for any array would look up every document by itself
    )
    row = await cursor.fetchone()
    assert row is not None
    documents, parents, children, tokens, rules = row
    return ScopeSize(int(documents), int(parents), int(children), int(tokens), tuple(rules))


@lru_cache(maxsize=16)
def _id_array(ids: tuple[int, ...]) -> str:
    return f"{{{','.join(map(str, ids))}}}"


async def _check_sources(connection: AsyncConnection, keys: Sequence[str] | None) -> None:
    if not keys:
        return
    for key in keys:
        check_text(key, "source")
    cursor = await connection.execute(
        "SELECT DISTINCT n.name FROM unnest(%s::text[]) AS n (name) WHERE NOT EXISTS"
        " (SELECT FROM sources s WHERE s.key = n.name OR starts_with(s.key, n.name || '/')) ORDER BY 1",
        (list(keys),),
    )
    unknown = [row[0] for row in await cursor.fetchall()]
    if unknown:
        raise InvalidInputError(f"no such source: {', '.join(unknown)}")


def _list(values: Sequence[str] | None) -> list[str] | None:
    return None if values is None else list(values)


def _ids(documents: Sequence[int] | None) -> list[int] | None:
    # an id beyond PostgreSQL's integers names no document
    return None if documents is None else [document for document in documents if 0 < document < 2**31]


def _tag(language: str) -> str:
    return language.strip().lower().replace("_", "-")


def _prefixes(urls: Sequence[str] | None) -> list[str] | None:
    """Prefixes of canonical URLs; without a scheme both are meant."""
    if urls is None:
        return None
    prefixes = [url.strip() for url in urls]
    return [
        full
        for prefix in prefixes
        for full in ((prefix,) if "://" in prefix else (f"https://{prefix}", f"http://{prefix}"))
    ]


def _range(dates: DateRange | None) -> Range[datetime] | None:
    return None if dates is None else dates.sql
