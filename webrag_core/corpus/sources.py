"""Tables of sources: what is attached, the site's own map, change signals, refresh runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg import AsyncConnection, sql
from psycopg.rows import class_row

from webrag_core.acquisition.sitemaps.models import MapEntry
from webrag_core.acquisition.urls import canonicalise, folder_of, source_key
from webrag_core.conversion.html import EXTRACTOR_VERSION
from webrag_core.corpus.revisit import KnownPage, SignalRecord
from webrag_core.errors import InvalidInputError

_DATED = {"sitemap", "feed"}
"""Where an entry's date is a change signal."""


WHOLE = -1
"""Number of the shard in the balance of a refresh that asked for the whole source."""


@dataclass(frozen=True, slots=True)
class Source:
    """A row of `sources`. `page_limit` is None where only pages that somebody asked for are kept fresh.

    `declared_in` names the file that declares it, `refresh_hours` and `watch_minutes` are None where the settings
    decide, `follow` is what may bring new pages: none, map, or links (the map too).
    """

    id: int
    key: str
    seed_url: str | None
    path_prefix: str
    page_limit: int | None
    paused: bool
    map_read_at: datetime | None
    map_entries: int | None
    declared_in: str | None = None
    refresh_hours: float | None = None
    watch_minutes: float | None = None
    shards: int = 1
    acquirer: str | None = None
    pool: str | None = None
    follow: str = "links"
    watch_token: str | None = None

    @property
    def start_url(self) -> str:
        """Where its map and its pages begin."""
        return self.seed_url or f"https://{self.key}/"

    @property
    def section(self) -> str:
        """What the URLs of its pages begin with."""
        return f"{self.start_url.partition('://')[0]}://{self.key}{self.path_prefix}"

    def covers(self, url: str) -> bool:
        """True when canonical `url` belongs to its section. Other pages of the site are kept fresh, and not counted."""
        return url == self.start_url or url.startswith(self.section)


@dataclass(frozen=True, slots=True)
class RefreshCounts:
    """Where the pages of one refresh went; together they are all pages that were known of."""

    fetched: int = 0
    unchanged: int = 0
    failed: int = 0
    skipped: int = 0
    not_due: int = 0

    @property
    def discovered(self) -> int:
        """All pages that the refresh knew of."""
        return self.fetched + self.unchanged + self.failed + self.skipped + self.not_due


_SOURCE = (
    "SELECT id, key, seed_url, path_prefix, page_limit, paused, map_read_at, map_entries, declared_in, refresh_hours,"
    " watch_minutes, shards, acquirer, pool, follow, watch_token FROM sources"
)


KEEP_MAP = sql.SQL(", ").join(
    sql.SQL(
        "{0} = CASE WHEN (s.seed_url, s.path_prefix) IS NOT DISTINCT FROM (EXCLUDED.seed_url, EXCLUDED.path_prefix)"
        " THEN s.{0} END"
    ).format(sql.Identifier(column))
    for column in ("map_read_at", "map_entries", "watched_at", "watch_token")
)
"""For ON CONFLICT DO UPDATE of `sources AS s`: what the map said is forgotten when the source begins elsewhere now."""


async def list_sources(connection: AsyncConnection) -> list[Source]:
    """All sources by key."""
    async with connection.cursor(row_factory=class_row(Source)) as cursor:
        await cursor.execute(f'{_SOURCE} ORDER BY key COLLATE "C"'.encode())
        return await cursor.fetchall()


async def find_source(connection: AsyncConnection, key: str) -> Source:
    """The source `key` (host, with a port that is not the scheme's own). Raises InvalidInputError when unknown."""
    async with connection.cursor(row_factory=class_row(Source)) as cursor:
        await cursor.execute(f"{_SOURCE} WHERE key = %s".encode(), (key,))
        source = await cursor.fetchone()
    if source is None:
        raise InvalidInputError(f"there is no source {key}; `webrag source list` shows them")
    return source


