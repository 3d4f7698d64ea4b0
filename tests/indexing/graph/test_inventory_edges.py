"""Symbols of a stored source are named as its inventory names them, and named anew when it changes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from tests.acquisition.served_pages import HOME, ServedPages
from tests.corpus.corpora import broken_rules, rows
from webrag_core.acquisition.sitemaps.models import MapEntry, MapSymbol
from webrag_core.config import Settings
from webrag_core.corpus.forget import forget
from webrag_core.corpus.refresh import read_map
from webrag_core.corpus.sources import find_source
from webrag_core.errors import Reason
from webrag_core.indexing.graph.check import check_graph
from webrag_core.indexing.pipeline import Corpus
from webrag_core.store.database import Database

A = f"{HOME}api.html"
PAGE = """<html><head><title>API</title></head><body><main><h1>Queue interface</h1><p>Words about the API of queues.</p>
<dl><dt class=sig id=x.Queue.get>get()</dt><dd><p>Gets one.</p></dd>
<dt class=sig id=x.Queue.put>put()</dt><dd></dd></dl></main></body>"""


async def defined(database: Database) -> list[tuple[str, str]]:
    return await rows(
        database,
        "SELECT v.dst_key, substring(d.markdown FROM v.char_start + 1 FOR v.char_end - v.char_start)"
        " FROM contract.v_edge v JOIN document_versions d ON d.document_id = v.doc_id AND d.number = v.version"
        " WHERE v.kind = 'defines' AND v.dst_kind = 'symbol' AND v.seen_until IS NULL ORDER BY 1",
    )


def symbol(name: str, anchor: str) -> MapSymbol:
    return MapSymbol(A, name, "py:method", anchor)


async def read_again(corpus: Corpus, site: ServedPages) -> None:
    """Read the site's map, then refresh the page."""
    async with corpus.database.connection() as connection:
        source = await find_source(connection, "example.org")
    await read_map(corpus.database, site, source, A, datetime.now(UTC))
    await corpus.add(A, refresh=True)


def test_symbols_follow_the_inventory_of_their_source(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({A: PAGE, HOME: PAGE}, entries=[MapEntry(A)])
        site.symbols = [symbol("x.Queue.get", "x.Queue.get"), symbol("x.Queue.put", "x.Queue.put")]
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(A)
            names = [key for key, _ in await defined(corpus.database)]
            assert names == ["example.org:get"]  # no map was read yet
            await read_again(corpus, site)
            named = [("example.org:x.Queue.get", "`get()`\n:   Gets one."), ("example.org:x.Queue.put", "`put()`")]
            assert await defined(corpus.database) == named
            grown = await check_graph(corpus.database)
            assert (grown.different, grown.missing) == ([], [])
            async with corpus.database.connection() as connection:
                await connection.execute("TRUNCATE graph_edges, graph_nodes, graph_documents")
            assert (await check_graph(corpus.database, rebuild=True)).digest == grown.digest
            assert await broken_rules(corpus.database) == set()

            site.symbols, site.map_problem = [], Reason.BAD_RESPONSE
            await read_again(corpus, site)
            assert await rows(corpus.database, "SELECT count(*) FROM inventory_symbols") == [
                (2,)
            ]  # it was read in part
            site.symbols, site.map_problem = [symbol("y.get", "x.Queue.get")], None
            await read_again(corpus, site)
            assert [key for key, _ in await defined(corpus.database)] == ["example.org:y.get"]

            removal = await forget(corpus.database, A, removed_by="test")
            assert removal.counts["inventory_symbols"] == 1
            await corpus.add(HOME)  # the source is there again
            async with corpus.database.connection() as connection:
                source = await find_source(connection, "example.org")
            await read_map(corpus.database, site, source, A, datetime.now(UTC))
            assert await rows(corpus.database, "SELECT count(*) FROM inventory_symbols") == [(0,)]
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())
