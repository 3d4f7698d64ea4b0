"""What a run knows before it fetches anything: the stored, fresh pages of its scope, and what site maps name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg import AsyncConnection

from webrag_core.acquisition.urls import page_key
from webrag_core.corpus.acquirers import same_web
from webrag_core.corpus.freshness import ANSWERED_AT
from webrag_core.indexing.terms import beginnings
from webrag_core.language.detection import detected
from webrag_core.orchestration.run_scope import RunScope
from webrag_core.retrieval.scope import source_scope

_STORED = """
SELECT d.id, d.canonical_url FROM documents d
WHERE d.current_version IS NOT NULL AND d.status <> 'gone'
AND {inside}
AND (%(seeds)s::integer[] IS NULL OR d.source_id IN
     (SELECT s.source_id FROM documents s WHERE s.id = ANY(%(seeds)s::integer[])))
AND d.acquirer = ANY(%(acquirers)s::text[])
AND (%(max_age)s::float IS NULL OR {answered} >= now() - make_interval(secs => %(max_age)s::float))
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
    for live pages, nor the other way round. Pages that answered last more than `max_age` seconds
    ago (None = any age), and the page keys in `excluded`, are left out. Raises InvalidInputError for an unknown source.
    """
    if scope == "run":
        return {}
    sources = None if isinstance(scope, str) else scope
    inside = await source_scope(connection, sources)
    cursor = await connection.execute(
        _STORED.format(inside=inside.lookup("d.id"), answered=f"({ANSWERED_AT})"),
        {
            **inside.parameters,
            "seeds": list(seeds) if scope == "source" else None,
            "acquirers": same_web(acquirer),
            "max_age": max_age,
        },
        prepare=False,  # unused conditions drop out of the plan only when the values are known
    )
    rows = await cursor.fetchall()
    return {int(number): str(url) for number, url in rows if page_key(url) not in excluded}


MAPPED = 200
"""Maximum entries of site maps that a run considers."""
_K1, _B = 1.2, 0.75  # of BM25
_MOST_WORDS = 32  # of a query, the longest: each is looked for in all word lists
_LEAST_STEM = 4  # characters of a word that must occur; stems differ from words in their last one ("queri", "query")

_MAPPED = """
WITH named AS MATERIALIZED (
    SELECT p.source_id, p.url, p.words <> '' AS indexed, length(p.words) AS length,
           ' ' || lower(concat_ws(' ', p.title, p.url, p.description)) AS name, ' ' || p.words AS words
    FROM site_map_pages p
    WHERE p.source_id IN (SELECT s.source_id FROM documents s WHERE s.id = ANY(%(seeds)s::integer[]))
    AND (%(since)s::timestamptz IS NULL OR p.last_seen >= %(since)s::timestamptz)
), matches AS MATERIALIZED (
    SELECT n.source_id, n.url, n.indexed, n.length, w.word, strpos(n.name, w.word) > 0 AS in_name
    FROM named n JOIN unnest(%(words)s::text[]) AS w (word)
    ON strpos(n.name, w.word) > 0 OR strpos(n.words, ' ' || w.word) > 0
), weights AS (
    SELECT m.word, ln(1 + (t.pages - count(*) + 0.5) / (count(*) + 0.5)) AS idf, t.length AS mean_length
    FROM matches m, (SELECT count(*) AS pages, greatest(1, avg(length)) AS length FROM named) t
    GROUP BY m.word, t.pages, t.length
), best AS (
    SELECT m.source_id, m.url, m.indexed,
           sum(w.idf * (CASE WHEN m.in_name THEN 2 ELSE 1 END)
               * (%(k1)s + 1) / (1 + %(k1)s * (1 - %(b)s + %(b)s * m.length / w.mean_length))) AS score
    FROM matches m JOIN weights w USING (word)
    GROUP BY m.source_id, m.url, m.indexed ORDER BY score DESC, m.url LIMIT %(limit)s
)
SELECT p.url, p.title, p.description, b.indexed FROM best b JOIN site_map_pages p USING (source_id, url)
ORDER BY b.score DESC, p.url
"""


@dataclass(frozen=True, slots=True)
class MappedPage:
    """A page that a site's own description names; `indexed`: the site's search index says which words are on it."""

    url: str
    title: str | None
    description: str | None
    indexed: bool


async def mapped_pages(
    connection: AsyncConnection, *, seeds: Sequence[int], query: str, since: datetime | None = None
) -> list[MappedPage]:
    """Pages in the stored site maps and search indexes of the start pages' sources that hold a word of `query`: the
    best `MAPPED`, best first. `seeds` are the documents of the start pages; what was last read before `since` is left
    out.

    The score is BM25 over pages as sets of words (k1 = 1.2, b = .75; Robertson and Zaragoza 2009, with a term
    frequency of 1); a word in title, description or URL counts twice. Words match by their beginning.
    """
    stems = {term[: max(_LEAST_STEM, len(term) - 1)] for term in beginnings(query, detected(query))}
    words = sorted(stems, key=lambda stem: (-len(stem), stem))[:_MOST_WORDS]
    cursor = await connection.execute(
        _MAPPED, {"words": words, "seeds": list(seeds), "since": since, "limit": MAPPED, "k1": _K1, "b": _B}
    )
    return [MappedPage(*row) for row in await cursor.fetchall()]