async def attach_source(connection: AsyncConnection, url: str, page_limit: int | None) -> str:
    """Attach the site section that begins at `url` (known pages only when `page_limit` is None). Returns its key.

    The section is what lies below the folder of `url`. Attaching again replaces what was said before. Raises
    FetchError(INVALID_URL), InvalidInputError for a source that a file declares.
    """
    url = canonicalise(url)
    key = source_key(url)
    cursor = await connection.execute(
        sql.SQL(
            "INSERT INTO sources AS s (key, seed_url, path_prefix, page_limit) VALUES (%s, %s, %s, %s)"
            " ON CONFLICT (key) DO UPDATE SET seed_url = EXCLUDED.seed_url, path_prefix = EXCLUDED.path_prefix,"
            " page_limit = EXCLUDED.page_limit, paused = false, {} WHERE s.declared_in IS NULL RETURNING id"
        ).format(KEEP_MAP),
        (key, url, folder_of(url), page_limit),
    )
    if await cursor.fetchone() is None:
        declared = (await find_source(connection, key)).declared_in
        raise InvalidInputError(f"{key} is declared in {declared}: change it there, or delete it there first")
    return key


async def pause_source(connection: AsyncConnection, key: str, *, paused: bool) -> None:
    """Leave a source out of refreshes that name none, or take it in again. Raises InvalidInputError when unknown."""
    await find_source(connection, key)
    await connection.execute("UPDATE sources SET paused = %s WHERE key = %s", (paused, key))


async def store_map(
    connection: AsyncConnection, source: Source, entries: Sequence[MapEntry], read_at: datetime
) -> None:
    """Remember what the map says. A date that differs from the last one we saw is a change, seen at `read_at`.

    A map that was read while the source was attached elsewhere does not count as the map of what it is now.
    """
    await connection.execute(
        "CREATE TEMP TABLE mapped (url text, title text, description text, listed_in text, last_modified timestamptz)"
        " ON COMMIT DROP"
    )
    async with connection.cursor() as cursor, cursor.copy("COPY mapped FROM STDIN") as copy:
        for entry in entries:
            await copy.write_row((entry.url, entry.title, entry.description, entry.listed_in, entry.last_modified))
    await connection.execute(
        "INSERT INTO site_map_pages AS old (source_id, url, title, description, listed_in, last_modified, first_seen,"
        " last_seen) SELECT %(source)s, url, title, description, listed_in, last_modified, %(now)s, %(now)s"
        " FROM mapped WHERE NOT is_forgotten(url) ORDER BY url"
        " ON CONFLICT (source_id, url) DO UPDATE SET title = EXCLUDED.title, description = EXCLUDED.description,"
        " listed_in = EXCLUDED.listed_in, last_seen = EXCLUDED.last_seen, last_modified = EXCLUDED.last_modified,"
        " moved_at = CASE WHEN old.last_modified <> EXCLUDED.last_modified THEN %(now)s ELSE old.moved_at END",
        {"source": source.id, "now": read_at},
    )
    await connection.execute(
        "DELETE FROM site_map_pages WHERE source_id = %s AND listed_in <> 'feed' AND last_seen < %s",
        (source.id, read_at),
    )
    await connection.execute(
        "UPDATE sources SET map_read_at = %s, map_entries = %s WHERE id = %s"
        " AND (seed_url, path_prefix) IS NOT DISTINCT FROM (%s, %s)",
        (read_at, len(entries), source.id, source.seed_url, source.path_prefix),
    )


async def known_pages(connection: AsyncConnection, source: Source) -> list[KnownPage]:
    """Pages of the source that are kept fresh: all documents but those that are gone or moved.

    A text that another extractor made has no date of its next check: it is due.
    """
    cursor = await connection.execute(
        "SELECT d.canonical_url, CASE WHEN v.extractor = %s OR v.id IS NULL THEN d.next_check END, d.last_checked,"
        " m.listed_in, m.last_modified, m.moved_at FROM documents d"
        " LEFT JOIN document_versions v ON v.id = d.current_version"
        " LEFT JOIN LATERAL (SELECT * FROM site_map_pages p WHERE p.source_id = d.source_id AND p.url"
        "  IN (SELECT d.canonical_url UNION ALL SELECT a.url FROM url_aliases a WHERE a.document_id = d.id)"
        "  ORDER BY p.last_modified DESC NULLS LAST, p.url LIMIT 1) m ON true"
        " WHERE d.source_id = %s AND d.status <> 'gone' ORDER BY d.canonical_url",
        (EXTRACTOR_VERSION, source.id),
    )
    return [
        KnownPage(url, next_check, checked, listed if listed in _DATED and modified else None, modified, moved)
        for url, next_check, checked, listed, modified, moved in await cursor.fetchall()
    ]


