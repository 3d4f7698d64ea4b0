"""The work of the corpus assets: one source, one stage."""

from __future__ import annotations

from dataclasses import dataclass

from webrag_core.indexing.corpus import Corpus
from webrag_core.ingestion.documents import confirmed_missing
from webrag_core.ingestion.refresh import SourceRefresh
from webrag_core.ingestion.service import IngestOutcome
from webrag_core.ingestion.sources import attach_source, list_sources
from webrag_dagster import layers
from webrag_dagster.corpus_state import Layer, Page, source_pages


@dataclass(frozen=True, slots=True)
class PageChange:
    """What a refresh found out about one page."""

    url: str
    change: str
    reason: str | None
    title: str | None
    characters: int | None


async def layer_of(corpus: Corpus, key: str, name: str) -> tuple[list[Page], Layer]:
    """Pages of a source and one of its layers, from one state of the database."""
    await corpus.indexer.model_id()
    async with corpus.database.snapshot() as connection:
        pages = await source_pages(connection, key)
        return pages, await layers.state(connection, pages, name)


async def refresh_source(corpus: Corpus, key: str, run_id: str) -> list[PageChange]:
    """Ask the site for every page that is known of it. A page that fails is a line of the result, not an error.

    Nothing is indexed here: that is for the assets below. Raises StoreError.
    """
    async with corpus.database.connection() as connection:
        before = {page.url: page for page in await source_pages(connection, key)}
        if key not in {source.key for source in await list_sources(connection)}:
            await attach_source(connection, f"https://{key}/", None)

    async def take(url: str, run_id: str) -> IngestOutcome:
        return await corpus.ingestor.ingest(url, run_id=run_id, refresh=True)

    refresh = SourceRefresh(corpus.database, corpus.ingestor.acquirer, corpus.settings, take)
    failed = (await refresh.run(key, run_id=run_id)).failed
    async with corpus.database.connection() as connection:
        after = {page.url: page for page in await source_pages(connection, key)}
    changes = [_change(page, before.get(url), failed.get(url)) for url, page in after.items()]
    missing = failed.keys() - after.keys()
    changes += [PageChange(url, "failed", failed[url], None, None) for url in sorted(missing)]
    order = ("failed", "changed", "new", "unchanged")
    return sorted(changes, key=lambda change: (order.index(change.change), change.url))


async def retire_missing(corpus: Corpus, key: str) -> int:
    """Take pages out of the index that their site has confirmed to be gone; returns how many."""
    async with corpus.database.connection() as connection:
        missing = await confirmed_missing(connection, key)
    return sum([await corpus.indexer.retire(url) for url in missing])


def _change(page: Page, before: Page | None, failure: str | None) -> PageChange:
    reason = page.reason
    if failure is not None:
        change, reason = "failed", failure
    elif before is None or before.version_id is None:
        change = "failed" if page.version_id is None else "new"
    else:
        change = "unchanged" if before.sha256 == page.sha256 else "changed"
    return PageChange(page.url, change, reason, page.title, page.characters)
