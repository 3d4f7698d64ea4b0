"""Sources and their sections: which source a page belongs to, when a source comes into being, and when it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules, rows
from webrag_core.config import Settings
from webrag_core.corpus.declared import Declaration, apply_declarations
from webrag_core.corpus.forget import forget
from webrag_core.corpus.refresh import PageSelection
from webrag_core.corpus.sources import (
    Source,
    attach_source,
    checked_prefix,
    detach_source,
    find_source,
    find_sources,
    list_sources,
    pause_sources,
    section_prefix,
    source_name,
)
from webrag_core.corpus.stored_pages import known_sites
from webrag_core.errors import FetchError, InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.scope import list_documents, source_scope

HOST = "example.org"
PAGES = ("", "other", "a", "a/", "a/one", "a/deep/two", "a/deep/three", "ab", "b/one", "a?page=2")


def page(word: str, *links: str) -> str:
    """A page about `word` with these links."""
    named = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    return html(word or "home", f"There is something to be said about {word} here, and this page says it. {named}")


def check(settings: Settings, work: Callable[[Corpus, ServedPages], Awaitable[None]], *stored: str) -> None:
    """Run `work` on a corpus that holds these pages of the site; all invariants hold at the end."""
    site = ServedPages({HOME + path: page(path) for path in PAGES})

    async def body() -> None:
        async with Corpus.open(settings, site) as corpus:
            for path in stored:
                await corpus.add(HOME + path)
            site.answers.clear()
            await work(corpus, site)
            assert await broken_rules(corpus.database) == set()

    asyncio.run(body())


async def attach(corpus: Corpus, *paths: str, pages: int = 50) -> list[str]:
    """Attach the sections that begin at these paths; returns their keys."""
    async with corpus.database.connection() as connection:
        return [await attach_source(connection, HOME + path, pages) for path in paths]


async def detach(corpus: Corpus, key: str) -> None:
    """Detach one source."""
    async with corpus.database.connection() as connection:
        await detach_source(connection, key)


async def held(corpus: Corpus) -> dict[str, set[str]]:
    """Paths of the documents by source; sources without any are there too."""
    listed: dict[str, set[str]] = {}
    query = "SELECT s.key, d.canonical_url FROM sources s LEFT JOIN documents d ON d.source_id = s.id ORDER BY s.key"
    for key, url in await rows(corpus.database, query):
        listed.setdefault(key, set())
        if url is not None:
            listed[key].add(url.removeprefix(HOME))
    return listed


@pytest.mark.parametrize(
    ("url", "prefix"),
    [
        ("https://example.org/", "/"),
        ("https://example.org/index.html", "/"),
        ("https://example.org/?q=1", "/"),
        ("https://docs.python.org/3", "/3/"),
        ("https://docs.python.org/3.11", "/3.11/"),
        ("https://docs.python.org/3.11/library/asyncio.html", "/3.11/library/"),
        ("https://github.com/python/", "/python/"),
        ("https://github.com/python", "/python/"),
        ("https://example.org/guide/intro", "/guide/"),
        ("https://example.org/search?q=1", "/"),
    ],
)
def test_the_section_of_a_start_page(url: str, prefix: str) -> None:
    assert section_prefix(url) == prefix


def test_a_prefix_is_spelled_as_urls_are() -> None:
    assert checked_prefix(HOME, "/Straße/../über uns/") == "/%C3%BCber%20uns/"
    for prefix in ("docs", "/docs?x", "/a...b/", "//", "/a//", "/docs~01of02/"):
        with pytest.raises(InvalidInputError):
            checked_prefix(HOME, prefix)


@pytest.mark.parametrize("name", ["example.org/a", "https://example.org/a/", " example.org/a/ "])
def test_a_name_may_be_written_as_an_address(name: str) -> None:
    assert source_name(name) == "example.org/a"


def test_a_page_belongs_to_the_section_with_the_longest_prefix(settings: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        assert await attach(corpus, "a/", "a/deep/", "b/") == [f"{HOST}/a", f"{HOST}/a/deep", f"{HOST}/b"]
        for path in PAGES:
            await corpus.add(HOME + path)
        assert await held(corpus) == {
            HOST: {"", "other", "ab"},
            f"{HOST}/a": {"a", "a/", "a/one", "a?page=2"},
            f"{HOST}/a/deep": {"a/deep/two", "a/deep/three"},
            f"{HOST}/b": {"b/one"},
        }
        async with corpus.database.connection() as connection:
            for source in await list_sources(connection):
                covered = {path for path in PAGES if source.covers(HOME + path)}
                assert covered >= (await held(corpus))[source.key], "SQL and Python agree on what a section holds"

    check(settings, work)


def test_attaching_and_detaching_a_section_moves_its_pages(settings: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        everything = {"other", "a/one", "a/deep/two"}
        assert await held(corpus) == {HOST: everything}
        await attach(corpus, "a/deep/")
        assert await held(corpus) == {HOST: {"other", "a/one"}, f"{HOST}/a/deep": {"a/deep/two"}}
        await attach(corpus, "a/")
        assert await held(corpus) == {HOST: {"other"}, f"{HOST}/a": {"a/one"}, f"{HOST}/a/deep": {"a/deep/two"}}
        await detach(corpus, f"{HOST}/a/deep")
        assert await held(corpus) == {HOST: {"other"}, f"{HOST}/a": {"a/one", "a/deep/two"}}
        await detach(corpus, f"{HOST}/a")
        assert await held(corpus) == {HOST: everything}
        with pytest.raises(InvalidInputError, match="not attached"):
            await detach(corpus, HOST)

    check(settings, work, "other", "a/one", "a/deep/two")


def test_a_host_whose_pages_all_lie_in_sections_is_no_source_of_its_own(settings: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        await attach(corpus, "a/")
        assert await held(corpus) == {f"{HOST}/a": {"a/one"}}
        await detach(corpus, f"{HOST}/a")
        assert await held(corpus) == {HOST: {"a/one"}}
        await attach(corpus, "b/")
        await detach(corpus, f"{HOST}/b")
        assert await held(corpus) == {HOST: {"a/one"}}, "a section that holds nothing leaves nothing"

    check(settings, work, "a/one")


def test_a_prefix_that_is_the_whole_host(settings: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        assert await attach(corpus, "", "a/") == [HOST, f"{HOST}/a"]
        assert await held(corpus) == {HOST: {"other"}, f"{HOST}/a": {"a/one"}}
        await detach(corpus, HOST)
        assert await held(corpus) == {HOST: {"other"}, f"{HOST}/a": {"a/one"}}, "its pages stay"
        [(limit,)] = await rows(corpus.database, "SELECT page_limit FROM sources WHERE key = %s", HOST)
        assert limit is None

    check(settings, work, "other", "a/one")


def test_sections_of_one_host_are_refreshed_apart(settings: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        site.pages[HOME + "a/"] = page("a", HOME + "a/one", HOME + "a/deep/two", HOME + "b/one", HOME + "other")
        site.pages[HOME + "a/deep/"] = page("deep", HOME + "a/deep/two", HOME + "a/one")
        await attach(corpus, "a/", "a/deep/")
        report = await corpus.refresher().run(f"{HOST}/a")
        assert set(report.changed) == {HOME + "a/", HOME + "a/one"}
        report = await corpus.refresher().run(f"{HOST}/a/deep")
        assert set(report.changed) == {HOME + "a/deep/", HOME + "a/deep/two"}
        assert await held(corpus) == {f"{HOST}/a": {"a/", "a/one"}, f"{HOST}/a/deep": {"a/deep/", "a/deep/two"}}

    check(settings, work)


def test_a_start_page_outside_the_section_names_its_pages(settings: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        site.pages[HOME + "contents"] = page("contents", HOME + "a/one", HOME + "other")
        declared = Declaration(f"{HOST}/a", HOME + "contents", "/a/", 10, "defs/a")
        async with corpus.database.transaction() as connection:
            await apply_declarations(connection, [declared])
        report = await corpus.refresher().run(f"{HOST}/a")
        assert set(report.changed) == {HOME + "contents", HOME + "a/one"}
        assert await held(corpus) == {HOST: {"contents"}, f"{HOST}/a": {"a/one"}}

    check(settings, work)


def test_files_declare_several_sections_and_may_change_them(settings: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        def declared(path: str) -> Declaration:
            return Declaration(f"{HOST}/{path}", f"{HOME}{path}/", f"/{path}/", 10, f"defs/{path}")

        async def apply(*paths: str) -> None:
            async with corpus.database.transaction() as connection:
                await apply_declarations(connection, [declared(path) for path in paths])

        await apply("a", "b")
        assert await held(corpus) == {HOST: {"other"}, f"{HOST}/a": {"a/one"}, f"{HOST}/b": {"b/one"}}
        await apply("b", "other")
        assert await held(corpus) == {HOST: {"a/one"}, f"{HOST}/b": {"b/one"}, f"{HOST}/other": {"other"}}
        with pytest.raises(InvalidInputError, match="declared in defs/b"):
            await detach(corpus, f"{HOST}/b")
        await apply()
        assert await held(corpus) == {HOST: {"other", "a/one", "b/one"}}

    check(settings, work, "other", "a/one", "b/one")


def test_the_name_of_a_host_means_all_of_its_sources(settings: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        await attach(corpus, "a/", "a/deep/")
        async with corpus.database.connection() as connection:

            async def paths(name: str) -> set[str]:
                ids = await list_documents(connection, await source_scope(connection, [name]))
                cursor = await connection.execute("SELECT canonical_url FROM documents WHERE id = ANY(%s)", (ids,))
                return {row[0].removeprefix(HOME) for row in await cursor.fetchall()}

            assert await paths(HOST) == {"other", "ab", "a/one", "a/deep/two"}
            assert await paths(f"{HOST}/a") == {"a/one", "a/deep/two"}
            assert await paths(f"{HOST}/a/deep") == {"a/deep/two"}
            with pytest.raises(InvalidInputError, match="no such source"):
                await paths(f"{HOST}/a/de")
            assert [source.key for source in await find_sources(connection, f"https://{HOST}/a/")] == [
                f"{HOST}/a",
                f"{HOST}/a/deep",
            ]
            assert await pause_sources(connection, f"{HOST}/a", paused=True) == [f"{HOST}/a", f"{HOST}/a/deep"]
            assert {s.key: s.paused for s in await list_sources(connection)} == {
                HOST: False,
                f"{HOST}/a": True,
                f"{HOST}/a/deep": True,
            }

    check(settings, work, "other", "ab", "a/one", "a/deep/two")


def test_the_outbox_names_the_sources_whose_pages_moved(settings: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        query = "SELECT s.key FROM corpus_log l JOIN sources s ON s.id = l.source_id WHERE l.id > %s ORDER BY 1"
        [(last,)] = await rows(corpus.database, "SELECT max(id) FROM corpus_log")
        await attach(corpus, "a/")
        assert await rows(corpus.database, query, last) == [(HOST,), (f"{HOST}/a",)]

    check(settings, work, "other", "a/one")


def test_pages_that_are_stored_while_a_section_is_attached_are_in_it(settings: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        for path in [f"a/{number}" for number in range(12)]:
            site.pages[HOME + path] = page(path)
        work = [corpus.add(HOME + f"a/{number}") for number in range(12)]
        await asyncio.gather(*work[:6], attach(corpus, "a/"), *work[6:])
        assert await held(corpus) == {f"{HOST}/a": {f"a/{number}" for number in range(12)}}

    check(settings, work)


def test_a_mistyped_host_is_no_source_and_its_failure_is_in_the_ledger(settings: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        for _ in range(2):
            with pytest.raises(FetchError):
                await corpus.add("https://exmaple.org/")
        assert await held(corpus) == {HOST: {"other"}}
        async with corpus.database.connection() as connection:
            assert await known_sites(connection) == [HOST]
        query = "SELECT url, outcome, reason FROM fetch_log WHERE url LIKE '%%exmaple%%'"
        assert set(await rows(corpus.database, query)) == {("https://exmaple.org/", "failed", "not_found")}
        with pytest.raises(FetchError):
            await corpus.add(HOME + "missing")
        assert await held(corpus) == {HOST: {"other", "missing"}}, "a known site is asked for the page again"

    check(settings, work, "other")


def test_a_host_whose_last_page_is_forgotten_is_no_source(settings: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        await forget(corpus.database, HOME + "other", removed_by="test")
        assert await held(corpus) == {HOST: {"a/one"}}
        await forget(corpus.database, HOME + "a/one", removed_by="test")
        assert await held(corpus) == {}

    check(settings, work, "other", "a/one")


def selection_of(page_limit: int, *known: str) -> PageSelection:
    """A selection for the whole host."""
    return PageSelection(Source(1, HOST, None, "/", page_limit, False, None, None), page_limit, known)


def test_a_selection_keeps_to_the_limit_and_takes_no_page_twice() -> None:
    selection = selection_of(3, HOME + "known")
    named = [HOME + "a/index.html", HOME + "a/", HOME + "x/" * 30, HOME + "b", HOME + "c"]
    assert selection.choose(named) == [HOME + "a/index.html", HOME + "b"]
    assert selection.choose(named) == []
    assert selection.refused(named) == {HOME + "x/" * 30: "crawler_trap", HOME + "c": "page_limit"}


class CountedUrl(str):
    """A URL that counts how often it is looked up."""

    __slots__ = ()
    looked_up = 0

    def __hash__(self) -> int:
        CountedUrl.looked_up += 1
        return super().__hash__()


@pytest.mark.slow
def test_planning_looks_at_each_of_20000_urls_a_few_times() -> None:
    named = [CountedUrl(f"{HOME}page/{'abcdefghij'[number % 10]}{number}") for number in range(20_000)]
    selection = selection_of(5_000)
    CountedUrl.looked_up = 0
    assert len(selection.choose(named)) == 5_000
    assert len(selection.refused(named)) == 15_000
    assert CountedUrl.looked_up <= 8 * len(named)  # the spellings that are remembered among them


def test_a_mistyped_source_is_answered_with_the_one_that_is_meant(settings: Settings) -> None:
    async def work(corpus: Corpus, site: ServedPages) -> None:
        (key,) = await attach(corpus, "docs/")
        async with corpus.database.connection() as connection:
            await connection.execute("UPDATE sources SET name = 'The handbook' WHERE key = %s", (key,))
            for name in (key.replace("docs", "dcos"), f"https://{key}x", "the handbok"):
                with pytest.raises(InvalidInputError, match=f"did you mean {key}\\?"):
                    await find_source(connection, name)
            with pytest.raises(InvalidInputError, match="`webrag source list` shows them"):
                await find_source(connection, "elsewhere.test")

    check(settings, work)
