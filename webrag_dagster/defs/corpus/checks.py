"""Blocking checks of one source: broken data must not reach the layer below, nor an answer."""

from typing import TYPE_CHECKING

from webrag_dagster.corpus.checks import Numbers, source_check
from webrag_dagster.corpus.layers import CHUNKS, DOCUMENTS, EMBEDDINGS

if TYPE_CHECKING:
    from webrag_core.corpus.verification import Violation
    from webrag_core.indexing.pipeline import Corpus
    from webrag_dagster.corpus.state import Page


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

    model_id = await corpus.indexer.model_id()
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
