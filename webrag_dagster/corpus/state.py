"""What the corpus holds of one source, per layer: counts, and a digest that changes when the content does.

The newest version of a page counts, whether it is current already or still being indexed. Digests are computed from
content alone (never from ids or times), so that equal content has an equal data version wherever it was made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from psycopg import AsyncConnection
from psycopg.rows import class_row

from webrag_core.corpus.source_pages import PageState
from webrag_core.corpus.sources import split_key
from webrag_core.store.database import Database

_BUCKET = 32
_LAST_BUCKET = 512


@dataclass(frozen=True, slots=True)
class Page:
    """A document of a source with its newest version; `version_id` is None when it never gave one."""

    document_id: int
    url: str
    status: PageState
    reason: str | None
    version_id: int | None
    sha256: str | None
    title: str | None
    characters: int | None
    chunker: str | None
    is_current: bool
    failing: bool
    """Its last request gave no text that was taken."""


@dataclass(frozen=True, slots=True)
class PageCount:
    """Rows that belong to one version, and their digest."""

    version_id: int
    rows: int
    digest: str
    part: int
    """Links: in navigation. Chunks: parents. Vectors: unused."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of a source: its data version, totals for the UI, and rows per version."""

    digest: str
    totals: dict[str, int]
    per_version: dict[int, PageCount]


async def source_pages(connection: AsyncConnection, key: str) -> list[Page]:
    """All documents of a source, or of a shard of one, by URL. Empty for an unknown source."""
    source, shard = split_key(key)
    async with connection.cursor(row_factory=class_row(Page)) as cursor:
        await cursor.execute(
            "SELECT d.id AS document_id, d.canonical_url AS url, d.status, d.reason, v.id AS version_id, v.sha256,"
            " v.title, v.characters, v.chunker,"
            " coalesce(v.id = d.current_version, false) AS is_current,"
            " coalesce(d.status <> 'gone' AND d.last_outcome = 'failed', false) AS failing"
            " FROM sources s JOIN documents d ON d.source_id = s.id"
            " LEFT JOIN document_versions v ON v.id = d.newest_version"
            ' WHERE s.key = %s ORDER BY d.canonical_url COLLATE "C"',
            (source,),
        )
        return [page for page in await cursor.fetchall() if shard.holds(page.url)]


def documents_layer(pages: Sequence[Page]) -> Layer:
    """Layer of the texts. A failed page keeps its last good text, so it does not change the layer."""
    stored = [page for page in pages if page.version_id is not None]
    return Layer(
        digest=_digest((page.url, page.sha256) for page in stored),
        totals={
            "pages": len(stored),
            "pages_failed": sum(page.status == "failed" for page in pages),
            "characters": sum(page.characters or 0 for page in stored),
        },
        per_version={},
    )


async def links_layer(connection: AsyncConnection, pages: Sequence[Page]) -> Layer:
    """Links of the newest versions."""
    versions = _versions(pages)
    counts = await _counts(
        connection,
        "SELECT version_id, count(*) AS rows, md5(string_agg(md5((target_url, anchor_text, context, heading_path,"
        " in_navigation, nofollow)::text), '' ORDER BY ordinal)) AS digest,"
        " count(*) FILTER (WHERE in_navigation) AS part"
        " FROM link_candidates WHERE version_id = ANY(%s) GROUP BY version_id",
        versions,
    )
    cursor = await connection.execute(
        "SELECT count(DISTINCT target_url) FROM link_candidates WHERE version_id = ANY(%s)", (versions,)
    )
    row = await cursor.fetchone()
    return Layer(
        digest=_digest(_content(pages, counts)),
        totals={
            "links": sum(count.rows for count in counts.values()),
            "links_in_navigation": sum(count.part for count in counts.values()),
            "distinct_targets": int(row[0]) if row else 0,
        },
        per_version=counts,
    )


