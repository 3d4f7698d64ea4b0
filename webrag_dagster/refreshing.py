"""The work of the corpus assets: one source, one stage."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from webrag_core.errors import FetchError
from webrag_core.indexing.corpus import Corpus
from webrag_dagster import layers
from webrag_dagster.corpus_state import Layer, Page, source_pages

_CONCURRENT_PAGES = 4


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

    A source without any page begins with its front page. Raises StoreError.
    """
    async with corpus.database.connection() as connection:
        before = {page.url: page for page in await source_pages(connection, key)}
    urls = [url for url, page in before.items() if page.status not in ("gone", "skipped")]
    failed: dict[str, FetchError] = {}
    gate = asyncio.Semaphore(_CONCURRENT_PAGES)

    async def refresh(url: str) -> None:
        async with gate:
            try:
                await corpus.ingestor.ingest(url, run_id=run_id, refresh=True)
            except FetchError as error:
                failed[url] = error

    async with asyncio.TaskGroup() as group:
        for url in urls or [f"https://{key}/"]:
            group.create_task(refresh(url))
    async with corpus.database.connection() as connection:
        after = {page.url: page for page in await source_pages(connection, key)}
    changes = [_change(page, before.get(url), failed.get(url)) for url, page in after.items()]
    missing = failed.keys() - after.keys()
    changes += [PageChange(url, "failed", failed[url].reason.value, None, None) for url in sorted(missing)]
    order = ("failed", "changed", "new", "unchanged")
    return sorted(changes, key=lambda change: (order.index(change.change), change.url))


def _change(page: Page, before: Page | None, error: FetchError | None) -> PageChange:
    reason = page.reason
    if error is not None:
        change, reason = "failed", error.reason.value
    elif before is None or before.version_id is None:
        change = "failed" if page.version_id is None else "new"
    else:
        change = "unchanged" if before.sha256 == page.sha256 else "changed"
    return PageChange(page.url, change, reason, page.title, page.characters)
