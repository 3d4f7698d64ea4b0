"""The set of documents that a search may return, and what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Literal

from psycopg import AsyncConnection
from psycopg.types.range import Range

from webrag_core.errors import InvalidInputError
from webrag_core.retrieval.query_text import check_text

DocumentType = Literal["html", "pdf", "text"]

# IS NOT NULL: the planner takes a range without ends for true, whatever the column holds
_RESOLVE = """
SELECT coalesce(array_agg(d.id ORDER BY d.id), '{}')
FROM documents d LEFT JOIN document_versions v ON v.id = d.current_version
WHERE d.current_version IS NOT NULL
AND (%(documents)s::integer[] IS NULL OR d.id = ANY(%(documents)s::integer[]))
AND (%(sources)s::text[] IS NULL OR d.source_id = ANY(ARRAY(
     SELECT s.id FROM sources s JOIN unnest(%(sources)s::text[]) AS n (name)
     ON s.key = n.name OR starts_with(s.key, n.name || '/'))))
AND (%(languages)s::text[] IS NULL OR EXISTS (SELECT FROM unnest(%(languages)s::text[]) AS t (tag)
     WHERE starts_with(lower(replace(v.language, '_', '-')) || '-', t.tag || '-')))
AND (%(types)s::text[] IS NULL OR CASE
     WHEN v.media_type IN ('text/html', 'application/xhtml+xml') THEN 'html'
     WHEN v.media_type = 'application/pdf' THEN 'pdf'
     WHEN v.media_type LIKE 'text/%%' THEN 'text' END = ANY(%(types)s))
AND (%(flags)s::text[] IS NULL OR EXISTS
     (SELECT FROM document_flag_sizes f WHERE f.document_id = d.id AND f.flags && %(flags)s))
AND (%(published)s::tstzrange IS NULL OR v.published IS NOT NULL AND v.published <@ %(published)s)
AND (%(modified)s::tstzrange IS NULL OR v.modified IS NOT NULL AND v.modified <@ %(modified)s)
AND (%(fetched)s::tstzrange IS NULL OR v.fetched_at <@ %(fetched)s)
"""

_SIZE = """
SELECT count(*), coalesce(sum(parents), 0), coalesce(sum(children), 0), coalesce(sum(tokens), 0)
FROM document_sizes WHERE document_id = ANY(%(documents)s::integer[])
"""

_FLAGGED_SIZE = """
SELECT count(DISTINCT document_id), coalesce(sum(parents), 0), coalesce(sum(children), 0), coalesce(sum(tokens), 0)
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
class DateRange:
    """start <= moment < end; None leaves that side open. Both know their time zone."""

    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeFilter:
    """What a search is narrowed to. A field of None does not narrow; within a field any value will do (so an empty one
    matches nothing), and all fields must agree.

    `documents` are ids, `sources` their keys (that of a host means all of its sections), `languages` BCP 47 tags (`en`
    takes `en-GB`, not the reverse). A date or language that a page does not tell matches no filter on it. `flags` are
    those of chunks, not of whole pages.
    """

    documents: Sequence[int] | None = None
    sources: Sequence[str] | None = None
    published: DateRange | None = None
    modified: DateRange | None = None
    fetched: DateRange | None = None
    languages: Sequence[str] | None = None
    types: Sequence[DocumentType] | None = None
    flags: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class ScopeSize:
    """Searchable content of a scope: documents, parent chunks, child chunks, tokens of the parents."""

    documents: int
    parents: int
    children: int
    tokens: int


async def source_scope(connection: AsyncConnection, keys: Sequence[str] | None) -> Scope:
    """Every ready document of these sources, or of all sources for None.

    Raises InvalidInputError naming a source that does not exist.
    """
    return await resolve_scope(connection, ScopeFilter(sources=keys))


async def resolve_scope(connection: AsyncConnection, wanted: ScopeFilter) -> Scope:
    """The ready documents that `wanted` asks for, each at depth 0; none of them is no error.

    Raises InvalidInputError naming a source that does not exist, for a text that is none, and for a date without zone.
    """
    await _check_sources(connection, wanted.sources)
    for what, texts in (("language", wanted.languages), ("flag", wanted.flags), ("document type", wanted.types)):
        for text in texts or ():
            check_text(text, what)
    languages = None if wanted.languages is None else [_tag(language) for language in wanted.languages]
    cursor = await connection.execute(
        _RESOLVE,
        {
            "documents": _ids(wanted.documents),
            "sources": _list(wanted.sources),
            "languages": languages,
            "types": _list(wanted.types),
            "flags": _list(wanted.flags),
            "published": _range(wanted.published),
            "modified": _range(wanted.modified),
            "fetched": _range(wanted.fetched),
        },
        prepare=False,  # what is not narrowed drops out of the plan only when the values are known
    )
    row = await cursor.fetchone()
    assert row is not None
    return Scope(tuple(row[0]), {}, tuple(sorted(set(wanted.flags or ()))))


async def scope_size(connection: AsyncConnection, scope: Scope) -> ScopeSize:
    """What can be found in `scope`, from counts that are kept per document. Documents without a chunk do not count."""
    cursor = await connection.execute(
        _FLAGGED_SIZE if scope.flags else _SIZE,
        {"documents": scope.id_array, "flags": list(scope.flags)},
        prepare=False,  # a plan for any array would look up every document by itself
    )
    row = await cursor.fetchone()
    assert row is not None
    return ScopeSize(*(int(value) for value in row))


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


def _range(span: DateRange | None) -> Range[datetime] | None:
    if span is None:
        return None
    for moment in (span.start, span.end):
        if moment is not None and moment.tzinfo is None:
            raise InvalidInputError(f"the date {moment.isoformat()} has no time zone")
    if span.start is not None and span.end is not None and span.end < span.start:
        raise InvalidInputError(f"a range of dates ends before it begins, {span.start.isoformat()}")
    return Range(span.start, span.end)
