"""Pages that are as they were stored: what a refresh writes of them, and with how many statements."""

from __future__ import annotations

import asyncio

from benchmarks import server_work
from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules, rows
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus

PAGES = {f"{HOME}{number}": html(f"Page {number}", f"This page is about the number {number}.") for number in range(6)}


def test_several_pages_share_statements_and_each_has_its_line(settings: Settings) -> None:
    async def run() -> None:
        async with Corpus.open(settings, ServedPages(dict(PAGES))) as corpus:
            await corpus.add_all(PAGES, lambda url, result: None)
            with server_work.recorded(str) as statements:
                report = await corpus.refresher().run("example.org")
            assert report.counts.unchanged == len(PAGES)
            asked = await rows(
                corpus.database,
                "SELECT f.url, d.last_fetch = f.id, d.last_checked > f.started_at, p.seen_last = f.seen_at"
                " FROM fetch_log f JOIN documents d ON d.canonical_url = f.url"
                " JOIN version_periods p ON p.document_id = d.id AND p.seen_until IS NULL"
                " WHERE f.run_id = %s AND f.outcome = 'unchanged' ORDER BY length(f.url), f.url",
                report.run_id,
            )
            assert asked == [(url, True, True, True) for url in PAGES]
            locks = [statement for statement in statements if "pg_advisory_xact_lock(" in str(statement.query)]
            assert len(locks) < len(PAGES) / 2, "a transaction for every page"
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())
