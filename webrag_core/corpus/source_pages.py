"""What a source holds, for people: its pages by state, how fresh they are, in which languages, and what failed why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeVar, get_args

from psycopg import AsyncConnection
from psycopg.rows import class_row

from webrag_core.corpus.freshness import ANSWERED_AT, FAILED_ATTEMPT, FAILING
from webrag_core.errors import InvalidInputError

PageState = Literal["ready", "failed", "gone", "skipped", "queued", "running"]
"""Of a page: searchable; the last check failed; confirmed absent; left out; being fetched."""
PAGE_STATES: tuple[PageState, ...] = get_args(PageState)
STATE_WORDS: dict[PageState, str] = {
    "ready": "searchable",
    "failed": "failed",
    "gone": "gone",
    "skipped": "left out",
    "queued": "waiting",
    "running": "being read",
}
"""States of pages in words."""
Name = TypeVar("Name", bound=str)


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """A source and the counts of its pages: by state, those of failed ones by reason, those with text by language
    (BCP 47, "" where none is clear). `due` pages have a next check that has come; `next_check` is the first one that
    has not. `last_answered`, `failed_at` and `failing` are those of `SourceStatus`."""

    key: str
    start_url: str | None
    attached: bool
    paused: bool
    page_limit: int | None
    map_entries: int | None
    declared_in: str | None
    states: dict[PageState, int]
    reasons: dict[str, int]
    languages: dict[str, int]
    due: int
    last_answered: datetime | None
    next_check: datetime | None
    failed_at: datetime | None
    failing: str | None

    @property
    def pages(self) -> int:
        """All of its pages."""
        return sum(self.states.values())


@dataclass(frozen=True, slots=True)
class CorpusContents:
    """What can be searched: the keys of all sources, and the number of pages with text by language (BCP 47, "" where
    none is clear), the largest first."""

    sources: list[str]
    languages: dict[str, int]

    @property
    def pages(self) -> int:
        """All pages with text."""
        return sum(self.languages.values())


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page of a source. `reason` says why it has no text, `failing` why it has no new one: its last attempt failed;
    `versions` counts its texts, `version_id` is the one that is searched."""

    url: str
    title: str | None
    state: PageState
    reason: str | None
    language: str | None
    versions: int
    version_id: int | None
    dated: datetime | None
    last_answered: datetime | None
    failing: str | None
    next_check: datetime | None
    is_due: bool


@dataclass(frozen=True, slots=True)
class _Source:
    key: str
    seed_url: str | None
    page_limit: int | None
    paused: bool
    map_entries: int | None
    declared_in: str | None
    failed_at: datetime | None
    failing: str | None


@dataclass(frozen=True, slots=True)
class _Group:
    """Pages of a source that have state, reason and language in common."""

    key: str
    state: PageState
    reason: str | None
    language: str | None
    pages: int
    due: int
    last_answered: datetime | None
    next_check: datetime | None


_SOURCES = f"""
SELECT key, seed_url, page_limit, paused, map_entries, declared_in, failed_at, failing
FROM (SELECT * FROM sources WHERE %(keys)s::text[] IS NULL OR key = ANY(%(keys)s)
    ORDER BY key COLLATE "C" LIMIT %(limit)s OFFSET %(offset)s) s {FAILED_ATTEMPT}
ORDER BY key COLLATE "C"
"""  # noqa: S608
_GROUPS = f"""
SELECT s.key, g.state, g.reason, k.language, g.pages, g.due, g.last_answered, g.next_check
FROM sources s CROSS JOIN LATERAL (
    SELECT status AS state, CASE WHEN status = 'failed' THEN reason END AS reason,
           CASE WHEN current_version IS NOT NULL THEN kind END AS kind, count(*) AS pages,
           count(*) FILTER (WHERE status <> 'gone' AND next_check <= now()) AS due,
           max({ANSWERED_AT}) AS last_answered,
           min(next_check) FILTER (WHERE status <> 'gone' AND next_check > now()) AS next_check
    FROM documents d WHERE source_id = s.id GROUP BY 1, 2, 3
) g LEFT JOIN page_kinds k ON k.id = g.kind WHERE s.key = ANY(%s)
"""  # noqa: S608
_LANGUAGES = """
SELECT k.language, sum(z.documents) FROM source_sizes z JOIN page_kinds k ON k.id = z.kind
WHERE %(keys)s::text[] IS NULL OR z.source_id = ANY(ARRAY(SELECT id FROM sources WHERE key = ANY(%(keys)s)))
GROUP BY 1 HAVING sum(z.documents) > 0
"""
_PAGES = f"""
WITH page AS (
    SELECT d.id FROM documents d JOIN sources s ON s.id = d.source_id
    LEFT JOIN document_versions v ON v.id = d.current_version
    WHERE s.key = %(key)s AND (%(state)s::text IS NULL OR d.status = %(state)s)
    AND (%(words)s = '' OR strpos(lower(d.canonical_url), lower(%(words)s)) > 0
         OR strpos(lower(v.title), lower(%(words)s)) > 0)
    ORDER BY d.canonical_url COLLATE "C" LIMIT %(limit)s OFFSET %(offset)s
)
SELECT d.canonical_url AS url, v.title, d.status AS state, d.reason,
       language_of(v.language, v.detected_language) AS language, d.current_version AS version_id,
       (SELECT count(*) FROM document_versions o WHERE o.document_id = d.id) AS versions,
       coalesce(v.modified, v.published) AS dated, {ANSWERED_AT} AS last_answered, {FAILING} AS failing, d.next_check,
       coalesce(d.status <> 'gone' AND d.next_check <= now(), false) AS is_due
FROM page JOIN documents d USING (id) LEFT JOIN document_versions v ON v.id = d.current_version
ORDER BY d.canonical_url COLLATE "C"
"""  # noqa: S608