async def chunks_layer(connection: AsyncConnection, pages: Sequence[Page], chunker: str) -> Layer:
    """Chunks of the newest versions.

    Chunking is a pure function of text and chunker, and a current page is re-chunked only together with its vectors.
    The digest therefore covers the text and the configured chunker.
    """
    counts = await _counts(
        connection,
        "SELECT version_id, count(*) AS rows, '' AS digest, count(*) FILTER (WHERE level = 'parent') AS part"
        " FROM chunks WHERE version_id = ANY(%s) GROUP BY version_id",
        _versions(pages),
    )
    parents = sum(count.part for count in counts.values())
    return Layer(
        digest=_digest((page.url, page.sha256, chunker) for page in pages if page.version_id in counts),
        totals={
            "pages": len(counts),
            "parents": parents,
            "children": sum(count.rows for count in counts.values()) - parents,
            "pages_with_another_chunker": sum(page.version_id in counts and page.chunker != chunker for page in pages),
        },
        per_version=counts,
    )


async def top_targets(database: Database, pages: Sequence[Page]) -> list[tuple[str, int, bool]]:
    """Most linked targets: (URL, links outside navigation, whether the corpus holds it)."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "SELECT t.target_url, t.links, EXISTS (SELECT FROM documents d WHERE d.canonical_url = t.target_url"
            "  AND d.current_version IS NOT NULL) FROM (SELECT target_url, count(*) AS links FROM link_candidates"
            "  WHERE version_id = ANY(%s) AND NOT in_navigation GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20) t"
            " ORDER BY 2 DESC, 1",
            (_versions(pages),),
        )
        return [(str(url), int(links), bool(in_corpus)) for url, links, in_corpus in await cursor.fetchall()]


async def token_histogram(connection: AsyncConnection, pages: Sequence[Page]) -> list[tuple[str, int]]:
    """Child chunks of the newest versions by size: (range of tokens, chunks), from small to large."""
    cursor = await connection.execute(
        "SELECT least(token_count, %s) / %s AS bucket, count(*) FROM chunks"
        " WHERE version_id = ANY(%s) AND level = 'child' GROUP BY 1 ORDER BY 1",
        (_LAST_BUCKET, _BUCKET, _versions(pages)),
    )
    chunks_by_bucket = {int(bucket): int(count) for bucket, count in await cursor.fetchall()}
    return [
        (
            f"{bucket * _BUCKET}+" if bucket * _BUCKET == _LAST_BUCKET else f"{bucket * _BUCKET}",
            chunks_by_bucket.get(bucket, 0),
        )
        for bucket in range(max(chunks_by_bucket, default=-1) + 1)
    ]


async def vectors_layer(connection: AsyncConnection, pages: Sequence[Page], model: str) -> Layer:
    """Vectors of current versions. The live model must be registered (Indexer.model_id does that)."""
    counts = await _counts(
        connection,
        "SELECT c.version_id, count(*) AS rows, md5(string_agg(c.embed_sha256, '' ORDER BY c.ordinal)) AS digest,"
        " 0 AS part FROM chunks c JOIN contract.v_embedding e ON e.chunk_id = c.id"
        " WHERE c.version_id = ANY(%s) AND c.level = 'child' GROUP BY c.version_id",
        _versions(pages),
    )
    return Layer(
        digest=_digest((*content, model) for content in _content(pages, counts)),
        totals={
            "pages": len(counts),
            "vectors": sum(count.rows for count in counts.values()),
            "pages_waiting": sum(page.version_id is not None and page.version_id not in counts for page in pages),
        },
        per_version=counts,
    )


async def _counts(connection: AsyncConnection, query: str, versions: list[int]) -> dict[int, PageCount]:
    async with connection.cursor(row_factory=class_row(PageCount)) as cursor:
        await cursor.execute(query.encode(), (versions,))
        return {count.version_id: count for count in await cursor.fetchall()}


def _versions(pages: Iterable[Page]) -> list[int]:
    return [page.version_id for page in pages if page.version_id is not None]


def _content(pages: Iterable[Page], counts: dict[int, PageCount]) -> Iterable[tuple[str, str]]:
    return ((page.url, counts[page.version_id].digest) for page in pages if page.version_id in counts)


def _digest(lines: Iterable[Sequence[str | None]]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update("\x1f".join(part or "" for part in line).encode() + b"\n")
    return digest.hexdigest()
