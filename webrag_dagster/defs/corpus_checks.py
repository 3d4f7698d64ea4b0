"""Blocking checks of a source: broken data must not reach the layer below, nor an answer."""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import dagster as dg

from webrag_dagster.corpus.layers import CHUNKS, DOCUMENTS, EMBEDDINGS, SOURCES
from webrag_dagster.metadata import MAX_ROWS, table
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.corpus.verification import Violation
    from webrag_core.indexing.pipeline import Corpus
    from webrag_dagster.corpus.state import Page


Numbers = dict[str, int]
Verify = Callable[["Corpus", str, "list[Page]"], Awaitable["tuple[Numbers, list[Violation]]"]]


def source_check(asset: str, name: str, description: str, verify: Verify) -> dg.AssetChecksDefinition:
    """A blocking check of one partition, or of all when it is executed without one.

    `verify` gets the corpus, a partition key and its pages; it returns counts of what it checked, and violations.
    """

    @dg.asset_check(asset=asset, name=name, description=description, blocking=True, partitions_def=SOURCES)
    def check(context: dg.AssetCheckExecutionContext, corpus: CorpusResource) -> dg.AssetCheckResult:
        return run(_verify(context, corpus, verify))

    return check


def checked_keys(context: dg.AssetCheckExecutionContext) -> Sequence[str]:
    """The partition of this execution; all partitions when it has none (*Execute all* on the Checks tab)."""
    if context.has_partition_key:
        return [context.partition_key]
    keys: Sequence[str] = context.instance.get_dynamic_partitions(str(SOURCES.name))
    return keys


def checked_name(keys: Sequence[str]) -> str:
    """The partition, or the number of them."""
    return keys[0] if len(keys) == 1 else f"all {len(keys)} sources"


async def _verify(
    context: dg.AssetCheckExecutionContext, corpus: CorpusResource, verify: Verify
) -> dg.AssetCheckResult:
    from webrag_dagster.corpus.state import source_pages

    keys = checked_keys(context)
    numbers: Counter[str] = Counter()
    violations: list[Violation] = []
    async with corpus.open() as opened:
        for key in keys:
            async with opened.database.connection() as connection:
                pages = await source_pages(connection, key)
            counts, broken = await verify(opened, key, pages)
            numbers.update(counts)
            violations += broken
    checked = {name: dg.MetadataValue.int(number) for name, number in numbers.items()}
    return verdict(checked_name(keys), checked, violations)


async def broken_chunks(corpus: "Corpus", pages: "Sequence[Page]") -> "list[tuple[Page, list[Violation]]]":
    """Pages whose newest version fails the blocking checks of `chunks`, with the violations."""
    from webrag_core.corpus.verification import VerificationCounts, verify_counts, verify_slices

    async with corpus.database.snapshot() as connection:
        versions = [page.version_id for page in pages if page.version_id is not None]
        violations = await verify_slices(connection, versions, VerificationCounts())
        violations += await verify_counts(connection, [page.document_id for page in pages])
    by_url: defaultdict[str, list[Violation]] = defaultdict(list)  # `where` begins with the URL of the page
    for violation in violations:
        by_url[violation.where.split(" ")[0]].append(violation)
    return [(page, by_url[page.url]) for page in pages if page.url in by_url]


def verdict(
    name: str, checked: Mapping[str, dg.MetadataValue], violations: "Sequence[Violation]"
) -> dg.AssetCheckResult:
    """Check result with the number of violations and the first rows."""
    metadata: dict[str, Any] = {**checked, "violations": dg.MetadataValue.int(len(violations))}
    description = None
    if violations:
        rules = Counter(violation.rule for violation in violations)
        counted = ", ".join(f"{count} × {rule}" for rule, count in rules.most_common())
        description = f"{name}: {counted}; first: {violations[0].where}: {violations[0].found}"
        metadata["broken"] = table(asdict(violation) for violation in violations)
        metadata["not_listed"] = dg.MetadataValue.int(max(0, len(violations) - MAX_ROWS))
    return dg.AssetCheckResult(
        passed=not violations,
        severity=dg.AssetCheckSeverity.ERROR,
        description=description,
        metadata=metadata,
    )


async def _ledger(corpus: "Corpus", key: str, pages: "list[Page]") -> "tuple[Numbers, list[Violation]]":
    from webrag_core.corpus.sources import split_key
    from webrag_core.corpus.verification import verify_ledger

    async with corpus.database.snapshot() as connection:
        violations = await verify_ledger(connection, split_key(key)[0], [page.document_id for page in pages])
    return {"documents": len(pages)}, violations


async def _slices(corpus: "Corpus", key: str, pages: "list[Page]") -> "tuple[Numbers, list[Violation]]":
    from webrag_core.corpus.verification import VerificationCounts, verify_slices

    counted = VerificationCounts()
    async with corpus.database.snapshot() as connection:
        violations = await verify_slices(connection, _versions(pages), counted)
    numbers = {"versions": counted.versions, "parents": counted.parents, "children": counted.children}
    return numbers, violations


async def _counts(corpus: "Corpus", key: str, pages: "list[Page]") -> "tuple[Numbers, list[Violation]]":
    from webrag_core.corpus.verification import verify_counts

    versions = _versions(pages)
    async with corpus.database.snapshot() as connection:
        violations = await verify_counts(connection, [page.document_id for page in pages])
    return {"versions": len(versions)}, violations


async def _vectors(corpus: "Corpus", key: str, pages: "list[Page]") -> "tuple[Numbers, list[Violation]]":
    from webrag_core.corpus.verification import verify_vectors

    model_id = await corpus.model_id()
    async with corpus.database.snapshot() as connection:
        violations = await verify_vectors(connection, [page.document_id for page in pages], model_id)
    return {"documents": len(pages)}, violations


def _versions(pages: "list[Page]") -> list[int]:
    return [page.version_id for page in pages if page.version_id is not None]


ledger_balances = source_check(
    DOCUMENTS,
    "ledger_balances",
    "The last fetch of every document is in the coverage ledger and leads to a document, and the counts of the latest"
    " refreshes add up.",
    _ledger,
)
offsets_equal_slices = source_check(
    CHUNKS,
    "offsets_equal_slices",
    "Every chunk is the exact slice of its page's text, parents cover the text, children partition their parents, and"
    " texts have their sha256.",
    _slices,
)
counts_agree = source_check(
    CHUNKS,
    "counts_agree",
    "As many chunks as were written down for the version, and the lexical index knows as many parents.",
    _counts,
)
every_child_has_a_vector = source_check(
    EMBEDDINGS,
    "every_child_has_a_vector",
    "One vector of the live model for every child of a current version, and no other.",
    _vectors,
)
