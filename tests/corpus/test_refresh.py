"""Refresh of a source: what is asked, what is learned, what is lost (nothing)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice, product
from typing import Any

import psycopg
import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules, rows, texts
from webrag_core.acquisition.sitemaps.models import MapEntry
from webrag_core.cli.status_report import print_status
from webrag_core.config import Settings
from webrag_core.corpus.refresh import RefreshReport
from webrag_core.corpus.sources import attach_source, pause_sources
from webrag_core.corpus.status import corpus_status
from webrag_core.errors import FetchError, InvalidInputError, Reason
from webrag_core.indexing.pipeline import Corpus

KEY = "example.org"
A, B, C = f"{HOME}a", f"{HOME}b", f"{HOME}c"
LONG = html("Page", *(f"Sentence {number} of a page that says a good deal about its topic." for number in range(40)))


def page(word: str) -> str:
    """A page about `word`."""
    return html(word, f"There is something to be said about {word}, and this page says it.")


@asynccontextmanager
async def opened(settings: Settings, pages: dict[str, str]) -> AsyncIterator[tuple[Corpus, ServedPages]]:
    """A corpus that holds these pages of a site; all invariants hold at the end."""
    site = ServedPages(dict(pages))
    async with Corpus.open(settings, site) as corpus:
        for url in pages:
            await corpus.add(url)
        site.answers.clear()
        yield corpus, site
        assert await broken_rules(corpus.database) == set()


async def refresh(corpus: Corpus, key: str = KEY, *, due_only: bool = False, limit: int | None = None) -> RefreshReport:
    """One refresh of the site."""
    return await corpus.refresher().run(key, due_only=due_only, limit=limit)


async def days_pass(corpus: Corpus, days: float) -> None:
    """Everything that was seen was seen earlier."""
    passed = timedelta(days=days)
    await rows_done(
        corpus,
        "UPDATE documents SET last_checked = last_checked - %s, next_check = next_check - %s,"
        " last_miss = last_miss - %s",
        *(passed, passed, passed),
    )


async def rows_done(corpus: Corpus, statement: str, *parameters: object) -> None:
    """Run a statement of the test itself."""
    async with corpus.database.connection() as connection:
        await connection.execute(statement.encode(), parameters)


def test_an_unchanged_site_costs_one_conditional_request_per_page(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, {A: page("alpha"), B: page("beta")}) as (corpus, site):
            report = await refresh(corpus)
            assert site.answers == [200, 304]  # one in twenty is asked whole
            assert (report.counts.unchanged, report.counts.discovered, report.changed) == (2, 2, ())
            assert await rows(corpus.database, "SELECT count(*) FROM document_versions") == [(2,)]

    asyncio.run(run())


def test_changed_new_and_failed_pages_are_told_apart(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, {A: page("alpha"), B: page("beta"), C: page("gamma")}) as (corpus, site):
            site.pages[A] = page("another")
            del site.pages[B]
            report = await refresh(corpus)
            assert report.changed == (A,)
            assert report.failed == {B: "not_found"}
            assert (report.counts.fetched, report.counts.failed, report.counts.unchanged) == (1, 1, 1)
            assert set(await texts(corpus)) == {A, B, C}  # a failed page keeps its text
            [(discovered, fetched)] = await rows(corpus.database, "SELECT discovered, fetched FROM refresh_runs")
            assert (discovered, fetched) == (3, 1)

    asyncio.run(run())


def test_an_attempt_that_no_page_answers_is_told_from_an_answer(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    async def status(corpus: Corpus) -> tuple[datetime, str | None, str]:
        async with corpus.database.connection() as connection:
            whole = await corpus_status(connection)
        [source] = whole.sources
        assert source.last_answered is not None
        print_status(whole, None, "here", {})
        printed = " ".join(capsys.readouterr().out.split())
        return source.last_answered, source.failing, printed

    async def run() -> None:
        async with opened(settings, {A: page("alpha"), B: page("beta")}) as (corpus, site):
            began, pages = datetime.now(UTC), dict(site.pages)
            site.pages.clear()
            await refresh(corpus)
            answered, failing, printed = await status(corpus)
            assert (answered < began, failing) == (True, "not_found")
            assert f"{KEY}: the last attempt failed, just now: not there [not_found]" in printed
            site.pages[A] = pages[A]
            await refresh(corpus)
            answered, failing, printed = await status(corpus)
            assert (answered > began, failing) == (True, None)
            assert "the last attempt failed" not in printed

    asyncio.run(run())


def test_only_due_pages_are_asked_when_that_is_wanted(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, {A: page("alpha"), B: page("beta")}) as (corpus, site):
            report = await refresh(corpus, due_only=True)
            assert (site.answers, report.counts.not_due, report.counts.discovered) == ([], 2, 2)
            await days_pass(corpus, 31)
            limited = (await refresh(corpus, due_only=True, limit=1)).counts
            assert (limited.unchanged, limited.not_due, limited.put_off, limited.discovered) == (1, 0, 1, 2)
            assert (await refresh(corpus, due_only=True)).counts.unchanged == 1
            assert (await refresh(corpus, due_only=True)).counts.not_due == 2

    asyncio.run(run())


def test_a_page_that_could_not_be_read_is_due_when_the_extractor_changes(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, {A: page("alpha")}) as (corpus, site):
            site.pages[B] = "<div>" * 600 + "too deep"
            with pytest.raises(FetchError, match="levels deep"):
                await corpus.add(B)
            site.answers.clear()
            await refresh(corpus, due_only=True)
            assert site.answers == []
            await rows_done(corpus, "UPDATE documents SET refused_by = 'html-0' WHERE reason = 'parse_failure'")
            site.pages[B] = page("beta")
            assert (await refresh(corpus, due_only=True)).counts.fetched == 1
            assert set(await texts(corpus)) == {A, B}

    asyncio.run(run())


def test_a_page_is_gone_only_after_answers_on_three_days_and_may_come_back(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, {A: page("alpha"), B: page("beta")}) as (corpus, site):
            kept = site.pages.pop(A)
            for _ in range(5):
                await refresh(corpus)  # one bad hour
            await days_pass(corpus, 1.1)
            await refresh(corpus, due_only=True)
            assert set(await texts(corpus)) == {A, B}
            await days_pass(corpus, 1.1)
            assert (await refresh(corpus, due_only=True)).failed == {A: "not_found"}
            assert set(await texts(corpus)) == {B}
            state = "SELECT status, reason FROM documents WHERE right(canonical_url, 2) = '/a'"
            assert await rows(corpus.database, state) == [("gone", "not_found")]
            assert await rows(corpus.database, "SELECT change FROM corpus_log ORDER BY id DESC LIMIT 1") == [("gone",)]
            site.answers.clear()
            assert (await refresh(corpus)).counts.discovered == 1  # nobody asks for it any more,
            site.pages[A] = kept
            again = await corpus.add(A)  # until somebody does
            assert (again.outcome, again.embedded) == ("fetched", 0)
            assert set(await texts(corpus)) == {A, B}
            assert await rows(corpus.database, state) == [("ready", None)]

    asyncio.run(run())


def test_one_good_answer_ends_the_count(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, {A: page("alpha")}) as (corpus, site):
            kept = site.pages[A]
            for _ in range(4):
                for there in (False, False, True):
                    site.pages = {A: kept} if there else {}
                    await refresh(corpus)
                    await days_pass(corpus, 1.1)
            assert set(await texts(corpus)) == {A}

    asyncio.run(run())


def test_a_site_that_sends_everything_to_its_front_page_loses_nothing(settings: Settings) -> None:
    async def run() -> None:
        deep = f"{HOME}guide/deep"
        async with opened(settings, {deep: page("alpha"), HOME: page("front")}) as (corpus, site):
            site.redirects = {deep: HOME}
            assert (await refresh(corpus)).failed == {deep: "soft_404"}
            assert set(await texts(corpus)) == {deep, HOME}

    asyncio.run(run())


def test_next_to_nothing_replaces_a_text_only_when_it_stays_so(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, {A: LONG}) as (corpus, site):
            site.pages[A] = html("Page", "Under construction, please come back.")
            for day in range(3):
                report = await refresh(corpus)
                assert ("Sentence 7" in (await texts(corpus))[A]) == (day < 2)
                assert report.failed == ({A: "near_empty"} if day < 2 else {})
                await days_pass(corpus, 1.1)
            assert "construction" in (await texts(corpus))[A]

    asyncio.run(run())


def test_what_the_map_flags_is_asked_and_what_it_was_worth_is_learned(settings: Settings) -> None:
    async def run() -> None:
        urls = [f"{HOME}{number}" for number in range(12)]
        async with opened(settings, {url: page(f"word{number}") for number, url in enumerate(urls)}) as (corpus, site):
            old = datetime(2020, 1, 1, tzinfo=UTC)
            later = datetime.now(UTC) + timedelta(hours=1)
            site.entries = [MapEntry(url, last_modified=old) for url in urls]
            assert (await refresh(corpus, due_only=True)).counts.not_due == 12
            site.pages[urls[3]] = page("changed")
            site.entries[3] = MapEntry(urls[3], last_modified=later)
            site.entries[4] = MapEntry(urls[4], last_modified=later)  # a lie
            report = await refresh(corpus, due_only=True)
            assert (report.changed, report.counts.unchanged, report.counts.not_due) == ((urls[3],), 1, 10)
            found = "SELECT flagged_changed, flagged_same, silent_same FROM change_signals WHERE signal = 'sitemap'"
            assert await rows(corpus.database, found) == [(1, 1, 0)]

    asyncio.run(run())


def test_an_attached_section_is_taken_in_by_map_and_links_up_to_its_limit(settings: Settings) -> None:
    async def run() -> None:
        docs = f"{HOME}docs/"
        linked = f'<a href="{docs}two">Two</a><a href="{HOME}blog">Blog</a>'
        async with opened(settings, {}) as (corpus, site):
            site.pages = {f"{docs}{name}": page(name) for name in ("one", "two", "three", "four")}
            site.pages |= {docs: html("Docs", linked), HOME + "blog": page("blog")}
            site.entries = [MapEntry(f"{docs}one", title="The first"), MapEntry(f"{HOME}blog")]
            async with corpus.database.connection() as connection:
                assert await attach_source(connection, docs, 2) == f"{KEY}/docs"
            report = await refresh(corpus, f"{KEY}/docs")
            assert set(await texts(corpus)) == {docs, f"{docs}one"}
            assert (report.counts.fetched, report.counts.skipped) == (2, 1)
            ledger = await rows(corpus.database, "SELECT url, reason FROM fetch_log WHERE outcome = 'skipped'")
            assert ledger == [(f"{docs}two", "page_limit")]
            async with corpus.database.connection() as connection:
                await attach_source(connection, docs, 10)
            assert (await refresh(corpus, f"{KEY}/docs")).changed == (f"{docs}two",)
            assert set(await texts(corpus)) == {docs, f"{docs}one", f"{docs}two"}

    asyncio.run(run())


def test_pages_beyond_the_limit_cost_one_statement_and_are_said_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[object] = []
    execute = psycopg.AsyncCursor.execute

    async def counted(self: Any, query: object, *arguments: Any, **options: Any) -> Any:
        statements.append(query)
        return await execute(self, query, *arguments, **options)

    async def run() -> None:
        async with opened(settings, {HOME: page("home")}) as (corpus, site):
            names = ("".join(letters) for letters in product("abcdefghijk", repeat=5))
            site.entries = [MapEntry(f"{HOME}page/{name}") for name in islice(names, 3_000)]
            async with corpus.database.connection() as connection:
                await attach_source(connection, HOME, 1)
            monkeypatch.setattr(psycopg.AsyncCursor, "execute", counted)
            for said in (3_000, 0):
                statements.clear()
                [(before,)] = await rows(corpus.database, "SELECT count(*) FROM fetch_log WHERE outcome = 'skipped'")
                assert (await refresh(corpus)).counts.skipped == 3_000
                assert len(statements) <= 60
                [(after,)] = await rows(corpus.database, "SELECT count(*) FROM fetch_log WHERE outcome = 'skipped'")
                assert after - before == said
                assert any("INTO skipped_urls" in str(statement) for statement in statements) == bool(said)

    asyncio.run(run())


def test_a_source_that_is_not_there(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, {A: page("alpha")}) as (corpus, site):
            with pytest.raises(InvalidInputError):
                await corpus.refresher().run("nowhere.example")
            async with corpus.database.connection() as connection:
                with pytest.raises(InvalidInputError):
                    await pause_sources(connection, "nowhere.example", paused=True)
                with pytest.raises(FetchError) as refused:
                    await attach_source(connection, "ftp://example.org/", 5)
                assert refused.value.reason is Reason.INVALID_URL
            assert site.answers == []

    asyncio.run(run())
