"""One shape for checks of one partition of a corpus asset: what was broken, in numbers, a table and a sentence."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import dagster as dg

from webrag_dagster.metadata import MAX_ROWS, Metadata, table
from webrag_dagster.partitions import SOURCES
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.corpus.verification import Violation
    from webrag_core.indexing.pipeline import Corpus
    from webrag_dagster.corpus.state import Page


Look = Callable[["Corpus", str, "list[Page]"], Awaitable["tuple[Metadata, list[Violation]]"]]


def source_check(asset: str, name: str, description: str, look: Look) -> dg.AssetChecksDefinition:
    """A blocking check of one partition. `look` gets corpus, partition key and pages; it returns what it looked at,
    in numbers, and what is broken: nothing below the asset runs on broken data."""

    @dg.asset_check(asset=asset, name=name, description=description, blocking=True, partitions_def=SOURCES)
    def check(context: dg.AssetCheckExecutionContext, corpus: CorpusResource) -> dg.AssetCheckResult:
        return look_at(context, corpus, look)

    return check


def look_at(context: dg.AssetCheckExecutionContext, corpus: CorpusResource, look: Look) -> dg.AssetCheckResult:
    """Run `look` for the partition of this check."""
    from webrag_dagster.corpus.state import source_pages

    key = context.partition_key

    async def work() -> dg.AssetCheckResult:
        async with corpus.open() as opened:
            async with opened.database.connection() as connection:
                pages = await source_pages(connection, key)
            looked_at, violations = await look(opened, key, pages)
        return verdict(key, looked_at, violations)

    return run(work())


async def broken_chunks(corpus: "Corpus", pages: "Sequence[Page]") -> "list[tuple[Page, list[Violation]]]":
    """Pages whose newest version breaks what the blocking checks of `chunks` ask for, and how."""
    from webrag_core.corpus.verification import Verified, verify_counts, verify_slices

    found = []
    async with corpus.database.snapshot() as connection:
        for page in pages:
            if page.version_id is not None:
                violations = await verify_slices(connection, [page.version_id], Verified())
                violations += await verify_counts(connection, [page.document_id])
                if violations:
                    found.append((page, violations))
    return found


def verdict(key: str, looked_at: Metadata, violations: "Sequence[Violation]") -> dg.AssetCheckResult:
    """Passed without violations; otherwise what is broken, how often, and the first rows."""
    metadata: dict[str, Any] = {**looked_at, "violations": dg.MetadataValue.int(len(violations))}
    description = None
    if violations:
        rules = Counter(violation.rule for violation in violations)
        counted = ", ".join(f"{count} × {rule}" for rule, count in rules.most_common())
        description = f"{key}: {counted}; first: {violations[0].where}: {violations[0].found}"
        metadata["broken"] = table(asdict(violation) for violation in violations)
        metadata["not_listed"] = dg.MetadataValue.int(max(0, len(violations) - MAX_ROWS))
    return dg.AssetCheckResult(
        passed=not violations,
        severity=dg.AssetCheckSeverity.ERROR,
        description=description,
        metadata=metadata,
    )
