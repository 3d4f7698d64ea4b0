"""What an answer run did to the corpus, as events of the corpus assets."""

from __future__ import annotations

import dagster as dg

from webrag_core.indexing.corpus import AddedDocument, Corpus
from webrag_core.ingestion.urls import source_key
from webrag_dagster import layers, partitions
from webrag_dagster.corpus_state import Layer, Page, source_pages
from webrag_dagster.metadata import layer_metadata, table


class WatchedCorpus(Corpus):
    """A corpus that remembers the sources it was asked for, also when the run is cancelled half-way."""

    def __init__(self, corpus: Corpus) -> None:
        super().__init__(corpus.database, corpus.ingestor.acquirer, corpus.settings, corpus.indexer.embedder)
        self.sources: set[str] = set()

    async def add(self, url: str, *, run_id: str | None = None, refresh: bool = False) -> AddedDocument:
        """As Corpus.add. A redirect to another site touches both."""
        self.sources.add(source_key(url))
        added = await super().add(url, run_id=run_id, refresh=refresh)
        self.sources.add(source_key(added.url))
        return added


async def log_touched(context: dg.OpExecutionContext, corpus: WatchedCorpus) -> list[str]:
    """Log every layer of the touched sources whose content is not what Dagster last heard of. Returns the sources.

    A source that never gave a page gets no partition: a mistyped host would stay in every list for ever.
    """
    await corpus.indexer.model_id()
    found: list[tuple[str, list[Page], dict[str, Layer]]] = []
    for key in sorted(corpus.sources):
        async with corpus.database.snapshot() as connection:
            pages = await source_pages(connection, key)
            if any(page.version_id is not None for page in pages):
                state = {name: await layers.state(connection, pages, name) for name in layers.UPSTREAM}
                found.append((key, pages, state))
    partitions.register(context.instance, (key for key, _, _ in found))
    for key, pages, state in found:
        for name, layer in state.items():
            if _last_version(context.instance, name, key) != layer.digest:
                context.log_event(_materialization(name, key, pages, state))
    return [key for key, _, _ in found]


def _materialization(name: str, key: str, pages: list[Page], state: dict[str, Layer]) -> dg.AssetMaterialization:
    """With the tags that Dagster itself would set, so that it sees neither more nor less as out of date."""
    tags = {"dagster/data_version": state[name].digest, "dagster/code_version": layers.code_version(name)}
    tags["dagster/data_version_is_user_provided"] = "true"
    upstream = layers.UPSTREAM[name]
    if upstream is not None:
        tags[f"dagster/input_data_version/{upstream}"] = state[upstream].digest
        tags[f"dagster/input_event_pointer/{upstream}"] = "NULL"
    metadata = layer_metadata(state[name])
    if name == layers.DOCUMENTS:
        metadata["page_list"] = table(
            {"page": page.url, "status": page.status, "reason": page.reason, "title": page.title} for page in pages
        )
    return dg.AssetMaterialization(
        asset_key=name,
        partition=key,
        description="Changed by an answer run.",
        metadata=metadata,
        tags=tags,
    )


def _last_version(instance: dg.DagsterInstance, name: str, key: str) -> str | None:
    records = instance.fetch_materializations(
        dg.AssetRecordsFilter(asset_key=dg.AssetKey(name), asset_partitions=[key]), limit=1
    ).records
    materialization = records[0].asset_materialization if records else None
    return (materialization.tags or {}).get("dagster/data_version") if materialization else None
