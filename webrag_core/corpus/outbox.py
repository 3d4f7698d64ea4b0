"""Reading `corpus_log`: which sources changed since the last look, without losing a line of a slow writer."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta

from psycopg import AsyncConnection

from webrag_core.corpus.sources import key_of

PATIENCE = timedelta(minutes=10)
"""Whoever is at work on a page has finished by then."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far a follower has read. `corpus` names the database: in another one the follower begins again."""

    corpus: str
    horizon: int
    """Transactions below it had ended when it was read, so that none of them can add a line any more."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Sources with lines since a place, as (key, shards), and the place to go on from."""

    sources: tuple[tuple[str, int], ...]
    place: Place


async def read_changes(connection: AsyncConnection, since: Place | None) -> Changes:
    """Sources with lines written since `since`; None or another corpus: all that hold documents. Call in a snapshot.

    Lines of transactions that run beside an unfinished older one wait for the next look: they are late, never lost.
    """
    cursor = await connection.execute(
        "SELECT (SELECT system_identifier FROM pg_control_system())::text || '/' ||"
        " (SELECT oid FROM pg_database WHERE datname = current_database())::text,"
        " pg_snapshot_xmin(pg_current_snapshot())::text"
    )
    row = await cursor.fetchone()
    assert row is not None
    here = Place(str(row[0]), int(row[1]))
    if since is None or since.corpus != here.corpus:  # old lines may be pruned: the state tells it all
        cursor = await connection.execute(
            "SELECT s.key, s.shards FROM sources s WHERE EXISTS (SELECT FROM documents d WHERE d.source_id = s.id)"
            " ORDER BY s.key"
        )
    else:
        cursor = await connection.execute(
            "SELECT DISTINCT s.key, s.shards FROM corpus_log l JOIN sources s ON s.id = l.source_id"
            " WHERE l.written_by >= %s::text::xid8 AND l.written_by < %s::text::xid8 ORDER BY s.key",
            (str(since.horizon), str(here.horizon)),
        )
    return Changes(tuple((str(key), int(shards)) for key, shards in await cursor.fetchall()), here)


async def acknowledge(connection: AsyncConnection, reader: str, place: Place) -> None:
    """Remember that `reader` has read up to `place` and will go on from there: older lines may be pruned."""
    await connection.execute(
        "INSERT INTO outbox_readers (name, horizon) VALUES (%s, %s::text::xid8)"
        " ON CONFLICT (name) DO UPDATE SET horizon = EXCLUDED.horizon, read_at = now()",
        (reader, str(place.horizon)),
    )


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A partition with pages that were read some time ago and are not searchable yet; `digest` names them."""

    key: str
    digest: str


async def unfinished_sources(connection: AsyncConnection) -> list[Unfinished]:
    """Partitions in which somebody stopped half-way: the newest text of a page waits for more than `PATIENCE`."""
    cursor = await connection.execute(
        "SELECT s.key, s.shards, d.canonical_url, v.id FROM documents d JOIN sources s ON s.id = d.source_id"
        " JOIN document_versions v ON v.id = d.newest_version"
        " WHERE d.waiting AND d.status <> 'gone' AND v.fetched_at < now() - %s"
        " AND NOT EXISTS (SELECT FROM url_aliases a WHERE a.url = d.canonical_url) ORDER BY s.key, d.canonical_url",
        (PATIENCE,),
    )
    waiting: dict[str, list[str]] = {}
    for key, shards, url, version in await cursor.fetchall():
        waiting.setdefault(key_of(str(key), int(shards), str(url)), []).append(str(version))
    return [
        Unfinished(key, hashlib.sha256(" ".join(versions).encode()).hexdigest()[:16])
        for key, versions in waiting.items()
    ]
