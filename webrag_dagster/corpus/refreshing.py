"""The work of the corpus assets: one source (or one shard of it), one stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import dagster as dg

from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.corpus.documents import confirmed_missing
from webrag_core.corpus.ingestor import Ingestor, IngestOutcome, make_acquirer
from webrag_core.corpus.refresh import RefreshReport, SourceRefresh
from webrag_core.corpus.sources import Source, ensure_source, split_key
from webrag_core.indexing.pipeline import Corpus
from webrag_dagster.corpus import layers
from webrag_dagster.corpus.state import Layer, Page, source_pages

_ORDER = ("failed", "changed", "new", "unchanged", "not due")
_SITE_IS_DOWN = 0.5
"""A site is down, and not some of its pages, when at least this share of what is known failed and nothing came."""


@dataclass(frozen=True, slots=True)
class PageChange:
    """What a refresh found out about one page."""

    url: str
    change: str
    reason: str | None
    title: str | None
    characters: int | None


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh did: pages by what became of them (failed ones first), and the balance."""

    changes: list[PageChange]
    report: RefreshReport

    @property
    def failure(self) -> dg.Failure | None:
        """Set when the source gave nothing at all, or is attached and holds no page. Dagster asks again only where that
        can help: a site that is overloaded or cannot be reached is asked again, one that says that its page is not
        there is not."""
        if self.report.empty is not None:
            return self._gave_nothing(self.report.empty)
        asked = self.report.counts.fetched + self.report.counts.unchanged
        failed = self.report.failed
        holds = [change for change in self.changes if change.characters is not None]
        down = len(failed) >= _SITE_IS_DOWN * max(1, len(holds))
        if asked or not failed or not down:
            return None
        if holds and not self.report.transient:
            return None  # pages that are gone are told by their reasons; the rest of the source is as good as it was
        return self._gave_nothing(failed)

    def _gave_nothing(self, failed: Mapping[str, str]) -> dg.Failure:
        transient = not self.report.transient.isdisjoint(failed)
        reasons = Counter(failed.values())
        shown = ", ".join(f"{count} × {reason}" for reason, count in reasons.most_common())
        return dg.Failure(
            description=f"{self.report.source} gave no page: {shown}",
            metadata={
                "reasons": shown,
                "permanent": not transient,
                "asked again": "by the next refresh" if not transient else "now, a few times; then by the next refresh",
                "first pages": dg.MetadataValue.json(dict(list(failed.items())[:20])),
            },
            allow_retries=transient,
        )


async def layer_of(corpus: Corpus, key: str, name: str) -> tuple[list[Page], Layer]:
    """Pages of a source and one of its layers, from one state of the database."""
    if name == layers.EMBEDDINGS:
        await corpus.indexer.model_id()
    async with corpus.database.snapshot() as connection:
        pages = await source_pages(connection, key)
        return pages, await layers.state(connection, pages, name)


async def refresh_source(corpus: Corpus, key: str, run_id: str, *, due_only: bool = False) -> Refreshed:
    """Ask the site for every page that is known of it, or only for those that are due or seem changed.

    A page that fails is a line of the result, not an error. Nothing is indexed here: that is for the assets below.
    Raises StoreError, InvalidInputError.
    """
    name, shard = split_key(key)
    async with corpus.database.connection() as connection:
        before = {page.url: page for page in await source_pages(connection, key)}
        source = await ensure_source(connection, name)
    async with _acquirer_for(corpus, source) as acquirer:
        ingestor = Ingestor(corpus.database, acquirer, corpus.settings)

        async def take(url: str, run_id: str) -> IngestOutcome:
            return await ingestor.ingest(url, run_id=run_id, refresh=True)

        refresh = SourceRefresh(corpus.database, acquirer, corpus.settings, take)
        report = await refresh.run(name, run_id=run_id, due_only=due_only, shard=shard)
    async with corpus.database.connection() as connection:
        after = {page.url: page for page in await source_pages(connection, key)}
    asked = await _asked(corpus, run_id)
    failed = report.failed
    changes = [_change(page, before.get(url), failed.get(url), url in asked) for url, page in after.items()]
    missing = failed.keys() - after.keys()
    changes += [PageChange(url, "failed", failed[url], None, None) for url in sorted(missing)]
    changes.sort(key=lambda change: (_ORDER.index(change.change), change.url))
    return Refreshed(changes, report)


@asynccontextmanager
async def _acquirer_for(corpus: Corpus, source: Source) -> AsyncIterator[Acquirer]:
    """The corpus' acquirer, or the one that the source itself asks for."""
    if source.acquirer is None:
        yield corpus.ingestor.acquirer
        return
    own = make_acquirer(corpus.settings, source.acquirer, database=corpus.database)
    try:
        yield own
    finally:
        await own.aclose()


async def _asked(corpus: Corpus, run_id: str) -> set[str]:
    """URLs that answered in a refresh, under the name they were asked by and under their own."""
    async with corpus.database.connection() as connection:
        cursor = await connection.execute("SELECT url, final_url FROM fetch_log WHERE run_id = %s", (run_id,))
        return {url for row in await cursor.fetchall() for url in row if url is not None}


async def retire_missing(corpus: Corpus, key: str) -> int:
    """Take pages out of the index that their site has confirmed to be gone; returns how many."""
    async with corpus.database.connection() as connection:
        name, shard = split_key(key)
        missing = [url for url in await confirmed_missing(connection, name) if shard.holds(url)]
    return sum([await corpus.indexer.retire(url) for url in missing])


def _change(page: Page, before: Page | None, failure: str | None, asked: bool) -> PageChange:
    reason = page.reason
    if failure is not None:
        change, reason = "failed", failure
    elif before is None or before.version_id is None:
        change = "failed" if page.version_id is None else "new"
    elif before.sha256 != page.sha256:
        change = "changed"
    else:
        change = "unchanged" if asked else "not due"
    return PageChange(page.url, change, reason, page.title, page.characters)
