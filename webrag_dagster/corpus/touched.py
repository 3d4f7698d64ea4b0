"""Report corpus content written outside the corpus assets as events of those assets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager

import dagster as dg

from webrag_core.acquisition.urls import canonicalise
from webrag_core.application.services import Services
from webrag_core.config.embedding import EmbeddingSettings
from webrag_core.corpus.sources import keys_of, sources_of_urls
from webrag_core.indexing.embedding_models import live_identity
from webrag_core.indexing.pipeline import AddedDocument, Corpus
from webrag_core.providers.embedder import identity_of
from webrag_core.store.database import Database
from webrag_dagster.corpus import layers
from webrag_dagster.corpus.layer_metadata import layer_metadata, rows_of, table_metadata
from webrag_dagster.corpus.state import Layer, Page, source_pages
from webrag_dagster.metadata import Metadata, page_path, short_title, table
from webrag_dagster.resources import CorpusResource

_VERSION = "dagster/data_version"
_NEVER_OBSERVED = "INITIAL"
"""Dagster's data version of an asset without any event."""


class WatchedCorpus(Corpus):
    """A corpus that records requested URLs, also when the run is cancelled."""

    def __init__(self, corpus: Corpus) -> None:
        super().__init__(corpus.database, corpus.acquirer, corpus.settings, corpus.embedder)
        self.urls: set[str] = set()

    async def add(
        self, url: str, *, run_id: str | None = None, refresh: bool = False, max_age: float | None = None
    ) -> AddedDocument:
        """As Corpus.add. Record the requested and the final URL."""
        self.urls.add(canonicalise(url))
        added = await super().add(url, run_id=run_id, refresh=refresh, max_age=max_age)
        self.urls.add(added.url)
        return added


@asynccontextmanager
async def reporting_services(context: dg.OpExecutionContext, resource: CorpusResource) -> AsyncIterator[Services]:
    """What operations work with, over an open corpus. Whatever they change of it, also when they are cancelled, becomes
    events of the corpus assets. Raises StoreError, InvalidInputError."""
    async with resource.open() as opened:
        corpus = WatchedCorpus(opened)
        try:
            yield Services.over(corpus)
        finally:
            await _log_touched(context, corpus)


async def _log_touched(context: dg.OpExecutionContext, corpus: WatchedCorpus) -> None:
    """Log every layer of the touched sources with content unknown to Dagster."""
    await corpus.model_id()
    async with corpus.database.connection() as connection:
        keys = keys_of(await sources_of_urls(connection, sorted(corpus.urls)))
    events = await unreported_materializations(
        context.instance, corpus.database, corpus.settings, keys, "Changed by an answer run."
    )
    for event in events:
        context.log_event(event)


async def unreported_materializations(
    instance: dg.DagsterInstance,
    database: Database,
    settings: EmbeddingSettings,
    keys: Sequence[str],
    description: str,
    only: Sequence[str] = tuple(layers.UPSTREAM),
) -> list[dg.AssetMaterialization]:
    """A materialization for every layer (of `only`) of these partitions with content unknown to Dagster.

    Registers partitions that hold pages. Sources without pages get none, since a mistyped host would stay listed for
    ever. Vectors are left out while the live model differs from the configured one.
    """
    async with database.connection() as connection:
        live = await live_identity(connection)
    names = [name for name in layers.UPSTREAM if name != layers.EMBEDDINGS or live == identity_of(settings)]
    touched: list[tuple[str, list[Page], dict[str, Layer]]] = []
    for key in keys:
        async with database.snapshot() as connection:
            pages = await source_pages(connection, key)
            if any(page.version_id is not None for page in pages):
                touched.append((key, pages, {name: await layers.state(connection, pages, name) for name in names}))
    touched_keys = [key for key, _, _ in touched]
    layers.register_partitions(instance, touched_keys)
    reported = [name for name in names if name in only]
    last_versions = {name: _last_versions(instance, name, touched_keys) for name in reported}
    changed = [
        (name, key, pages, state)
        for key, pages, state in touched
        for name in reported
        if last_versions[name].get(key) != state[name].digest
    ]
    async with database.connection() as connection:
        tables = {
            (name, key): await table_metadata(connection, name, rows_of(name, pages, state[name]))
            for name, key, pages, state in changed
        }
    observed_versions = _last_versions(instance, layers.WEB_PAGES, touched_keys, dg.DagsterEventType.ASSET_OBSERVATION)
    return [
        _materialization(name, key, pages, state, observed_versions.get(key), description, tables[name, key])
        for name, key, pages, state in changed
    ]


def _materialization(
    name: str,
    key: str,
    pages: list[Page],
    state: dict[str, Layer],
    observed_version: str | None,
    description: str,
    table_rows: Metadata,
) -> dg.AssetMaterialization:
    """Build the event with the tags that Dagster itself sets, so that staleness is computed as usual."""
    tags = {_VERSION: state[name].digest, "dagster/code_version": layers.code_version(name)}
    tags["dagster/data_version_is_user_provided"] = "true"
    upstream = layers.UPSTREAM[name]
    version = (observed_version or _NEVER_OBSERVED) if upstream == layers.WEB_PAGES else state[upstream].digest
    tags[f"dagster/input_data_version/{upstream}"] = version
    tags[f"dagster/input_event_pointer/{upstream}"] = "NULL"
    metadata = layer_metadata(state[name])
    if name == layers.DOCUMENTS:
        metadata["page_list"] = table(
            {
                "page": page_path(page.url),
                "status": page.status,
                "reason": page.reason,
                "title": short_title(page.title),
            }
            for page in pages
        )
    metadata |= table_rows
    return dg.AssetMaterialization(asset_key=name, partition=key, description=description, metadata=metadata, tags=tags)


def _last_versions(
    instance: dg.DagsterInstance,
    name: str,
    keys: Iterable[str],
    event: dg.DagsterEventType = dg.DagsterEventType.ASSET_MATERIALIZATION,
) -> dict[str, str]:
    """Data version of the latest event per partition, in one query."""
    partition_keys = list(keys)
    if not partition_keys:
        return {}
    tags_by_key = instance.event_log_storage.get_latest_tags_by_partition(
        dg.AssetKey(name), event, [_VERSION], asset_partitions=partition_keys
    )
    return {key: tags[_VERSION] for key, tags in tags_by_key.items() if _VERSION in tags}
