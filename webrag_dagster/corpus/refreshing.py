"""Work of the corpus assets: one stage of one source, or of one shard; and what changed on its pages, to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import dagster as dg
from psycopg import AsyncConnection

from webrag_core.corpus.acquirers import acquirer_of
from webrag_core.corpus.brake import Brake
from webrag_core.corpus.documents import confirmed_missing
from webrag_core.corpus.ingestor import Ingestor, IngestOutcome
from webrag_core.corpus.refresh import RefreshReport, SourceRefresh
from webrag_core.corpus.sources import ensure_source, split_key
from webrag_core.drawing.figure import Figure
from webrag_core.indexing.pipeline import Corpus
from webrag_dagster.corpus import layers
from webrag_dagster.corpus.state import Layer, Page, source_pages
from webrag_dagster.markdown import block, code, link

_ORDER = ("failed", "changed", "new", "unchanged", "not due")
_PAGES, _LINES = 20, 40
"""Limits of what is shown of a refresh: pages, and lines of a page's changes."""


@dataclass(frozen=True, slots=True)
class PageChange:
    """Result of a refresh for one page."""

    url: str
    change: str
    reason: str | None
    title: str | None
    characters: int | None


@dataclass(frozen=True, slots=True)
class Refreshed:
    """Result of a refresh: changes per page (failed pages first) and the report."""

    changes: list[PageChange]
    report: RefreshReport

    @property
    def failure(self) -> dg.Failure | None:
        """Failure of the whole source: none of the pages that were asked answered, whatever the reason, or an attached
        source holds no page. Retries are allowed only where one of the errors is transient (overload, network)."""
        if self.report.empty is not None:
            return self._no_page(self.report.empty)
        return self._no_page(self.report.failed) if self.report.silent else None

    def _no_page(self, failed: Mapping[str, str]) -> dg.Failure:
        transient = not self.report.transient.isdisjoint(failed)
        reasons = Counter(failed.values())
        shown = ", ".join(f"{count} × {reason}" for reason, count in reasons.most_common())
        held = self.report.held.keys() >= failed.keys()
        what = "no new text of {} was taken" if held else "no page of {} could be fetched"
        return dg.Failure(
            description=f"{what.format(self.report.source)}: {shown}",
            metadata={
                "reasons": shown,
                "permanent": not transient,
                "next attempt": "next refresh" if not transient else "now, a few times; then the next refresh",
                "first pages": dg.MetadataValue.json(dict(list(failed.items())[:20])),
            },
            allow_retries=transient,
        )


async def layer_of(corpus: Corpus, key: str, name: str) -> tuple[list[Page], Layer]:
    """Pages of a source and one of its layers, from one state of the database."""
    if name == layers.EMBEDDINGS:
        await corpus.model_id()
    async with corpus.database.snapshot() as connection:
        pages = await source_pages(connection, key)
        return pages, await layers.state(connection, pages, name)


async def refresh_source(
    corpus: Corpus,
    key: str,
    run_id: str,
    *,
    due_only: bool = False,
    accept: bool = False,
    earlier: Sequence[str] = (),
) -> Refreshed:
    """Request every known page of the source, or only due and flagged pages.

    A page that fails is a line of the result, not an error. `accept` takes new texts that would be held back. `earlier`
    are the ids of attempts that this one repeats. Nothing is indexed here: that is for the assets below.
    Raises StoreError, InvalidInputError.
    """
    name, shard = split_key(key)
    async with corpus.database.connection() as connection:
        before = {page.url: page for page in await source_pages(connection, key)}
        source = await ensure_source(connection, name)
    async with acquirer_of(source, corpus.acquirer, corpus.settings, corpus.database) as acquirer:
        ingestor = Ingestor(corpus.database, acquirer, corpus.settings)

        async def take(url: str, run_id: str, brake: Brake) -> IngestOutcome:
            return await ingestor.ingest(url, run_id=run_id, refresh=True, brake=brake)

        refresh = SourceRefresh(corpus.database, acquirer, corpus.settings, take)
        report = await refresh.run(name, run_id=run_id, due_only=due_only, shard=shard, accept=accept, earlier=earlier)
    async with corpus.database.connection() as connection:
        after = {page.url: page for page in await source_pages(connection, key)}
    requested = await _requested_urls(corpus, [*earlier, run_id])
    failed = report.failed
    changes = [_change(page, before.get(url), failed.get(url), url in requested) for url, page in after.items()]
    missing = failed.keys() - after.keys()
    changes += [PageChange(url, "failed", failed[url], None, None) for url in sorted(missing)]
    changes.sort(key=lambda change: (_ORDER.index(change.change), change.url))
    return Refreshed(changes, report)


