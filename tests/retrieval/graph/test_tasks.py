"""The four tasks on pages of the frozen site, and on sites that no real one resembles."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest

from tests.acquisition.served_pages import HOME, ServedPages
from tests.conftest import fresh_database
from tests.corpus.corpora import rows
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.graph.keys import resolve_keys
from webrag_core.retrieval.graph.past import version_at
from webrag_core.retrieval.graph.tasks import expand_related, hierarchy, linked_items
from webrag_core.store.database import Database

LIBRARY = "https://docs.python.org/3.11/library"
PAGES = [f"{LIBRARY}/{name}.html" for name in ("asyncio-queue", "asyncio-task", "queue", "imp", "importlib", "heapq")]

Answer = TypeVar("Answer")
Ask = Callable[[Callable[..., Awaitable[Answer]]], Answer]


@pytest.fixture(scope="module")
def python(server_url: str) -> Iterator[Settings]:
    """Settings of a corpus with six pages of the frozen site."""
    from tests.conftest import FROZEN_SITE

    with fresh_database(server_url) as url:
        settings = Settings(database_url=url, webrag_warc=FROZEN_SITE)

        async def fill() -> None:
            async with Corpus.open(settings) as corpus:
                for page in PAGES:
                    await corpus.add(page)
                await corpus.indexer.finish_bulk()

        asyncio.run(fill())
        yield settings


@pytest.fixture
def ask(python: Settings) -> Ask[object]:
    """Run a task on that corpus."""

    def call(task: Callable[..., Awaitable[object]]) -> object:
        async def work() -> object:
            async with await Database.open(python) as database, database.snapshot() as connection:
                return await task(connection)

        return asyncio.run(work())

    return call


def test_keys_are_found_exactly_by_their_end_or_not_at_all(ask: Ask[list]) -> None:  # type: ignore[type-arg]
    keys = [
        "python:asyncio.Queue.get",
        "docs.python.org:asyncio.Queue.get",
        "asyncio.Queue.get",
        "asyncio-queue.html",
        f"{LIBRARY}/asyncio-queue.html#queues/queue",
        "PriorityQueue.nothing",
        "rust:asyncio.Queue.get",
        "get_nowait",
        "100%",
    ]
    answers = [one.answer for one in ask(lambda c: resolve_keys(c, keys))]
    symbol = "docs.python.org:asyncio.Queue.get"
    assert [(one.status, one.node.key if one.node else None) for one in answers] == [
        ("found", symbol),
        ("found", symbol),
        ("found", symbol),
        ("found", f"{LIBRARY}/asyncio-queue.html"),
        ("found", f"{LIBRARY}/asyncio-queue.html#queues/queue"),
        ("unknown_key", None),
        ("unknown_key", None),
        ("ambiguous", None),
        ("unknown_key", None),
    ]
    names = {node.label for node in answers[7].candidates}
    assert names == {"asyncio.Queue.get_nowait", "queue.Queue.get_nowait", "queue.SimpleQueue.get_nowait"}


def test_what_documents_mentions_and_deprecates_with_its_sentence(ask: Ask[list]) -> None:  # type: ignore[type-arg]
    (result,) = ask(lambda c: linked_items(c, ["python:imp.find_module"]))
    by_kind = {edge.kind: edge for edge in reversed(result.items)}
    assert set(by_kind) == {"defines", "deprecates", "replaces", "mentions"}
    assert by_kind["defines"].quote.startswith("`imp.find_module(name[, path])`")
    assert by_kind["deprecates"].quote.startswith("Deprecated since version 3.3: Use")
    assert by_kind["replaces"].src.label == "importlib.util.find_spec"
    assert "`find_module()`" in by_kind["mentions"].quote
    assert all(edge.url == f"{LIBRARY}/imp.html" for edge in result.items)


def test_quotes_are_slices_of_their_version(ask: Ask[list], python: Settings) -> None:  # type: ignore[type-arg]
    (result,) = ask(lambda c: linked_items(c, ["asyncio.Queue"], k=50))
    assert len(result.items) >= 3

    async def texts() -> dict[str, str]:
        async with await Database.open(python) as database:
            return dict(await rows(database, "SELECT content_sha256, text FROM contract.v_document"))

    stored = asyncio.run(texts())
    for edge in result.items:
        assert edge.quote == stored[edge.version_sha256][edge.char_start : edge.char_end]


def test_hierarchy_goes_down_and_up(ask: Ask[list]) -> None:  # type: ignore[type-arg]
    (down,) = ask(lambda c: hierarchy(c, [f"{LIBRARY}/asyncio-queue.html"]))
    labels = [item.node.label for item in down.items]
    assert labels[:4] == ["Queues", "Queue", "asyncio.Queue", "asyncio.Queue.maxsize"]
    assert labels.index("asyncio.Queue.task_done") < labels.index("Priority Queue") < labels.index("asyncio.QueueFull")
    (up,) = ask(lambda c: hierarchy(c, ["asyncio.Queue.get"], direction="up"))
    assert [(item.node.kind, item.depth) for item in up.items] == [
        ("symbol", 1),
        ("section", 2),
        ("section", 3),
        ("page", 4),
    ]
    (shallow,) = ask(lambda c: hierarchy(c, [f"{LIBRARY}/asyncio-queue.html"], depth=1))
    assert [item.node.label for item in shallow.items] == ["Queues"]
    assert not shallow.complete


def test_related_pages_come_with_their_chain(ask: Ask[object]) -> None:
    result = ask(lambda c: expand_related(c, ["asyncio.Queue.put"], of=["page"], k=5))
    assert result.items[0].node.key == f"{LIBRARY}/asyncio-queue.html"  # type: ignore[attr-defined]
    for item in result.items:  # type: ignore[attr-defined]
        assert 0 < item.score <= 1
        assert 1 <= len(item.chain) <= 2
        assert item.chain[0].quote
        ends = {item.chain[0].src.key, item.chain[0].dst.key}
        assert "docs.python.org:asyncio.Queue.put" in ends


def test_numbers_out_of_range_are_refused(ask: Ask[object]) -> None:
    for task in (
        lambda c: expand_related(c, ["asyncio"], depth=3),
        lambda c: hierarchy(c, ["asyncio"], depth=7),
        lambda c: linked_items(c, ["asyncio"], k=0),
        lambda c: linked_items(c, [" "]),
        lambda c: version_at(c, ["asyncio"], datetime.now(UTC) + timedelta(days=1)),
    ):
        with pytest.raises(InvalidInputError):
            ask(task)


def test_a_circle_ends_and_every_node_comes_once(settings: Settings) -> None:
    async def run() -> None:
        async with await Database.open(settings) as database, database.connection() as connection:
            await connection.execute(
                "INSERT INTO sources (key) VALUES ('example.org');"
                "INSERT INTO documents (source_id, canonical_url) VALUES (1, 'https://example.org/');"
                "INSERT INTO document_versions (document_id, number, markdown, sha256, http_status, media_type,"
                " fetched_at, extractor) VALUES (1, 1, 'text', repeat('0', 64), 200, 'text/html', now(), 'test');"
                "INSERT INTO graph_nodes (kind, key, label) SELECT 'symbol', 'example.org:n' || n, 'n' || n"
                " FROM generate_series(1, 3) n;"
                "INSERT INTO graph_edges (document_id, version_id, src, dst, place, kind, strength, origin, char_start,"
                " char_end, seen_from) SELECT 1, 1, n, n % 3 + 1, n, 'contains', 1, 'explicit', 0, 4, now()"
                " FROM generate_series(1, 3) n"
            )
            (down,) = await hierarchy(connection, ["n1"])
            assert [(item.node.label, item.depth) for item in down.items] == [("n2", 1), ("n3", 2)]
            assert down.complete
            (up,) = await hierarchy(connection, ["n1"], direction="up")
            assert [item.node.label for item in up.items] == ["n3", "n2"]

    asyncio.run(run())


def test_what_held_at_a_time_is_quoted_from_the_text_of_then(settings: Settings) -> None:
    async def run() -> None:
        page = f"{HOME}a"
        text = "<html><head><title>T</title></head><body><main><h1>T</h1><p>{}</p><p>Some more words.</p></main></body>"
        site = ServedPages({page: text.format("Then call <code>one()</code> once. And <code>two()</code>.")})
        async with Corpus.open(settings, site) as corpus:
            before = datetime.now(UTC)
            await corpus.add(page)
            first = datetime.now(UTC)
            site.pages[page] = text.format("Now and then call <code>one()</code> twice.")
            await corpus.add(page, refresh=True)
            async with corpus.database.snapshot() as connection:
                keys = ["example.org:one", "example.org:two"]
                old = await version_at(connection, keys, first)
                new = await version_at(connection, keys, datetime.now(UTC))
                none = await version_at(connection, keys, before)
                now = datetime.now(UTC)
                page_then = await version_at(connection, [page], before)
            quotes = [[(edge.version, edge.quote) for edge in one.items] for one in (*old, *new, *none)]
            assert quotes == [
                [(1, "Then call `one()` once.")],
                [(1, "And `two()`.")],
                [(2, "Now and then call `one()` twice.")],
                [],
                [],
                [],
            ]
            assert [(state.version, state.certainty) for state in old[0].pages] == [(1, "between")]
            assert [(state.version, state.certainty) for state in page_then[0].pages] == [(None, "not_seen")]
            async with corpus.database.snapshot() as connection:
                (day,) = await version_at(connection, keys[:1], now, begin=before)
            assert [(state.version, state.certainty) for state in day.pages] == [(2, "certain")]

    asyncio.run(run())


def test_another_address_of_a_page_is_that_page(settings: Settings) -> None:
    async def run() -> None:
        target, old, page = f"{HOME}new", f"{HOME}old", f"{HOME}a"
        body = "<html><head><title>{0}</title></head><body><main><h1>{0}</h1><p>{1}</p></main></body></html>"
        site = ServedPages(
            {
                page: body.format("A", f"It links to <a href='{old}'>the old place</a> of it."),
                target: body.format("New", "The text of the new page."),
            },
            {old: target},
        )
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(page)
            await corpus.add(old)
            async with corpus.database.snapshot() as connection:
                (result,) = await linked_items(connection, [target])
                related = await expand_related(connection, [page], of=["page"])
            assert [(edge.kind, edge.url) for edge in result.items] == [("links_to", page)]
            assert [item.node.key for item in related.items] == [target]

    asyncio.run(run())
