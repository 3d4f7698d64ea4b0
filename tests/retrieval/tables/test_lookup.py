"""Look values up in a corpus: the right cell comes first, with its exact place in the version."""

from __future__ import annotations

import asyncio

import pytest

from tests.corpus.corpora import rows
from tests.local_site import SITE, LocalSite
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.request import EVERYTHING, ScopeFilter
from webrag_core.retrieval.tables.lookup import lookup
from webrag_core.retrieval.tables.models import TableCell


def page(title: str, body: str) -> str:
    return f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1>{body}</main></body></html>"


MANY = "".join(f"<tr><td><code>opt_{n}</code><td>{n * 7}<td>The option number {n} of the kettle." for n in range(500))
PAGES = {
    "/server": page(
        "Tea server settings",
        "<p>What the server can be told.</p><h2>Ports</h2><table><tr><th>Service<th>Port<th>Protocol"
        "<tr><td>brewer<td>4080<td>TCP<tr><td>steamer<td>4081<td>UDP</table>"
        "<h2>Limits</h2><table><tr><th>Parameter<th>Default<th>Maximum<th>Meaning"
        "<tr><td><code>cup_size</code><td>200 ml<td>500 ml<td>Size of a cup."
        "<tr><td><code>brew_time</code><td>3 min<td>9 min<td>How long tea is brewed.</table>",
    ),
    "/kinds": page(
        "Tea options",
        "<p>Options of the queue.</p><dl><dt><b>queue_time (default: 5d)</b><dd>Time after which an order is given up."
        " It may be zero.<dt><b>queue_length (default: 100)</b><dd>How many orders wait at most.</dl>",
    ),
    "/options": page(
        "Kettle options",
        f"<p>All options.</p><table><tr><th>Option<th>Weight<th>Description{MANY}</table>",
    ),
    "/vertical": page(
        "The teapot",
        "<p>Facts about the pot.</p><table><tr><td>Maker<td>Utah works<tr><td>Colour<td>white<tr><td>Volume<td>2 l"
        "</table>",
    ),
    "/prose": page("Prose", "<p>The brewer listens on no port that anybody knows, said the prose.</p>"),
}
QUESTIONS = [
    ("Which port does the steamer use?", "4081", "Port", "/server"),
    ("what is the default cup_size", "200 ml", "Default", "/server"),
    ("maximum of brew_time", "9 min", "Maximum", "/server"),
    ("which service uses UDP", "steamer", "Service", "/server"),
    ("default of queue_time", "5d", "default", "/kinds"),
    ("what is the weight of opt_321", str(321 * 7), "Weight", "/options"),
    ("who is the maker of the teapot?", "Utah works", None, "/vertical"),
]


async def stored(corpus: Corpus, found: TableCell) -> str:
    ((text, sha256),) = await rows(
        corpus.database, "SELECT markdown, sha256 FROM document_versions WHERE id = %s", found.version_id
    )
    assert sha256 == found.version_sha256
    return str(text)


def test_the_right_cell_comes_first_with_its_place(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, LocalSite(dict(PAGES))) as corpus:
            for path in PAGES:
                await corpus.add(SITE + path)
            for question, value, column, path in QUESTIONS:
                cells = await lookup(corpus, question)
                assert 0 < len(cells) <= 5
                best = cells[0]
                assert (best.plain, best.url) == (value, SITE + path), question
                assert (best.column and best.column.plain) == column, question
                scores = [cell.score for cell in cells]
                assert scores == sorted(scores, reverse=True)
                assert all(0 <= score <= 1 for score in scores)
                for cell in cells:
                    text = await stored(corpus, cell)
                    for one in [cell, *cell.row_header, *([cell.column] if cell.column else [])]:
                        assert text[one.start : one.end] == one.text
                    assert cell.row_start <= cell.start < cell.end <= cell.row_end
            port = (await lookup(corpus, "Which port does the steamer use?"))[0]
            assert [one.text for one in port.row_header] == ["steamer"]
            assert (port.title, port.heading) == ("Tea server settings", "Tea server settings > Ports")
            assert (await stored(corpus, port))[port.row_start : port.row_end] == "| steamer | 4081 | UDP |"

    asyncio.run(work())


def test_filters_and_bad_questions(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, LocalSite(dict(PAGES))) as corpus:
            assert await lookup(corpus, "which port does the steamer use") == []
            for path in PAGES:
                await corpus.add(SITE + path)
            elsewhere = ScopeFilter(url_prefixes=[f"{SITE}/kinds"])
            assert {one.url for one in await lookup(corpus, "port of the steamer queue", elsewhere)} == {
                f"{SITE}/kinds"
            }
            only_tables = await lookup(corpus, "default queue_time", ScopeFilter(flags=["table"]))
            assert {one.kind for one in only_tables} <= {"table"}
            assert await lookup(corpus, "port of the steamer", ScopeFilter(flags=["code"])) == []
            assert await lookup(corpus, "of the", k=2) == []
            assert len(await lookup(corpus, "port of the steamer", k=1)) == 1
            for question, filters, k in (
                ("", EVERYTHING, 5),
                ("port", EVERYTHING, 0),
                ("port", ScopeFilter(sources=["nowhere.example"]), 5),
            ):
                with pytest.raises(InvalidInputError):
                    await lookup(corpus, question, filters, k=k)

    asyncio.run(work())
