"""Asset `documents`: the texts of a source's pages."""

from collections import Counter
from typing import TYPE_CHECKING

import dagster as dg
from pydantic import Field

from webrag_dagster.conditions import refresh_on_change
from webrag_dagster.corpus.layer_metadata import layer_metadata
from webrag_dagster.corpus.layers import DOCUMENTS, SOURCES, WEB_PAGES, code_version
from webrag_dagster.defs.corpus_checks import checked_keys, checked_name
from webrag_dagster.metadata import MAX_ROWS, Metadata, page_path, short_title, table
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_dagster.corpus.refreshing import PageChange, Refreshed

RETRIES = dg.RetryPolicy(max_retries=3, delay=2, backoff=dg.Backoff.EXPONENTIAL, jitter=dg.Jitter.PLUS_MINUS)
"""Retries for transient failures of a site: about 15 seconds in all. Longer outages wait for the next refresh."""
_BY_ITSELF = ("dagster/from_automation_condition", "dagster/auto_materialize")


class RefreshConfig(dg.Config):
    """Select the pages to request."""

    pages: str = Field(
        default="auto",
        description="all: every known page; due: due pages and pages flagged as changed; auto: all for a manual launch,"
        " else due.",
    )
    accept: bool = Field(
        default=False,
        description="Take new texts that would be held back: one text on several pages, or most pages shrinking.",
    )


@dg.asset(
    name=DOCUMENTS,
    deps=[WEB_PAGES],
    partitions_def=SOURCES,
    group_name="corpus",
    kinds={"postgres", "markdown"},
    owners=["team:corpus"],
    tags={"webrag/layer": "ingestion"},
    pool="web",
    code_version=code_version(DOCUMENTS),
    automation_condition=refresh_on_change(),
    retry_policy=RETRIES,
    description=(
        "Markdown of every known page of a source, one immutable version per distinct content. Materializing sends"
        " conditional requests. A page that fails keeps its last good version and is listed with its reason; a"
        " source without any fetched page fails; only transient failures are retried."
    ),
)
def documents(
    context: dg.AssetExecutionContext, config: RefreshConfig, corpus: CorpusResource
) -> dg.MaterializeResult[None]:
    """Refresh one source."""
    from webrag_core.errors import InvalidInputError
    from webrag_dagster.corpus.layer_metadata import rows_of, table_metadata
    from webrag_dagster.corpus.refreshing import changed_pages_markdown, layer_of, refresh_source

    key = context.partition_key
    attempt = f"-{context.retry_number}" if context.retry_number else ""

    async def work() -> dg.MaterializeResult[None]:
        if config.pages not in ("auto", "all", "due"):
            raise InvalidInputError(f"pages is {config.pages!r}: say auto, all or due")
        by_itself = any(tag in context.run.tags for tag in _BY_ITSELF)
        due_only = config.pages == "due" or (config.pages == "auto" and by_itself)
        async with corpus.open() as opened:
            done = await refresh_source(
                opened, key, f"dagster-{context.run.run_id}{attempt}", due_only=due_only, accept=config.accept
            )
            pages, layer = await layer_of(opened, key, DOCUMENTS)
            async with opened.database.connection() as connection:
                diffs = await changed_pages_markdown(connection, done.changes)
                table_rows = await table_metadata(connection, DOCUMENTS, rows_of(DOCUMENTS, pages, layer))
        for warning in done.report.warnings:
            context.log.warning(warning)
        failure = done.failure
        if failure is not None:
            if not failure.allow_retries or context.retry_number >= RETRIES.max_retries:
                reasons = ",".join(sorted(set(done.report.failed.values())))
                tags = {"webrag/failure": reasons[:63], "webrag/permanent": str(not failure.allow_retries).lower()}
                context.instance.add_run_tags(context.run.run_id, tags)
            raise failure
        metadata = {
            **_metadata(done.changes),
            **layer_metadata(layer),
            **_failed(done.changes),
            **_held(done),
            **table_rows,
        }
        if diffs is not None:
            metadata["what_changed"] = dg.MetadataValue.md(diffs)
        return dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(layer.digest))

    return run(work())


def _metadata(changes: "list[PageChange]") -> Metadata:
    counts = Counter(change.change for change in changes)
    return {
        **{f"pages_{name.replace(' ', '_')}": dg.MetadataValue.int(counts[name]) for name in _COUNTED},
        "page_list": table(
            {
                "page": page_path(change.url),
                "change": change.change,
                "reason": change.reason,
                "title": short_title(change.title),
                "characters": change.characters,
            }
            for change in changes  # failed, changed and new ones come first
        ),
        "pages_not_listed": dg.MetadataValue.int(max(0, len(changes) - MAX_ROWS)),
    }


def _failed(changes: "list[PageChange]") -> Metadata:
    """Pages that failed in this refresh, whatever they were before, and why."""
    failed = [change for change in changes if change.change == "failed"]
    metadata: Metadata = {"pages_failed": dg.MetadataValue.int(len(failed))}
    reasons = Counter(change.reason or "unknown" for change in failed)
    if reasons:
        metadata["failures"] = table({"reason": reason, "pages": count} for reason, count in reasons.most_common())
    return metadata


def _held(done: "Refreshed") -> Metadata:
    """Pages whose new texts this refresh holds back."""
    held = done.report.held
    metadata: Metadata = {"pages_held": dg.MetadataValue.int(len(held))}
    if held:
        metadata["held_back"] = table({"page": page_path(url), "why": kind.words} for url, kind in held.items())
    return metadata


@dg.asset_check(
    asset=DOCUMENTS,
    partitions_def=SOURCES,
    description=(
        "New texts that are held back, as they look like a loss of the site: one text on several pages, most pages"
        " shrinking, a page with nothing of its former text. A warning: they are taken after days of the same text, or"
        " at once by a refresh with `accept`."
    ),
)
def new_texts_are_taken(context: dg.AssetCheckExecutionContext, corpus: CorpusResource) -> dg.AssetCheckResult:
    """Check the pages of the source."""
    from webrag_core.corpus.held_texts import HeldText, held_texts
    from webrag_core.corpus.sources import split_key

    keys = checked_keys(context)

    async def work() -> dg.AssetCheckResult:
        held: list[HeldText] = []
        async with corpus.open() as opened, opened.database.connection() as connection:
            for key in keys:
                name, shard = split_key(key)
                held += [text for text in await held_texts(connection, name) if shard.holds(text.url)]
        metadata: Metadata = {"held": dg.MetadataValue.int(len(held))}
        if held:
            metadata["held_back"] = table(
                {"page": text.url, "why": text.held.words, "days": text.days} for text in held
            )
        counted = Counter(text.held.words for text in held).most_common()
        return dg.AssetCheckResult(
            passed=not held,
            severity=dg.AssetCheckSeverity.WARN,
            description=f"{checked_name(keys)}: " + ", ".join(f"{count} × {words}" for words, count in counted)
            if held
            else None,
            metadata=metadata,
        )

    return run(work())


_COUNTED = ("new", "changed", "unchanged", "not due")
