"""Edges of mark-up live as those of the text do: with their version, until the page states them no more."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.acquisition.served_pages import HOME, ServedPages
from tests.corpus.corpora import broken_rules, rows
from webrag_core.config import Settings
from webrag_core.corpus.forget import forget
from webrag_core.corpus.markup import decode, urls_of, without
from webrag_core.corpus.retention import prune
from webrag_core.indexing.graph import edges as edges_module
from webrag_core.indexing.graph.check import check_graph
from webrag_core.indexing.graph.totals import graph_totals
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.graph.past import version_at
from webrag_core.retrieval.graph.tasks import expand_related, hierarchy, linked_items
from webrag_core.store.database import Database

A, B = f"{HOME}a", f"{HOME}b"
TEXT = "Jane Doe wrote about queues and stacks."


def page(*nodes: object, text: str = TEXT, head: str = "") -> str:
    scripts = "".join(f'<script type="application/ld+json">{json.dumps(node)}</script>' for node in nodes)
    return f"<html><head><title>T</title>{head}{scripts}</head><body><main><h1>Queues</h1><p>{text}</p></main></body>"


def by(author: str, **properties: object) -> dict[str, object]:
    return {"@type": "WebPage", "author": {"@type": "Person", "name": author}, **properties}


async def stated(database: Database) -> list[tuple[object, ...]]:
    return await rows(
        database,
        "SELECT kind, src_key, label, dst_key, version, char_start IS NOT NULL FROM contract.v_edge"
        " WHERE seen_until IS NULL AND statement IS NOT NULL ORDER BY 1, 2, 3, 4",
    )


async def is_rebuilt_the_same(database: Database) -> None:
    """Edges made from nothing are those that grew."""
    grown = await check_graph(database)
    assert (grown.different, grown.missing) == ([], [])
    async with database.connection() as connection:
        await connection.execute("TRUNCATE graph_edges, graph_nodes, graph_documents")
    rebuilt = await check_graph(database, rebuild=True)
    assert rebuilt.digest == grown.digest
    assert await broken_rules(database) == set()


def test_statements_change_with_the_page_even_when_its_text_does_not(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({A: page(by("Jane Doe", publisher={"@type": "Organization", "name": "Press"}))})
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(A)
            assert await stated(corpus.database) == [
                ("typed", A, "author", "Person:Jane Doe", 1, True),
                ("typed", A, "publisher", "Organization:Press", 1, False),
            ]
            site.pages[A] = page(by("Jane Doe", editor={"@type": "Person", "name": "Jane Doe"}))
            await corpus.add(A, refresh=True)
            assert [row[2:5] for row in await stated(corpus.database)] == [
                ("author", "Person:Jane Doe", 1),
                ("editor", "Person:Jane Doe", 1),
            ]
            site.pages[A] = page(by("Jane Doe"), text=f"New. {TEXT}")
            await corpus.add(A, refresh=True)
            assert [row[2:5] for row in await stated(corpus.database)] == [("author", "Person:Jane Doe", 2)]
            quotes = await rows(
                corpus.database,
                "SELECT substring(v.markdown FROM e.char_start + 1 FOR e.char_end - e.char_start) FROM graph_edges e"
                " JOIN document_versions v ON v.id = e.version_id WHERE e.kind = 'typed' ORDER BY e.id",
            )
            assert quotes == [(TEXT,), (TEXT,)]
            await is_rebuilt_the_same(corpus.database)

    asyncio.run(run())


def test_a_page_without_markup_has_no_row(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({A: page(by("Jane Doe"))})
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(A)
            site.pages[A] = page()
            await corpus.add(A, refresh=True)
            assert await rows(corpus.database, "SELECT count(*) FROM version_markup") == [(0,)]
            assert await stated(corpus.database) == []
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())


def test_what_is_cut_is_recorded_and_the_page_is_kept(settings: Settings) -> None:
    async def run() -> None:
        many = [{"@type": "Thing", "name": f"Thing {number}"} for number in range(600)]
        async with Corpus.open(settings, ServedPages({A: page("{", many)})) as corpus:
            await corpus.add(A)
            assert await rows(corpus.database, "SELECT cut FROM version_markup") == [(["too_many_nodes"],)]
            async with corpus.database.connection() as connection:
                totals = await graph_totals(connection, [1])
            assert (totals.left_out, totals.markup_left_out) == ({"too_many_statements": 1}, {"too_many_nodes": 1})
            assert await rows(corpus.database, "SELECT reason FROM graph_documents") == [("too_many_statements",)]
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())


def test_removal_on_request_reaches_the_markup_of_other_pages(settings: Settings) -> None:
    async def run() -> None:
        other = {"@type": "Person", "@id": f"{B}#me", "name": "Jane Doe", "sameAs": f"{B}/../b"}
        site = ServedPages(
            {
                A: page({"@type": "WebPage", "author": other}, head=f"<link rel=canonical href='{B}'>"),
                B: page(by("Jane Doe"), text="The page of Jane Doe, who writes."),
            }
        )
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(A)
            await corpus.add(B)
            assert ("typed", A, "author", f"{B}#me", 1, True) in await stated(corpus.database)
            removal = await forget(corpus.database, B, removed_by="test")
            assert removal.counts["markup"] == 1
            assert await stated(corpus.database) == []
            keys = [key for (key,) in await rows(corpus.database, "SELECT key FROM graph_nodes")]
            assert not [key for key in keys if B in key]
            assert B not in str(await rows(corpus.database, "SELECT content, urls FROM version_markup"))
            assert await broken_rules(corpus.database) == set()
            await corpus.add(A, refresh=True)
            assert await stated(corpus.database) == []
            await is_rebuilt_the_same(corpus.database)

    asyncio.run(run())


def test_markup_goes_with_the_text(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({A: page(by("Jane Doe"))})
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(A)
            site.pages[A] = page(by("John Roe"), text="John Roe wrote about it.")
            await corpus.add(A, refresh=True)
            gone = settings.model_copy(update={"version_retention_days": 0.0})
            assert (await prune(corpus.database, gone))["markup"] == 1
            assert [row[3] for row in await stated(corpus.database)] == ["Person:John Roe"]
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())


def test_what_was_stated_at_a_time(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({A: page(by("Jane Doe", keywords="x", publisher={"name": "Press"}))})
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(A)
            [(between,)] = await rows(corpus.database, "SELECT now()")
            site.pages[A] = page(by("Jane Doe"), text="After years Jane Doe writes again.")
            await corpus.add(A, refresh=True)
            async with corpus.database.connection() as connection:
                [then] = await version_at(connection, [A], between, kinds=["typed"])
            assert [(edge.anchor, edge.quote) for edge in then.items] == [("author", TEXT), ("publisher", None)]
            assert then.items[1].statement == 'JSON-LD: this page publisher Thing "Press"'

    asyncio.run(run())


def test_entities_are_found_by_type_by_name_and_by_identifier(settings: Settings) -> None:
    async def run() -> None:
        jane = {"@type": "Person", "@id": f"{HOME}#jane"}
        site = ServedPages(
            {
                A: page({"@type": "WebPage", "author": jane}),
                B: page({"@type": "WebPage", "author": {**jane, "name": "Jane Doe"}, "about": by("Al Bo", name="Q")}),
            }
        )
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(A)
            await corpus.add(B)
            async with corpus.database.connection() as connection:
                for key in ("jane doe", f"{HOME}#jane", f"entity:{HOME}#jane"):
                    [answer] = await linked_items(connection, [key])
                    assert {edge.url for edge in answer.items} == {A, B}, key
                    assert answer.key.node is not None
                    assert answer.key.node.label == "Jane Doe"
                [answer] = await linked_items(connection, ["Person:Al Bo"])
                assert [edge.src.key for edge in answer.items] == ["WebPage:Q"]
                related = await expand_related(connection, [A])
                assert B in [item.node.key for item in related.items]

    asyncio.run(run())


def test_breadcrumbs_that_run_in_a_circle_end(settings: Settings) -> None:
    def under(url: str) -> dict[str, object]:
        return {"@type": "BreadcrumbList", "itemListElement": [{"@type": "ListItem", "position": 1, "item": url}]}

    async def run() -> None:
        site = ServedPages({A: page(under(B)), B: page(under(A), text="The other page of this site.")})
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(A)
            await corpus.add(B)
            async with corpus.database.connection() as connection:
                for direction in ("down", "up"):
                    [answer] = await hierarchy(connection, [A], direction=direction)  # type: ignore[arg-type]
                    pages = [item.node.key for item in answer.items if item.node.kind == "page"]
                    assert pages == [B]
                    assert answer.complete
            await is_rebuilt_the_same(corpus.database)

    asyncio.run(run())


def test_another_version_of_extraction_reads_old_versions_again(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with Corpus.open(settings, ServedPages({A: page(by("Jane Doe"))})) as corpus:
            await corpus.add(A)
            async with corpus.database.connection() as connection:
                await connection.execute("UPDATE graph_documents SET extraction = 'edges-1'")
                await connection.execute("DELETE FROM graph_edges WHERE kind = 'typed'")
            assert await corpus.indexer.pending([1], "activate") == [1]
            outcome = await corpus.indexer.activate(1)
            assert (outcome.embedded, outcome.became_current) == (0, False)
            assert len(await stated(corpus.database)) == 1
            assert await corpus.indexer.pending([1], "activate") == []

    asyncio.run(run())
    assert edges_module.EXTRACTION_VERSION != "edges-1"


def test_markup_without_some_pages() -> None:
    markup = decode(
        {
            "nodes": [
                {"syntax": "RDFa", "identifier": f"{B}#x", "types": ["T"], "properties": [["a", 1]], "top": True},
                {
                    "syntax": "RDFa",
                    "identifier": None,
                    "types": [],
                    "properties": [["sameAs", B], ["a", "b"]],
                    "top": True,
                },
            ],
            "relations": [["canonical", B], ["latest-version", A]],
            "anchors": [["id", 3]],
        }
    )
    assert urls_of(markup) == [A, B]
    left = without(markup, {B})
    assert urls_of(left) == [A]
    assert (left.relations, left.anchors) == ((("latest-version", A),), (("id", 3),))
    assert [node.properties for node in left.nodes] == [(), (("a", "b"),)]
