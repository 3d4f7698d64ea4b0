"""Asset `documents`: the texts of a source's pages."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import dagster as dg
from pydantic import Field

from webrag_dagster.conditions import refresh_on_change
from webrag_dagster.corpus.layer_metadata import layer_metadata
from webrag_dagster.corpus.layers import DOCUMENTS, SOURCES, WEB_PAGES, code_version
from webrag_dagster.corpus.runs import MOST_RETRIES, refresh_ids
from webrag_dagster.defs.corpus_checks import checked_keys, checked_name
from webrag_dagster.metadata import MAX_ROWS, Metadata, page_path, short_title, table
from webrag_dagster.pictures import picture
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.config import Settings
    from webrag_core.drawing.figure import Figure
    from webrag_dagster.corpus.refreshing import PageChange, Refreshed
    from webrag_dagster.corpus.state import Layer, Page

ANSWERS = "source_answers"
RETRIES = dg.RetryPolicy(max_retries=MOST_RETRIES, delay=2, backoff=dg.Backoff.EXPONENTIAL, jitter=dg.Jitter.PLUS_MINUS)
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
    check_specs=[
        dg.AssetCheckSpec(
            ANSWERS,
            asset=DOCUMENTS,
            partitions_def=SOURCES,
            description=(
                "Share of the source's pages whose last request gave no text that was taken, whatever the reason: a"
                " warning from WEBRAG_FAILED_PAGES_WARN, an error from WEBRAG_FAILED_PAGES_ERROR, and an error when no"
                " page answered in a refresh, which then failed. A refresh that asked nothing changes nothing."
            ),
        )
    ],
    description=(
        "Markdown of every known page of a source, one immutable version per distinct content. Materializing sends"
        " conditional requests. A page that fails keeps its last good version and is listed with its reason; a"
        " refresh in which no page answers fails; only transient failures are retried."
    ),
)
def documents(
    context: dg.AssetExecutionContext, config: RefreshConfig, corpus: CorpusResource
) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
    """Refresh one source."""
    from webrag_core.errors import InvalidInputError
    from webrag_core.showing.coverage_figure import coverage_figure
    from webrag_dagster.corpus.layer_metadata import rows_of, table_metadata
    from webrag_dagster.corpus.refreshing import (
        changed_pages_figure,
        changed_pages_markdown,
        layer_of,
        refresh_source,
        retire_missing,
    )

    key = context.partition_key
    *earlier, run_id = refresh_ids(context.run, context.retry_number)

    async def work() -> "tuple[Refreshed, list[Page], Layer, str | None, Figure | None, Metadata]":
        if config.pages not in ("auto", "all", "due"):
            raise InvalidInputError(f"pages is {config.pages!r}: say auto, all or due")
        by_itself = any(tag in context.run.tags for tag in _BY_ITSELF)
        due_only = config.pages == "due" or (config.pages == "auto" and by_itself)
        async with corpus.open() as opened:
            done = await refresh_source(opened, key, run_id, due_only=due_only, accept=config.accept, earlier=earlier)
            if done.failure is not None:
                await retire_missing(opened, key)  # the assets below, which do it otherwise, are not made
            pages, layer = await layer_of(opened, key, DOCUMENTS)
            async with opened.database.connection() as connection:
                diffs = await changed_pages_markdown(connection, done.changes)
                times = await changed_pages_figure(connection, done.changes)
                table_rows = await table_metadata(connection, DOCUMENTS, rows_of(DOCUMENTS, pages, layer))
        return done, pages, layer, diffs, times, table_rows

    done, pages, layer, diffs, times, table_rows = run(work())
    for warning in done.report.warnings:
        context.log.warning(warning)
    failure = done.failure
    check = _answers(done, pages, corpus.settings())
    if failure is not None:
        if not failure.allow_retries or context.retry_number >= RETRIES.max_retries:
            reasons = ",".join(sorted(set(done.report.failed.values())))
            tags = {"webrag/failure": reasons[:63], "webrag/permanent": str(not failure.allow_retries).lower()}
            context.instance.add_run_tags(context.run.run_id, tags)
            yield check
        raise failure
    metadata = {
        **_metadata(done.changes),
        **layer_metadata(layer),
        **_failed(done.changes),
        **_held(done),
        "pages_still_gone": dg.MetadataValue.int(len(done.report.still_gone)),
        **table_rows,
    }
    if diffs is not None:
        metadata["what_changed"] = dg.MetadataValue.md(diffs)
    coverage = coverage_figure(Counter(page.status for page in pages), None)
    if coverage is not None:
        metadata["pages_by_state"] = picture(coverage)
    if times is not None:
        metadata["when_changed"] = picture(times)
    yield dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(layer.digest), check_results=[check])


def _answers(done: "Refreshed", pages: "list[Page]", settings: "Settings") -> dg.AssetCheckResult:
    """Verdict on the source: of the refresh where no page answered, else of what is known of all pages."""
    failing = sum(page.failing for page in pages)
    requests = sum(page.status != "gone" for page in pages)
    share = failing / requests if requests else 0.0
    failure = done.failure
    is_error = failure is not None or share >= settings.webrag_failed_pages_error
    passed = failure is None and share < min(settings.webrag_failed_pages_warn, settings.webrag_failed_pages_error)
    reasons = Counter(done.report.failed.values()).most_common()
    summary = f"{failing} of {requests} pages of {done.report.source} fail" if failure is None else failure.description
    return dg.AssetCheckResult(
        check_name=ANSWERS,
        passed=passed,
        severity=dg.AssetCheckSeverity.ERROR if is_error else dg.AssetCheckSeverity.WARN,
        description=None if passed else summary,
        metadata={
            "pages": dg.MetadataValue.int(requests),
            "pages_failing": dg.MetadataValue.int(failing),
            "share_failing": dg.MetadataValue.float(round(share, 4)),
            "failures": table({"reason": reason, "pages": count} for reason, count in reasons),
        },
    )


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
        " shrinking, a page with nothing of its former text. A warning for single pages, an error where several pages"
        " together look so. They are taken after days of the same text, or at once by a refresh with `accept`."
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
            severity=dg.AssetCheckSeverity.ERROR
            if any(text.held.of_source for text in held)
            else dg.AssetCheckSeverity.WARN,
            description=f"{checked_name(keys)}: " + ", ".join(f"{count} × {words}" for words, count in counted)
            if held
            else None,
            metadata=metadata,
        )

    return run(work())


_COUNTED = ("new", "changed", "unchanged", "not due")
