"""Dates that no page can have: the page is kept without them, and search and refresh go on."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

import psycopg
import pytest
from psycopg import sql

from tests.acquisition.served_pages import HOME, ServedPages
from tests.conftest import in_time_zone
from tests.corpus.corpora import rows
from webrag_core.acquisition.sitemaps.files import Scope, read_map_file
from webrag_core.acquisition.sitemaps.models import MapEntry
from webrag_core.config import Settings
from webrag_core.corpus.sources import attach_source
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.scope import source_scope
from webrag_core.retrieval.searcher import Searcher

PAGE = f"{HOME}page"
WHEN = "SELECT published, modified FROM document_versions"


@pytest.fixture
def zoned(settings: Settings, time_zone: str, database_url: str) -> Settings:
    """A database whose sessions are in the time zone of the machine, unless they ask for another."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        name = sql.Identifier(connection.info.dbname)
        connection.execute(sql.SQL("ALTER DATABASE {} SET timezone TO {}").format(name, sql.Literal(time_zone)))
    return settings


def dated(date: str) -> str:
    head = f'<meta property="article:published_time" content="{date}"><meta name="last-modified" content="{date}">'
    return f"<html><head>{head}</head><body><main><p>The blue whale eats krill.</p></main></body></html>"


def listed(date: str) -> MapEntry:
    """The page as a sitemap lists it."""
    body = f"<urlset><url><loc>{PAGE}</loc><lastmod>{date}</lastmod></url></urlset>".encode()
    file = read_map_file(body, f"{HOME}sitemap.xml", "", Scope.of(HOME), time.monotonic() + 60)
    [(url, entry)] = file.pages
    return MapEntry(url, last_modified=entry.last_modified)


async def use(corpus: Corpus, settings: Settings) -> None:
    """Search the corpus and refresh its source."""
    indexer = corpus.indexer
    searcher = Searcher(corpus.database, indexer.embedder, await indexer.model_id(), settings)
    async with corpus.database.connection() as connection:
        scope = await source_scope(connection, ["example.org"])
    assert [chunk.source_url for chunk in (await searcher.retrieve("krill", scope)).chunks] == [PAGE]
    assert (await corpus.refresher().run("example.org")).counts.unchanged == 1


@in_time_zone
@pytest.mark.parametrize("date", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00", "9999-12-31T23:59:59Z", "9999-12-31"])
def test_a_page_with_an_impossible_date_is_kept_without_it(zoned: Settings, date: str) -> None:
    async def run() -> None:
        site = ServedPages({PAGE: dated(date)}, entries=[listed(date)])
        async with Corpus.open(zoned, site) as corpus:
            async with corpus.database.connection() as connection:
                await attach_source(connection, HOME, 10)
            assert (await corpus.add(PAGE)).outcome == "fetched"
            await use(corpus, zoned)
            assert await rows(corpus.database, WHEN) == [(None, None)]
            assert await rows(corpus.database, "SELECT last_modified FROM site_map_pages") == [(None,)]

    asyncio.run(run())


@in_time_zone
def test_a_date_without_a_zone_is_the_same_moment_everywhere(zoned: Settings) -> None:
    async def run() -> None:
        site = ServedPages({PAGE: dated("2024-05-17")}, entries=[listed("2024-05-17")])
        async with Corpus.open(zoned, site) as corpus:
            async with corpus.database.connection() as connection:
                await attach_source(connection, HOME, 10)
            await corpus.add(PAGE)
            await use(corpus, zoned)
            moment = datetime(2024, 5, 17, tzinfo=UTC)
            assert await rows(corpus.database, WHEN) == [(moment, moment)]
            [(last_modified,)] = await rows(corpus.database, "SELECT last_modified FROM site_map_pages")
            assert (last_modified, last_modified.utcoffset()) == (moment, moment.utcoffset())

    asyncio.run(run())
