"""Pages that are as they were stored: what a refresh writes of them, and with how many statements."""

from __future__ import annotations

import asyncio

from benchmarks import server_work
from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules, rows
from tests.corpus.test_refresh import rows_done
from webrag_core.config import Settings
from webrag_core.corpus.forget import allow_again, forget
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


def test_a_page_of_equal_bytes_is_not_read_again_and_leaves_the_same_facts(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages(dict(PAGES), etag='"first"')
        async with Corpus.open(settings, site) as corpus:
            await corpus.add_all(PAGES, lambda url, result: None)
            await rows_done(
                corpus,
                "UPDATE document_versions v SET inputs_sha256 = NULL FROM documents d"
                " WHERE d.id = v.document_id AND d.canonical_url ~ '[024]$'",
            )
            await rows_done(corpus, "UPDATE documents SET ask_whole = 'lies' WHERE canonical_url ~ '[45]$'")
            site.etag = '"second"'
            report = await corpus.refresher().run("example.org")
            assert report.counts.unchanged == len(PAGES)
            facts = await rows(
                corpus.database,
                "SELECT d.canonical_url ~ '[024]$', d.ask_whole, d.status, d.reason, d.acquirer, d.etag,"
                " d.last_modified, d.last_checked = f.seen_at, d.next_check - d.last_checked,"
                " d.updated_at > f.started_at, d.misses,"
                " d.last_outcome, d.last_reason, d.last_fetch = f.id, d.newest_version = d.current_version,"
                " v.fetched_at = f.seen_at, p.seen_last = f.seen_at, f.outcome, f.http_status,"
                " f.bytes_raw = f.bytes_decoded, f.hop"
                " FROM documents d JOIN document_versions v ON v.document_id = d.id JOIN fetch_log f ON f.url ="
                " d.canonical_url AND f.run_id = %s JOIN version_periods p ON p.document_id = d.id ORDER BY 1, 2",
                report.run_id,
            )
            assert len(facts) == len(PAGES)
            assert [row[1:] for row in facts if row[0]] == [row[1:] for row in facts if not row[0]]
            assert {row[1] for row in facts} == {None, "lies"}
            counts = "SELECT signal, flagged_same, silent_same FROM change_signals"
            assert await rows(corpus.database, counts) == [("validator", len(PAGES) - 2, 0)]
            site.etag = '"third"'
            with server_work.recorded(str) as statements:
                await corpus.refresher().run("example.org")
            assert not [each for each in statements if "INSERT INTO document_versions" in str(each.query)]
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())


def test_a_link_to_a_page_that_is_allowed_again_comes_back(settings: Settings) -> None:
    target = f"{HOME}1"
    pages = {
        HOME: html("Home", f"This page names <a href='{target}'>another page</a> of the site."),
        target: PAGES[target],
    }
    links = "SELECT count(*) FROM link_candidates WHERE target_url = %s"

    async def run() -> None:
        site = ServedPages(pages, etag='"first"')
        async with Corpus.open(settings, site) as corpus:
            await corpus.add_all(pages, lambda url, result: None)
            for etag, allowed in (('"second"', False), ('"third"', True)):
                if allowed:
                    async with corpus.database.transaction() as connection:
                        await allow_again(connection, [target])
                else:
                    await forget(corpus.database, target, removed_by="test")
                site.etag = etag
                await corpus.refresher().run("example.org")
                assert await rows(corpus.database, links, target) == [(int(allowed),)]

    asyncio.run(run())