async def unknown_urls(connection: AsyncConnection, source: Source) -> list[str]:
    """URLs on the source's host, below its prefix, that its map or its pages name and that nobody asked for yet."""
    cursor = await connection.execute(
        "SELECT u.url, bool_or(u.mapped) AS mapped, min(u.ordinal) FROM ("
        "  SELECT url, true AS mapped, 0 AS ordinal FROM site_map_pages WHERE source_id = %(source)s"
        "  UNION ALL SELECT l.target_url, false, l.ordinal FROM documents d"
        "  JOIN link_candidates l ON l.version_id = d.current_version WHERE d.source_id = %(source)s AND NOT l.nofollow"
        " ) u WHERE starts_with(u.url, %(prefix)s) AND (%(follow)s = 'links' OR u.mapped AND %(follow)s = 'map')"
        " AND NOT EXISTS (SELECT FROM documents o WHERE o.canonical_url = u.url)"
        " AND NOT EXISTS (SELECT FROM url_aliases a WHERE a.url = u.url) AND NOT is_forgotten(u.url)"
        " GROUP BY u.url ORDER BY 2 DESC, 3, 1",
        {"source": source.id, "prefix": source.section, "follow": source.follow},
    )
    return [str(row[0]) for row in await cursor.fetchall()]


async def signal_records(connection: AsyncConnection, source: Source) -> dict[str, SignalRecord]:
    """What each signal of the source was worth so far."""
    cursor = await connection.execute(
        "SELECT signal, flagged_changed, flagged_same, silent_changed, silent_same FROM change_signals"
        " WHERE source_id = %s",
        (source.id,),
    )
    return {signal: SignalRecord(*counts) for signal, *counts in await cursor.fetchall()}


async def signal_record(connection: AsyncConnection, source_id: int, signal: str) -> SignalRecord:
    """What one signal of the source was worth so far; all zeros when it was never seen."""
    cursor = await connection.execute(
        "SELECT flagged_changed, flagged_same, silent_changed, silent_same FROM change_signals"
        " WHERE source_id = %s AND signal = %s",
        (source_id, signal),
    )
    row = await cursor.fetchone()
    return SignalRecord(*row) if row is not None else SignalRecord()


async def record_signals(
    connection: AsyncConnection, source_id: int, found: Mapping[tuple[str, bool, bool], int]
) -> None:
    """Add counts of checked pages by (signal, it was flagged, it had changed)."""
    for (signal, flagged, changed), count in sorted(found.items()):
        column = sql.Identifier(f"{'flagged' if flagged else 'silent'}_{'changed' if changed else 'same'}")
        await connection.execute(
            sql.SQL(
                "INSERT INTO change_signals AS s (source_id, signal, {0}) VALUES (%s, %s, %s)"
                " ON CONFLICT (source_id, signal) DO UPDATE SET {0} = s.{0} + EXCLUDED.{0}"
            ).format(column),
            (source_id, signal, count),
        )


async def record_refresh(
    connection: AsyncConnection,
    source: Source,
    run_id: str,
    started: datetime,
    counts: RefreshCounts,
    warnings: Sequence[str],
    shard: int = WHOLE,
) -> None:
    """Write the balance of one refresh, of one shard or of the whole source."""
    await connection.execute(
        "INSERT INTO refresh_runs (source_id, run_id, shard, started_at, discovered, fetched, unchanged, failed,"
        " skipped, not_due, warnings) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        (
            source.id,
            run_id,
            shard,
            started,
            counts.discovered,
            counts.fetched,
            counts.unchanged,
            counts.failed,
            counts.skipped,
            counts.not_due,
            json.dumps(list(warnings)),
        ),
    )
