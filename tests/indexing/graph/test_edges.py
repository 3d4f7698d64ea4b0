"""Edges change with the page that states them, and with nothing else."""

from __future__ import annotations

import asyncio

import pytest

from tests.acquisition.served_pages import HOME, ServedPages
from tests.corpus.corpora import broken_rules, rows
from webrag_core.config import Settings
from webrag_core.corpus.forget import forget
from webrag_core.corpus.retention import prune
from webrag_core.errors import FetchError
from webrag_core.indexing.graph.check import check_graph
from webrag_core.indexing.graph.model import MAX_SYMBOLS
from webrag_core.indexing.graph.totals import graph_totals
from webrag_core.indexing.pipeline import Corpus
from webrag_core.store.database import Database

A, B = f"{HOME}a", f"{HOME}b"
LIVE = (
    "SELECT kind, src_key, dst_key, version FROM contract.v_edge WHERE seen_until IS NULL AND kind <> 'contains'"
    " ORDER BY kind, src_key, dst_key"
)


def page(*paragraphs: str) -> str:
    """A page about the symbol `queue.Queue`."""
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    return (
        "<html><head><title>Queues</title></head><body><main><h1>Queues</h1>"
        f"<dl><dt class='sig'>class queue.Queue(n)</dt><dd><p>A queue of things.</p></dd></dl>{body}</main></body>"
    )


async def live(database: Database) -> list[tuple[str, ...]]:
    return await rows(database, LIVE)


