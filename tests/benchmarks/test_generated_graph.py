"""The generated corpus of the graph's benchmark keeps the invariants, and its tasks find what was put there."""

from __future__ import annotations

import asyncio

from benchmarks.graph.generated_graph import HOST, SECTIONS, fill
from benchmarks.graph.scale import page_text
from webrag_core.config import Settings
from webrag_core.indexing.graph.extract import extract_edges
from webrag_core.retrieval.graph.tasks import hierarchy, linked_items
from webrag_core.store.database import Database


def test_a_small_generated_corpus(settings: Settings) -> None:
    async def run() -> None:
        async with await Database.open(settings) as database:
            async with database.long_job() as connection:
                edges = await fill(connection, 30)
                indexes = await connection.execute("SELECT count(*) FROM pg_indexes WHERE tablename = 'graph_edges'")
                assert await indexes.fetchone() == (6,)
            assert 30 * 40 < edges < 30 * 90
            async with database.connection() as connection:
                (down,) = await hierarchy(connection, [f"{HOST}/p3.html"])
                (front,) = await linked_items(connection, [f"{HOST}/p1.html"], kinds=["links_to"], k=100)
            assert sum(item.node.kind == "section" for item in down.items) == SECTIONS
            assert len(front.items) == 29

    asyncio.run(run())


def test_a_page_of_the_next_edition_has_a_tenth_of_other_edges() -> None:
    first, second = (
        {(edge.src.key, edge.kind, edge.dst.key) for edge in extract_edges(
            page_text(1, edition), url=HOST, source="bench.example", links={}
        ).edges}
        for edition in (1, 2)
    )  # fmt: skip
    assert len(first) == len(second) > 60
    assert 0 < len(first - second) <= len(first) // 10
