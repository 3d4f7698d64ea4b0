"""The check of all invariants finds what is planted, and nothing else."""

from __future__ import annotations

import asyncio

import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules, rows
from webrag_core.config import Settings
from webrag_core.corpus.verification import VerificationCounts, verify_corpus
from webrag_core.indexing.pipeline import Corpus

PAGES = {
    f"{HOME}{name}": html(name, *(f"</p><h2>{name} {n}</h2><p>{'More words about it. ' * 60}" for n in range(4)))
    for name in ("a", "b", "c")
}
CHILD = "SELECT id FROM chunks WHERE level = 'child' AND ordinal = 2 LIMIT 1"
PARENT = "SELECT id FROM chunks WHERE level = 'parent' AND ordinal = 1 LIMIT 1"

PLANTED = {
    "changed chunk body": ("UPDATE chunks SET body = body || '!' WHERE id = (PARENT)", "slice"),
    "deleted child": ("DELETE FROM chunks WHERE id = (CHILD)", "children-partition"),
    "deleted parent": ("DELETE FROM chunks WHERE id = (PARENT)", "parents-cover"),
    "shifted offset": ("UPDATE chunks SET char_start = char_start + 1 WHERE id = (PARENT)", "slice"),
    "shifted slice": (
        "UPDATE chunks SET char_start = char_start + 1 WHERE id = (CHILD)",
        "children-partition",
    ),
    "deleted vector": ("DELETE FROM vectors_1 WHERE chunk_id = (CHILD)", "vectors"),
    "orphan vector": (
        "UPDATE vectors_1 SET chunk_id = -1 WHERE chunk_id = (SELECT min(chunk_id) FROM vectors_1)",
        "vectors",
    ),
    "changed markdown": ("UPDATE document_versions SET markdown = markdown || ' ' WHERE id = 1", "version-hash"),
    "orphan posting": (
        "INSERT INTO lexical_postings SELECT -1, document_id, length, terms, frequent FROM lexical_postings LIMIT 1",
        "postings-of-current-parents",
    ),
    "lost postings": ("DELETE FROM lexical_documents WHERE document_id = 1", "lexical-parent-count"),
    "sizes that do not add up": ("UPDATE source_sizes SET tokens = tokens + 1 WHERE id = 1", "sizes-of-sources"),
    "sizes of months that do not add up": (
        "INSERT INTO month_sizes (months, source_id, kind, documents, parents, children, tokens, indexed, length)"
        " SELECT 1, 1, kind, 0, 0, 0, 1, 0, 0 FROM documents WHERE id = 1",
        "sizes-of-months",
    ),
    "ledger row removed": ("DELETE FROM fetch_log WHERE id = 1", "ledger-knows-document"),
    "ledger of nothing": ("UPDATE fetch_log SET url = 'x', final_url = 'x' WHERE id = 1", "ledger-leads-to-document"),
    "outbox row removed": ("DELETE FROM corpus_log WHERE document_id = 1", "outbox-knows-version"),
    "ledger line of another outcome": (
        "UPDATE fetch_log SET outcome = 'unchanged' WHERE id = 2",
        "ledger-knows-document",
    ),
    "outcome lost": ("UPDATE documents SET last_outcome = NULL WHERE id = 2", "ledger-knows-document"),
    "another version announced": ("UPDATE documents SET announced_version = 2 WHERE id = 1", "outbox-knows-version"),
    "text pruned that is needed": (
        "UPDATE document_versions SET markdown = NULL, pruned_at = now() WHERE id = 1",
        "needed-text-is-kept",
    ),
    "counts that do not add up": (
        "INSERT INTO refresh_runs (source_id, run_id, started_at, discovered, fetched, unchanged, failed, skipped,"
        " not_due) VALUES (1, 'r', now(), 2, 1, 0, 0, 0, 0)",
        "refresh-balances",
    ),
    "a refresh without its lines": (
        "INSERT INTO refresh_runs (source_id, run_id, started_at, discovered, fetched, unchanged, failed, skipped,"
        " not_due) VALUES (1, 'r', now(), 1, 1, 0, 0, 0, 0)",
        "refresh-balances",
    ),
    "another's version": ("UPDATE documents SET current_version = 2 WHERE id = 1", "current-version-of-its-document"),
    "another kind": ("UPDATE documents SET kind = 0 WHERE id = 1", "kind-of-current-version"),
    "another month": (
        "UPDATE documents SET months = 9 WHERE id = (SELECT max(id) FROM documents WHERE current_version IS NOT NULL)",
        "months-of-current-version",
    ),
    "another's newest version": ("UPDATE documents SET newest_version = 2 WHERE id = 1", "newest-version-is-noted"),
    "alias over a document": (
        "INSERT INTO url_aliases (url, document_id) SELECT canonical_url, 2 FROM documents WHERE id = 1",
        "alias-is-no-document",
    ),
}


async def _build(settings: Settings) -> VerificationCounts:
    async with Corpus.open(settings, ServedPages(dict(PAGES))) as corpus:
        for url in PAGES:
            await corpus.add(url)
        counted = VerificationCounts()
        assert [violation async for violation in verify_corpus(corpus.database, counted)] == []
        return counted


def test_a_sound_corpus_is_counted(settings: Settings) -> None:
    counted = asyncio.run(_build(settings))
    assert (counted.documents, counted.versions, counted.ledger_rows) == (3, 3, 3)
    assert counted.children == counted.vectors > counted.parents > 3


@pytest.mark.parametrize("name", PLANTED)
def test_planted_corruption_is_found(settings: Settings, name: str) -> None:
    statement, rule = PLANTED[name]
    statement = statement.replace("CHILD", CHILD).replace("PARENT", PARENT)

    async def run() -> set[str]:
        await _build(settings)
        async with Corpus.open(settings, ServedPages()) as corpus:
            async with corpus.database.connection() as connection:
                assert (await connection.execute(statement.encode())).rowcount == 1
            return await broken_rules(corpus.database)

    assert rule in asyncio.run(run())


def test_an_empty_corpus_is_sound(settings: Settings) -> None:
    async def run() -> None:
        async with Corpus.open(settings, ServedPages()) as corpus:
            assert await broken_rules(corpus.database) == set()
            assert await rows(corpus.database, "SELECT 1 FROM documents") == []

    asyncio.run(run())


def test_pruned_history_is_no_violation_and_what_is_newer_is_still_checked(settings: Settings) -> None:
    async def run() -> None:
        await _build(settings)
        async with Corpus.open(settings, ServedPages()) as corpus:
            async with corpus.database.connection() as connection:
                await connection.execute("DELETE FROM fetch_log WHERE id < 3")
                await connection.execute("DELETE FROM corpus_log WHERE document_id < 3")
                await connection.execute(
                    "INSERT INTO retention_horizons SELECT 'fetch_log', max(last_fetch_at) FROM documents"
                    " UNION ALL SELECT 'corpus_log', max(announced_at) FROM documents"
                )
            assert await broken_rules(corpus.database) == set()
            async with corpus.database.connection() as connection:
                await connection.execute("DELETE FROM fetch_log")
                await connection.execute("DELETE FROM corpus_log")
            assert await broken_rules(corpus.database) == {"ledger-knows-document", "outbox-knows-version"}

    asyncio.run(run())
