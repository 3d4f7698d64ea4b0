"""Scopes: what each filter lets through, alone and together, and that the kept counts are those of the chunks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import LiteralString

import pytest
from psycopg import AsyncConnection

from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.request import DateRange, ScopeFilter
from webrag_core.retrieval.scope import Scope, ScopeSize, list_documents, resolve_scope, scope_size, source_scope

TABLE = "</p><table><tr><th>Part</th><th>Price</th></tr><tr><td>Wing</td><td>12</td></tr></table><p>"
CODE = "</p><pre><code>fly(high=True)</code></pre><p>"
PAGES = {
    "/plain": page("Plain", "The heron stands in the water and waits for fish to come by."),
    "/table": page("Prices", f"What the parts of a glider cost is listed here. {TABLE} Delivery is free of charge."),
    "/code": page("Flying", f"The library is called like this from any program. {CODE} It returns when it has landed."),
}
EARLY, LATE = datetime(2023, 5, 1, tzinfo=UTC), datetime(2024, 5, 1, tzinfo=UTC)


def scoped(settings: Settings, work: Callable[[Corpus, dict[str, int]], Awaitable[None]]) -> None:
    """Index the pages; /plain is English of 2023, /table British English of 2024 and a PDF, /code German, undated."""

    async def body() -> None:
        async with Corpus.open(settings, LocalSite(dict(PAGES))) as corpus:
            ids = {path: (await corpus.add(SITE + path)).document_id for path in PAGES}
            async with corpus.database.connection() as connection:
                for path, language, media_type, published in (
                    ("/plain", "en", "text/html", EARLY),
                    ("/table", "en_GB", "application/pdf", LATE),
                    ("/code", "de", "text/markdown", None),
                ):
                    await connection.execute(
                        "UPDATE document_versions SET language = %s, detected_language = %s, media_type = %s,"
                        " published = %s, modified = %s"
                        " WHERE document_id = %s",
                        (language, language[:2], media_type, published, published, ids[path]),
                    )
            await work(corpus, ids)

    asyncio.run(body())


async def paths(corpus: Corpus, ids: dict[str, int], wanted: ScopeFilter) -> set[str]:
    async with corpus.database.connection() as connection:
        scope = await resolve_scope(connection, wanted)
        inside = await list_documents(connection, scope)
    names = {document: path for path, document in ids.items()}
    assert scope.depths == {}  # absent = 0
    return {names[document] for document in inside}


LET_THROUGH = [
    (ScopeFilter(), {"/plain", "/table", "/code"}),
    (ScopeFilter(sources=["site.example"]), {"/plain", "/table", "/code"}),
    (ScopeFilter(languages=["en"]), {"/plain", "/table"}),
    (ScopeFilter(languages=["EN-gb"]), {"/table"}),
    (ScopeFilter(languages=["e"]), set()),
    (ScopeFilter(languages=["%"]), set()),
    (ScopeFilter(languages=["e%", "\\"]), set()),
    (ScopeFilter(languages=["fr", "de"]), {"/code"}),
    (ScopeFilter(types=["html"]), {"/plain"}),
    (ScopeFilter(types=["pdf", "text"]), {"/table", "/code"}),
    (ScopeFilter(flags=["table"]), {"/table"}),
    (ScopeFilter(flags=["table", "code"]), {"/table", "/code"}),
    (ScopeFilter(published=DateRange(start=EARLY)), {"/plain", "/table"}),
    (ScopeFilter(published=DateRange(EARLY, LATE)), {"/plain"}),
    (ScopeFilter(modified=DateRange(end=LATE)), {"/plain"}),
    (ScopeFilter(modified=DateRange()), {"/plain", "/table"}),
    (ScopeFilter(fetched=DateRange(end=LATE + timedelta(days=36_500))), {"/plain", "/table", "/code"}),
    (ScopeFilter(published=DateRange(LATE, LATE)), set()),
    (ScopeFilter(languages=["en"], types=["pdf"], published=DateRange(start=EARLY)), {"/table"}),
    (ScopeFilter(languages=["en"], types=["text"]), set()),
    (ScopeFilter(documents=[2**40, -1, 0]), set()),
    *((ScopeFilter(**{name: []}), set()) for name in ("documents", "sources", "languages", "types", "flags")),
]


def test_what_a_filter_lets_through(settings: Settings) -> None:
    async def work(corpus: Corpus, ids: dict[str, int]) -> None:
        for wanted, expected in LET_THROUGH:
            assert await paths(corpus, ids, wanted) == expected, wanted

    scoped(settings, work)


def test_documents_and_other_fields_must_agree(settings: Settings) -> None:
    async def work(corpus: Corpus, ids: dict[str, int]) -> None:
        some = [ids["/plain"], ids["/code"]]
        assert await paths(corpus, ids, ScopeFilter(documents=some)) == {"/plain", "/code"}
        assert await paths(corpus, ids, ScopeFilter(documents=some, languages=["en"])) == {"/plain"}

    scoped(settings, work)


REFUSED = [
    (ScopeFilter(sources=["elsewhere.example"]), "no such source: elsewhere.example"),
    (ScopeFilter(sources=["nul\0"]), "source contains a NUL"),
    (ScopeFilter(languages=["\udcff"]), "language contains a NUL"),
    (ScopeFilter(flags=[" "]), "flag is empty"),
]


def test_what_no_scope_can_be_made_of(settings: Settings) -> None:
    async def work(corpus: Corpus, ids: dict[str, int]) -> None:
        for wanted, message in REFUSED:
            with pytest.raises(InvalidInputError, match=message):
                await paths(corpus, ids, wanted)

    scoped(settings, work)


_COUNTED: LiteralString = (
    "SELECT count(DISTINCT d.id), count(*) FILTER (WHERE c.level = 'parent'),"
    " count(*) FILTER (WHERE c.level = 'child'), coalesce(sum(c.token_count) FILTER (WHERE c.level = 'parent'), 0)"
    " FROM documents d JOIN chunks c ON c.version_id = d.current_version"
    " WHERE d.id = ANY(%s) AND (%s = '{}'::text[] OR c.flags && %s)"
)


async def check_sizes(connection: AsyncConnection, documents: tuple[int, ...]) -> ScopeSize:
    """The kept sizes, which must be the counted ones, with and without flags."""
    for flags in ((), ("table",), ("code", "table"), ("math",)):
        scope = Scope(documents, {}, flags)
        cursor = await connection.execute(_COUNTED, (list(documents), list(flags), list(flags)))
        row = await cursor.fetchone()
        assert row is not None
        pages, parents, children, tokens = map(int, row)
        assert await scope_size(connection, scope) == ScopeSize(pages, parents, children, tokens, ("en",)), flags
    return await scope_size(connection, Scope(documents, {}))


async def check_sources(corpus: Corpus) -> None:
    """What is kept of every source, and of everything, must be what its documents add up to."""
    async with corpus.database.connection() as connection:
        cursor = await connection.execute(
            "SELECT s.id, array(SELECT d.id FROM documents d WHERE d.source_id = s.id) FROM sources s"
        )
        owned = await cursor.fetchall()
        everything = Scope(tuple(document for _, documents in owned for document in documents), {})
        for kept, listed in (
            (Scope(None, {}), everything),
            *((Scope(None, {}, source_ids=(source,)), Scope(tuple(documents), {})) for source, documents in owned),
        ):
            one, other = [await scope_size(connection, scope) for scope in (kept, listed)]
            assert (one, one.indexes) == (other, other.indexes)
        cursor = await connection.execute(
            "SELECT count(*) FROM source_sizes WHERE source_id NOT IN (SELECT id FROM sources)"
        )
        assert await cursor.fetchone() == (0,)


def test_kept_sizes_follow_every_change_of_a_page(settings: Settings) -> None:
    async def body() -> None:
        site = LocalSite(dict(PAGES))
        async with Corpus.open(settings, site) as corpus:
            ids = [(await corpus.add(SITE + path)).document_id for path in PAGES]
            everything = (*ids, 4711)
            async with corpus.database.connection() as connection:
                first = await check_sizes(connection, everything)
                assert first.documents == 3
                assert (await check_sizes(connection, ())).documents == 0
            site.pages["/plain"] = page("Plain", f"Nothing is as it was. {TABLE} " + "Herons sleep and fish. " * 400)
            await corpus.add(f"{SITE}/plain", refresh=True)
            await check_sources(corpus)
            async with corpus.database.connection() as connection:
                second = await check_sizes(connection, everything)
                assert second.tokens > first.tokens + 1000
        finer = settings.model_copy(update={"child_target_tokens": 64, "parent_max_tokens": 200})
        async with Corpus.open(finer, site) as corpus:
            for path in PAGES:
                await corpus.add(SITE + path, refresh=True)
            async with corpus.database.connection() as connection:
                third = await check_sizes(connection, everything)
                assert third.children > second.children
                await connection.execute("UPDATE documents SET current_version = NULL, status = 'queued'")
                assert (await check_sizes(connection, everything)).documents == 0
            await check_sources(corpus)

    asyncio.run(body())


def test_what_sources_hold_is_kept_whatever_happens_to_their_pages(settings: Settings) -> None:
    async def work(corpus: Corpus, ids: dict[str, int]) -> None:
        await check_sources(corpus)
        async with corpus.database.connection() as connection:
            for statement in (
                "INSERT INTO sources (key) VALUES ('a.example'), ('b.example')",
                "UPDATE documents SET source_id = (SELECT id FROM sources WHERE key = 'a.example')",
                "UPDATE documents SET source_id = source_id + 1 WHERE id < (SELECT max(id) FROM documents)",
                "UPDATE document_sizes SET tokens = tokens + 1",
                "UPDATE lexical_documents SET length = length + 1",
                "DELETE FROM documents WHERE id = (SELECT min(id) FROM documents)",
                "DELETE FROM sources WHERE key = 'b.example'",
            ):
                await connection.execute(statement)
                await check_sources(corpus)
            cursor = await connection.execute("SELECT count(*) FROM documents")
            assert await cursor.fetchone() == (1,)

    scoped(settings, work)


def test_nobody_waits_for_the_sizes_of_a_source(settings: Settings) -> None:
    async def work(corpus: Corpus, ids: dict[str, int]) -> None:
        async def write(path: str, started: asyncio.Event, go_on: asyncio.Event) -> None:
            async with corpus.database.transaction() as connection:
                await connection.execute(
                    "UPDATE document_sizes SET tokens = tokens + 1 WHERE document_id = %s", (ids[path],)
                )
                started.set()
                await go_on.wait()

        begun, last = [asyncio.Event() for _ in PAGES], asyncio.Event()
        writers = [asyncio.create_task(write(path, event, last)) for path, event in zip(PAGES, begun, strict=True)]
        async with asyncio.timeout(10):  # all of them are in the middle of it at once
            for event in begun:
                await event.wait()
        last.set()
        await asyncio.gather(*writers)
        await check_sources(corpus)

    scoped(settings, work)


def test_sources_and_everything_stay_conditions(settings: Settings) -> None:
    async def work(corpus: Corpus, ids: dict[str, int]) -> None:
        async with corpus.database.connection() as connection:
            assert (await source_scope(connection, None)).is_everything
            assert await source_scope(connection, ["site.example"]) == Scope(None, {}, source_ids=(1,))
            assert (await source_scope(connection, [])).is_empty
            with pytest.raises(ValueError, match="by id"):
                Scope(None, {}, ("code",))

    scoped(settings, work)