async def sources_that_list(connection: AsyncConnection, urls: Sequence[str]) -> dict[str, list[str]]:
    """Those of these pages that site maps name, by the key of a source whose map it is."""
    cursor = await connection.execute(
        "SELECT DISTINCT ON (m.url) s.key, m.url FROM site_map_pages m JOIN sources s ON s.id = m.source_id"
        " WHERE m.url = ANY(%s) ORDER BY m.url, length(s.key) DESC, s.key",
        (list(urls),),
    )
    listed: dict[str, list[str]] = {}
    for key, url in await cursor.fetchall():
        listed.setdefault(str(key), []).append(str(url))
    return listed


async def corpus_contents(connection: AsyncConnection, keys: Sequence[str] | None = None) -> CorpusContents:
    """What can be searched, of the stored sources with these keys, in order; None = of all."""
    cursor = await connection.execute(_LANGUAGES, {"keys": keys}, prepare=False)
    languages = _counts((str(tag), int(pages)) for tag, pages in await cursor.fetchall())
    if keys is None:
        cursor = await connection.execute('SELECT key FROM sources ORDER BY key COLLATE "C"')
        keys = [str(row[0]) for row in await cursor.fetchall()]
    return CorpusContents(list(keys), languages)


async def list_summaries(
    connection: AsyncConnection, keys: Sequence[str] | None = None, *, limit: int, offset: int = 0
) -> list[SourceSummary]:
    """Sources by key, of these (None = of all), `limit` of them from number `offset` on."""
    return await _summaries(connection, keys, limit, offset)


async def source_summary(connection: AsyncConnection, key: str) -> SourceSummary:
    """The source with exactly this key. Raises InvalidInputError when unknown."""
    rows = await _summaries(connection, [key], 1, 0)
    if not rows:
        raise InvalidInputError(f"there is no source {key}")
    return rows[0]


async def source_pages(
    connection: AsyncConnection, key: str, *, state: PageState | None, words: str = "", limit: int, offset: int = 0
) -> list[SourcePage]:
    """Pages of a source by address: those of one state or all, with `words` those with it in their address or title."""
    parameters = {"key": key, "state": state, "words": words, "limit": limit, "offset": offset}
    async with connection.cursor(row_factory=class_row(SourcePage)) as cursor:
        await cursor.execute(_PAGES, parameters, prepare=False)  # titles are read where the plan knows words
        return await cursor.fetchall()


async def _summaries(
    connection: AsyncConnection, keys: Sequence[str] | None, limit: int, offset: int
) -> list[SourceSummary]:
    async with connection.cursor(row_factory=class_row(_Source)) as sources:
        await sources.execute(_SOURCES, {"keys": keys, "limit": limit, "offset": offset})
        rows = await sources.fetchall()
    groups: dict[str, list[_Group]] = {row.key: [] for row in rows}
    async with connection.cursor(row_factory=class_row(_Group)) as cursor:
        await cursor.execute(_GROUPS, (list(groups),))
        for group in await cursor.fetchall():
            groups[group.key].append(group)
    return [_summary(row, groups[row.key]) for row in rows]


def _summary(row: _Source, groups: Sequence[_Group]) -> SourceSummary:
    return SourceSummary(
        key=row.key,
        start_url=row.seed_url,
        attached=row.page_limit is not None,
        paused=row.paused,
        page_limit=row.page_limit,
        map_entries=row.map_entries,
        declared_in=row.declared_in,
        states=_counts((group.state, group.pages) for group in groups),
        reasons=_counts((group.reason, group.pages) for group in groups),
        languages=_counts((group.language, group.pages) for group in groups),
        due=sum(group.due for group in groups),
        last_answered=max((group.last_answered for group in groups if group.last_answered is not None), default=None),
        next_check=min((group.next_check for group in groups if group.next_check is not None), default=None),
        failed_at=row.failed_at,
        failing=row.failing,
    )


def _counts(named: Iterable[tuple[Name | None, int]]) -> dict[Name, int]:
    """Sums by name, the largest first; None is no name."""
    sums: dict[Name, int] = {}
    for name, number in named:
        if name is not None:
            sums[name] = sums.get(name, 0) + number
    return dict(sorted(sums.items(), key=lambda item: (-item[1], item[0])))
