"""Partitions: one key per source (a site), or per shard of a large one; never one per page."""

from __future__ import annotations

from collections.abc import Iterable

import dagster as dg

SOURCES = dg.DynamicPartitionsDefinition(name="source")
"""Keys are `webrag_core.corpus.sources.shard_keys`: host[:port], and the path of a section."""


def register(instance: dg.DagsterInstance, keys: Iterable[str]) -> None:
    """Make `keys` known. An event of a key that is not known is kept, but shows nowhere."""
    new_keys = sorted(set(keys))
    if new_keys:
        instance.add_dynamic_partitions("source", new_keys)
