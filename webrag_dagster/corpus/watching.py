"""Check the change signals of sites; report them as observations of asset `web_pages`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import dagster as dg

from webrag_core.config import Settings
from webrag_core.corpus.acquirers import make_acquirer
from webrag_core.corpus.refresh_store import unwatched_sources
from webrag_core.corpus.sources import Shard, Source, list_sources, shard_keys
from webrag_core.corpus.watch import Flag, WatchResult, flags_version, frozen_snapshot, watch_source
from webrag_core.store.database import Database
from webrag_dagster.corpus.layers import WEB_PAGES
from webrag_dagster.metadata import table

AT_ONCE = 4
"""Sites checked concurrently."""


@dataclass(frozen=True, slots=True)
class WatchReport:
    """Result of a change check: sources checked, flagged pages per partition, warnings."""

    checked: int
    flagged: dict[str, tuple[Flag, ...]]
    warnings: tuple[str, ...]


async def watch(
    settings: Settings, keys: Sequence[str] | None, *, begin: float, seconds: float, limit: int = 200
) -> WatchReport:
    """Check these sources, or (None) the due ones. No check starts after `begin` seconds; all end after `seconds`.
    Sources not reached come first next time. Raises StoreError."""
    started = time.monotonic()
    token = frozen_snapshot(settings)
    async with await Database.open(settings) as database:
        async with database.connection() as connection:
            turn = await unwatched_sources(connection, frozen=token, limit=limit) if keys is None else list(keys)
            known = {source.key: source for source in await list_sources(connection)} if turn else {}
        sources = [known[key] for key in turn if key in known]
        if not sources:
            return WatchReport(0, {}, ())
        return await _watch(database, settings, sources, started + begin, started + seconds)


async def _watch(
    database: Database, settings: Settings, sources: Sequence[Source], last_begin: float, until: float
) -> WatchReport:
    queue = list(reversed(sources))
    done: list[tuple[Source, WatchResult]] = []
    late: list[str] = []
    acquirer = make_acquirer(settings, "http", database=database)  # plain HTTP: a check must not use paid credits

    async def work() -> None:
        while queue and time.monotonic() < last_begin:
            source = queue.pop()
            try:
                async with asyncio.timeout(max(1.0, until - time.monotonic())):
                    done.append((source, await watch_source(database, acquirer, settings, source)))
            except TimeoutError:
                late.append(f"{source.key} did not answer in time")

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(AT_ONCE, len(queue))):
                group.create_task(work())
    finally:
        await acquirer.aclose()
    flagged: dict[str, tuple[Flag, ...]] = {}
    for source, watched in done:
        for index, key in enumerate(shard_keys(source.key, source.shards)):
            shard = Shard(index, source.shards)
            flags = tuple(flag for flag in watched.flags if shard.holds(flag.url))
            if flags:
                flagged[key] = flags
    return WatchReport(len(done), flagged, (*(w for _, watched in done for w in watched.warnings), *late))


def observations(instance: dg.DagsterInstance, flagged: dict[str, tuple[Flag, ...]]) -> list[dg.AssetObservation]:
    """One observation per partition whose flags differ from the last observation."""
    now = datetime.now(UTC)
    versions = {key: flags_version(flags, now) for key, flags in flagged.items()}
    last = last_observed(instance, versions)
    return [
        dg.AssetObservation(
            asset_key=WEB_PAGES,
            partition=key,
            description=f"{len(flags)} pages flagged as changed.",
            metadata={
                "pages_flagged": dg.MetadataValue.int(len(flags)),
                "flagged": table({"page": f.url, "signal": f.signal, "says": f.value} for f in flags),
            },
            tags={"dagster/data_version": versions[key]},
        )
        for key, flags in sorted(flagged.items())
        if last.get(key) != versions[key]
    ]


def last_observed(instance: dg.DagsterInstance, keys: Iterable[str]) -> dict[str, str]:
    """Last observed data version per partition. Partitions without an observation are absent."""
    partitions = list(keys)
    if not partitions:
        return {}
    tag = "dagster/data_version"
    tags_by_key = instance.event_log_storage.get_latest_tags_by_partition(
        dg.AssetKey(WEB_PAGES), dg.DagsterEventType.ASSET_OBSERVATION, [tag], asset_partitions=partitions
    )
    return {key: tags[tag] for key, tags in tags_by_key.items() if tag in tags}
