"""Listing of stored pages, what is known from their links, and the status of the corpus."""

from __future__ import annotations

import asyncio

import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import rows
from webrag_core.cli.status_report import print_status
from webrag_core.config import Settings
from webrag_core.corpus.documents import find_pages
from webrag_core.corpus.forget import allow_again, forget
from webrag_core.corpus.sources import attach_source
from webrag_core.corpus.status import corpus_status
from webrag_core.corpus.stored_pages import known_hosts, known_urls, pages_below, stored_pages
from webrag_core.errors import FetchError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.mcp_server.listing import status_text

A, B, LONG = f"{HOME}a", f"{HOME}docs/b", f"https://long.example/{'x1y2' * 600}"


async def build(corpus: Corpus) -> None:
    links = "".join(f"<a href='{url}'>to</a> " for url in (B, LONG, "http://plain.example/p", "https://host.example/p"))
    corpus.acquirer.pages.update(  # type: ignore[attr-defined]
        {A: html("A", f"Text of A. {links}"), B: html("B", "Text of B.")}
    )
    for url in (A, B):
        await corpus.add(url)


def test_hosts_with_pages_or_attached_are_known_and_so_are_linked_and_mapped_urls(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, ServedPages()) as corpus:
            await build(corpus)
            mapped = f"{HOME}mapped"
            async with corpus.database.connection() as connection:
                await attach_source(connection, "https://attached.example/", 5)
                await connection.execute(
                    "INSERT INTO site_map_pages (source_id, url, listed_in) SELECT id, %s, 'sitemap.xml' FROM sources"
                    " WHERE host = 'example.org'",
                    (mapped,),
                )
                hosts = ["example.org", "attached.example", "plain.example", "ample.org", "example.org:8080"]
                assert await known_hosts(connection, hosts) == {"example.org": False, "attached.example": True}
                urls = [A, B, LONG, mapped, f"{LONG}more", "http://plain.example/p", "https://plain.example/p"]
                assert await known_urls(connection, urls) == {A, B, LONG, mapped, "http://plain.example/p"}

    asyncio.run(work())


def test_admission_reads_an_index_and_never_all_links(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, ServedPages()) as corpus:
            await build(corpus)
            async with corpus.database.connection() as connection:
                await connection.execute("SET enable_seqscan = off")
                before = "SELECT coalesce(sum(idx_scan), 0), coalesce(sum(seq_scan), 0) FROM pg_stat_xact_user_tables"
                async with connection.transaction():
                    start = await (await connection.execute(f"{before} WHERE relname = 'link_candidates'")).fetchone()
                    await known_urls(connection, [A])
                    end = await (await connection.execute(f"{before} WHERE relname = 'link_candidates'")).fetchone()
                assert start is not None
                assert end is not None
                assert (end[0] > start[0], end[1] - start[1]) == (True, 0)

    asyncio.run(work())


def test_a_look_up_knows_of_removals_without_counting_them(settings: Settings) -> None:
    reads = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'forgotten_urls'"

    async def work() -> None:
        async with Corpus.open(settings, ServedPages()) as corpus:
            await build(corpus)

            async def mark() -> str:
                [page] = await corpus.ingestor.look_up([A])
                assert not isinstance(page, FetchError)
                return page.removals

            marks = [await mark()]
            await forget(corpus.database, B, removed_by="a test")
            marks.append(await mark())
            async with corpus.database.transaction() as connection:
                await allow_again(connection, [B])
            marks.append(await mark())
            assert len({*marks}) == 3
            async with corpus.database.transaction() as connection:
                await connection.execute(
                    "INSERT INTO forgotten_urls SELECT encode(sha256(n::text::bytea), 'hex')"
                    " FROM generate_series(1, 500) n"
                )
            assert len({*marks, await mark()}) == 4
            assert await mark() == await mark()
            async with corpus.database.transaction() as connection:
                # A plan of the time when the table had a row would read it whole, whatever the statement needs.
                await connection.execute("DISCARD PLANS")
                await connection.execute("SET LOCAL enable_seqscan = off")
                before = await (await connection.execute(reads)).fetchone()
                await find_pages(connection, [A, B])
                assert await (await connection.execute(reads)).fetchone() == before

    asyncio.run(work())


def test_pages_and_status_count_the_same(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    async def work() -> None:
        async with Corpus.open(settings, ServedPages()) as corpus:
            await build(corpus)
            for number in range(6):
                try:
                    await corpus.add(f"{HOME}lost-{number}")
                except FetchError:
                    continue
            async with corpus.database.connection() as connection:
                pages = await stored_pages(connection, ids=None, limit=1)
                status = await corpus_status(connection)
                every = await corpus_status(connection, every_failure=True)
                below = await pages_below(connection, "example.org/docs/")
            [source] = status.sources
            assert (pages.total, pages.chunks, pages.tokens) == (source.ready, source.parents, source.tokens)
            assert await rows(corpus.database, "SELECT count(*) FROM chunks WHERE level = 'child'") == [
                (source.children,)
            ]
            assert status.failures == {"not_found": 6}
            assert [page.url for page in every.failed_pages] == [f"{HOME}lost-{number}" for number in range(5, -1, -1)]
            assert (status.failed_pages, every.failed_unnamed) == (every.failed_pages[:5], 0)
            lines = status_text(status, pages, place=None, urls=False).splitlines()
            assert lines[lines.index("Failed pages: not_found 6") :][5:7] == [
                f"- {HOME}lost-1: not_found",
                "- and 1 more; the command `webrag status --failed` names all",
            ]
            print_status(status, None, "here", {})
            printed = capsys.readouterr().out
            assert f"{HOME}lost-1: not there [not_found]\n  and 1 more: `webrag status --failed` names all" in printed
            assert len(pages.pages) == len(below) == 1

    asyncio.run(work())
