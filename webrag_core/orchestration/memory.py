"""What a run knows before it fetches anything: the stored, fresh pages of its scope, and what site maps name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, get_args

from psycopg import AsyncConnection

from webrag_core.acquisition.sitemaps.models import MapEntry
from webrag_core.acquisition.urls import page_key
from webrag_core.corpus.ingestor import LIVE
from webrag_core.indexing.terms import terms
from webrag_core.retrieval.request import ScopeFilter
from webrag_core.retrieval.scope import resolve_scope

RunScope = Literal["run", "source", "all"]
"""What a run may search: only what it took in, everything stored of its start pages' sources, or the whole corpus."""


def run_scope(names: Sequence[str]) -> RunScope | tuple[str, ...] | None:
    """The scope that one word ("run", "source", "all") or names of sources stand for; None without any."""
    words: dict[str, RunScope] = {word: word for word in get_args(RunScope)}
    if len(names) > 1:
        return tuple(names)
    return words.get(names[0], tuple(names)) if names else None


_STORED = """
SELECT d.id, d.canonical_url FROM documents d
WHERE d.current_version IS NOT NULL AND d.status <> 'gone'
AND (%(documents)s::integer[] IS NULL OR d.id = ANY(%(documents)s::integer[]))
AND (%(seeds)s::integer[] IS NULL OR d.source_id IN
     (SELECT s.source_id FROM documents s WHERE s.id = ANY(%(seeds)s::integer[])))
AND d.acquirer = ANY(%(acquirers)s::text[])
AND (%(max_age)s::float IS NULL OR d.last_checked >= now() - make_interval(secs => %(max_age)s::float))
"""


async def stored_pages(
    connection: AsyncConnection,
    scope: RunScope | Sequence[str],
    *,
    seeds: Sequence[int],
    acquirer: str,
    max_age: float | None,
    excluded: Collection[str] = (),
) -> dict[int, str]:
    """Document id -> URL of the pages that a run over `scope` (a word, or keys of sources) may use without fetching.

    `seeds` are the documents of the start pages, `acquirer` is the one of the run: copies of a snapshot never stand in
    for live pages, nor the other way round. Pages checked more than `max_age` seconds ago (None = any age) and the page
    keys in `excluded` are left out. Raises InvalidInputError for an unknown source.
    """
    if scope == "run":
        return {}
    documents = None if isinstance(scope, str) else await resolve_scope(connection, ScopeFilter(sources=scope))
    cursor = await connection.execute(
        _STORED,
        {
            "documents": None if documents is None else documents.id_array,
            "seeds": list(seeds) if scope == "source" else None,
            "acquirers": list(LIVE) if acquirer in LIVE else [acquirer],
            "max_age": max_age,
        },
        prepare=False,  # unused conditions drop out of the plan only when the values are known
    )
    rows = await cursor.fetchall()
    return {int(number): str(url) for number, url in rows if page_key(url) not in excluded}


MAPPED = 200
"""Maximum entries of site maps that a run considers."""
_LEAST_STEM = 4  # characters of a word that must occur; stems differ from words in their last one ("queri", "query")

_MAPPED = """
WITH named AS MATERIALIZED (
    SELECT p.source_id, p.url, lower(concat_ws(' ', p.title, p.description, p.url)) AS text FROM site_map_pages p
    WHERE p.source_id IN (SELECT s.source_id FROM documents s WHERE s.id = ANY(%(seeds)s::integer[]))
), best AS (
    SELECT n.source_id, n.url, count(*) AS words
    FROM named n JOIN unnest(%(words)s::text[]) AS word ON strpos(n.text, word) > 0
    GROUP BY n.source_id, n.url ORDER BY words DESC, n.url LIMIT %(limit)s
)
SELECT p.url, p.title, p.description FROM best JOIN site_map_pages p USING (source_id, url) ORDER BY words DESC, p.url
"""


async def mapped_pages(
    connection: AsyncConnection, scope: RunScope | Sequence[str], *, seeds: Sequence[int], query: str
) -> list[MapEntry]:
    """Entries of the stored site maps of the start pages' sources that hold a word of `query` in title, description or
    URL: those with most words, at most `MAPPED`. `seeds` are the documents of the start pages.

    Refreshes read and store site maps; a run of scope `run` uses nothing stored.
    """
    if scope == "run":
        return []
    words = sorted({term[: max(_LEAST_STEM, len(term) - 1)] for term in terms(query)})
    cursor = await connection.execute(_MAPPED, {"words": words, "seeds": list(seeds), "limit": MAPPED})
    return [MapEntry(url, title, description) for url, title, description in await cursor.fetchall()]