async def _requested_urls(corpus: Corpus, run_ids: Sequence[str]) -> set[str]:
    """Requested and final URLs of the attempts of a refresh."""
    async with corpus.database.connection() as connection:
        cursor = await connection.execute(
            "SELECT url, final_url FROM fetch_log WHERE run_id = ANY(%s)", (list(run_ids),)
        )
        return {url for row in await cursor.fetchall() for url in row if url is not None}


async def retire_missing(corpus: Corpus, key: str) -> int:
    """Retire pages confirmed as gone by their site. Returns their number."""
    async with corpus.database.connection() as connection:
        name, shard = split_key(key)
        missing = [url for url in await confirmed_missing(connection, name) if shard.holds(url)]
    return sum([await corpus.indexer.retire(url) for url in missing])


def _change(page: Page, before: Page | None, failure: str | None, requested: bool) -> PageChange:
    reason = page.reason
    if failure is not None:
        change, reason = "failed", failure
    elif before is None or before.version_id is None:
        change = "failed" if page.version_id is None else "new"
    elif before.sha256 != page.sha256:
        change = "changed"
    else:
        change = "unchanged" if requested else "not due"
    return PageChange(page.url, change, reason, page.title, page.characters)


def compare_command(url: str, before: str | int, after: str | int) -> str:
    """The command that writes two versions of a page side by side."""
    return f"webrag history {url} --diff {before} {after} --html diff.html"


async def changed_pages_figure(connection: AsyncConnection, changes: Sequence[PageChange]) -> Figure | None:
    """When the changed pages had which text, at most `_PAGES`; None when no page changed."""
    from webrag_core.history.pages import seen_history
    from webrag_core.showing.history_figure import changes_figure
    from webrag_dagster.metadata import page_path

    stories = [await seen_history(connection, change.url) for change in _changed(changes)[:_PAGES]]
    return changes_figure(stories, page_path)


def _changed(changes: Sequence[PageChange]) -> list[PageChange]:
    return [change for change in changes if change.change == "changed"]


async def changed_pages_markdown(connection: AsyncConnection, changes: Sequence[PageChange]) -> str | None:
    """The changes of each changed page between its last two texts, at most `_PAGES`; None when no page changed."""
    from webrag_core.history.compare import compare
    from webrag_core.history.pages import seen_history

    changed = _changed(changes)
    lines: list[str] = []
    for change in changed[:_PAGES]:
        lines += [f"### {link(change.title or change.url, change.url)}", ""]
        pair = (await seen_history(connection, change.url)).last_two()
        if pair is None:
            lines += ["*The text before this one is no longer kept.*", ""]
            continue
        difference = (await compare(connection, change.url, *pair)).unified().splitlines()
        lines += [block("\n".join(difference[:_LINES])), ""]
        if len(difference) > _LINES:
            lines += [f"*{len(difference) - _LINES} more lines.*", ""]
        before, after = pair
        lines += [f"Side by side: {code(compare_command(change.url, before, after))}", ""]
    if len(changed) > _PAGES:
        lines += [f"*{len(changed) - _PAGES} more pages changed; `webrag history SOURCE --changes` lists them.*", ""]
    return "\n".join(lines).rstrip() or None