def test_what_stays_keeps_its_time_and_moves_to_the_new_version(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({A: page(f"It works like <a href='{B}'>the other page</a>.", "Call <code>gone()</code>.")})
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(A)
            first = await rows(corpus.database, "SELECT kind, dst, seen_from FROM graph_edges ORDER BY 1, 2")
            assert [row[:3] for row in await live(corpus.database)] == [
                ("defines", A, "example.org:queue.Queue"),
                ("links_to", A, B),
                ("mentions", A, "example.org:gone"),
            ]
            site.pages[A] = page(
                "New first.", f"It works like <a href='{B}'>the other page</a>.", "Call <code>new()</code>."
            )
            await corpus.add(A, refresh=True)
            assert await live(corpus.database) == [
                ("defines", A, "example.org:queue.Queue", 2),
                ("links_to", A, B, 2),
                ("mentions", A, "example.org:new", 2),
            ]
            spans = await rows(
                corpus.database,
                "SELECT substring(v.markdown FROM e.char_start + 1 FOR e.char_end - e.char_start) FROM graph_edges e"
                " JOIN document_versions v ON v.id = e.version_id WHERE e.seen_until IS NULL AND e.kind = 'links_to'",
            )
            assert spans == [(f"It works like [the other page]({B}).",)]
            past = await rows(
                corpus.database,
                "SELECT v.dst_key, v.version, v.seen_until = p.seen_from FROM contract.v_edge v JOIN version_periods p"
                " ON p.document_id = v.doc_id AND p.seen_until IS NULL WHERE v.seen_until IS NOT NULL",
            )
            assert past == [("example.org:gone", 1, True)]
            kept = await rows(
                corpus.database, "SELECT kind, dst, seen_from FROM graph_edges WHERE version_id = 2 ORDER BY 1, 2"
            )
            assert set(first) & set(kept) == {row for row in first if row[0] != "mentions"}
            assert await broken_rules(corpus.database) == set()
            assert (await check_graph(corpus.database)).different == []

    asyncio.run(run())


def test_what_comes_back_is_a_new_edge(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({A: page("Call <code>one()</code>.")})
        async with Corpus.open(settings, site) as corpus:
            for name in ("one", "two", "one"):
                site.pages[A] = page(f"Call <code>{name}()</code>.")
                await corpus.add(A, refresh=True)
            mentions = await rows(
                corpus.database,
                "SELECT dst_key, version, seen_until IS NULL FROM contract.v_edge WHERE kind = 'mentions'"
                " ORDER BY seen_from",
            )
            assert mentions == [
                ("example.org:one", 1, False),
                ("example.org:two", 2, False),
                ("example.org:one", 1, True),
            ]
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())


def test_a_page_that_is_gone_ends_its_edges(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({A: page("Call <code>one()</code>.")})
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(A)
            await rows_changed(corpus.database)
            del site.pages[A]
            with pytest.raises(FetchError):
                await corpus.add(A, refresh=True)
            assert await live(corpus.database) == []
            assert await broken_rules(corpus.database) == set()
            site.pages[A] = page("Call <code>one()</code>.")
            await corpus.add(A, refresh=True)
            assert len(await live(corpus.database)) == 2
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())


async def rows_changed(database: Database) -> None:
    """As if the page had been missing on two days."""
    async with database.connection() as connection:
        await connection.execute(
            "UPDATE documents SET misses = 2, miss_reason = 'not_found', last_miss = now() - interval '2 days',"
            " missing_since = now()"
        )


def test_removal_on_request_takes_edges_and_nodes_along(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages(
            {
                A: page(f"It works like <a href='{B}'>the other page</a>.", "Call <code>shared()</code>."),
                B: page("Call <code>shared()</code> or <code>private()</code>."),
            }
        )
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(A)
            await corpus.add(B)
            await forget(corpus.database, B, removed_by="test")
            keys = {key for (key,) in await rows(corpus.database, "SELECT key FROM graph_nodes")}
            assert not {key for key in keys if key.startswith(B) or "private" in key}
            assert "example.org:shared" in keys
            assert [row[0] for row in await live(corpus.database)] == ["defines", "mentions"]
            assert await broken_rules(corpus.database) == set()
            await corpus.add(A, refresh=True)
            report = await check_graph(corpus.database)
            assert (report.different, report.missing) == ([], [])

    asyncio.run(run())


def test_edges_of_an_older_corpus_are_made_when_its_pages_are_indexed_or_checked(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({A: page("Call <code>one()</code>."), B: page("Call <code>two()</code>.")})
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(A)
            await corpus.add(B)
            before = await live(corpus.database)
            async with corpus.database.connection() as connection:
                await connection.execute("TRUNCATE graph_edges, graph_nodes, graph_documents")
            assert len(await corpus.indexer.pending([1, 2], "activate")) == 2
            await corpus.add(A, refresh=True)
            assert (await check_graph(corpus.database)).missing == [B]
            report = await check_graph(corpus.database, rebuild=True)
            assert report.rebuilt == [B]
            assert await live(corpus.database) == before
            assert await corpus.indexer.pending([1, 2], "activate") == []
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())


def test_links_that_change_without_the_text_are_read_again(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({A: page(f"It works like <a href='{B}'>the other page</a>.")})
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(A)
            site.pages[A] = page(f"It works like <a href='{B}' rel='nofollow'>the other page</a>.")
            await corpus.add(A, refresh=True)
            assert [row[0] for row in await live(corpus.database)] == ["defines"]
            report = await check_graph(corpus.database)
            assert (report.pages, report.different, report.missing) == (1, [], [])

    asyncio.run(run())


def test_a_manipulated_edge_is_a_difference(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({A: page("Call <code>one()</code>.")})
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(A)
            async with corpus.database.connection() as connection:
                await connection.execute("UPDATE graph_edges SET char_end = 100000 WHERE kind = 'mentions'")
            assert (await check_graph(corpus.database)).different == [A]
            assert await broken_rules(corpus.database) == {"edges-stand-in-their-text"}
            assert (await check_graph(corpus.database, rebuild=True)).rebuilt == [A]
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())


def test_past_edges_go_with_the_text_that_proves_them(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({A: page("Call <code>one()</code>.")})
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(A)
            site.pages[A] = page("Call <code>two()</code>.")
            await corpus.add(A, refresh=True)
            kept = settings.model_copy(update={"version_retention_days": 1.0})
            assert (await prune(corpus.database, kept))["past_edges"] == 0
            gone = settings.model_copy(update={"version_retention_days": 0.0})
            report = await prune(corpus.database, gone)
            assert (report["texts"], report["past_edges"]) == (1, 1)
            assert await rows(corpus.database, "SELECT count(*) FROM graph_edges WHERE seen_until IS NOT NULL") == [
                (0,)
            ]
            assert len(await live(corpus.database)) == 2
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())


def test_totals_and_incoming_edges(settings: Settings) -> None:
    async def run() -> None:
        link = f"It works like <a href='{B}'>the other page</a>."
        site = ServedPages({A: page(link), B: page("Text."), f"{HOME}c": page(link)})
        async with Corpus.open(settings, site) as corpus:
            documents = [(await corpus.add(url)).document_id for url in site.pages]
            await corpus.indexer.finish_bulk()
            async with corpus.database.connection() as connection:
                totals = await graph_totals(connection, documents)
                nobody = await graph_totals(connection, [])
            assert totals.edges == {"contains": 6, "defines": 3, "links_to": 2}
            assert (totals.nodes, totals.left_out) == (7, {})
            assert (nobody.nodes, nobody.edges) == (0, {})
            degree = f"SELECT degree_in FROM graph_nodes WHERE key = '{B}'"  # noqa: S608
            assert await rows(corpus.database, degree) == [(2,)]
            del site.pages[A]
            await rows_changed(corpus.database)
            with pytest.raises(FetchError):
                await corpus.add(A, refresh=True)
            await corpus.indexer.finish_bulk()
            assert await rows(corpus.database, degree) == [(1,)]

    asyncio.run(run())


def test_a_page_with_too_many_definitions_is_kept_and_says_why(settings: Settings) -> None:
    async def run() -> None:
        terms = "".join(f"<dt class='sig'>go{n}()</dt><dd><p>Does {n}.</p></dd>" for n in range(MAX_SYMBOLS + 10))
        site = ServedPages({A: f"<html><body><main><h1>All of them</h1><dl>{terms}</dl></main></body></html>"})
        async with Corpus.open(settings, site) as corpus:
            added = await corpus.add(A)
            assert await rows(corpus.database, "SELECT status FROM documents") == [("ready",)]
            assert await rows(corpus.database, "SELECT reason FROM graph_documents") == [("too_many_symbols",)]
            async with corpus.database.connection() as connection:
                assert (await graph_totals(connection, [added.document_id])).left_out == {"too_many_symbols": 1}

    asyncio.run(run())


def test_many_writers_of_the_same_names_do_not_stop_each_other(settings: Settings) -> None:
    async def run() -> None:
        names = [f"name{n}" for n in range(60)]
        site = ServedPages(
            {
                f"{HOME}{n}": page(*(f"Call <code>{name}()</code>." for name in names[:: (1, -1)[n % 2]]))
                for n in range(8)
            }
        )
        async with Corpus.open(settings, site) as corpus:
            await asyncio.gather(*(corpus.add(url) for url in site.pages))
            assert await rows(corpus.database, "SELECT count(*) FROM graph_edges WHERE kind = 'mentions'") == [(320,)]
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())
