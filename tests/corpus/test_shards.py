"""Shards: every page is in exactly one, and keys say which."""

from __future__ import annotations

import asyncio

import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from webrag_core.config import Settings
from webrag_core.corpus.sources import Shard, attach_source, key_of, keys_of, shard_keys, split_key
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus

URLS = [f"{HOME}page-{number}" for number in range(60)]


def test_a_whole_source_has_its_own_key() -> None:
    assert shard_keys("docs.example", 1) == ["docs.example"]
    assert split_key("docs.example:8080") == ("docs.example:8080", Shard())
    assert keys_of([("a.example", 1), ("b.example", 2)]) == ["a.example", "b.example~00of02", "b.example~01of02"]


def test_every_url_is_in_exactly_one_part_and_parts_are_alike() -> None:
    parts = [Shard(index, 4) for index in range(4)]
    counts = [sum(part.holds(url) for url in URLS) for part in parts]
    assert sum(counts) == len(URLS)
    assert min(counts) >= 6
    for url in URLS:
        key = key_of("docs.example", 4, url)
        assert split_key(key)[1].holds(url)


def test_a_share_is_rounded_up() -> None:
    assert [Shard(0, 3).share(limit) for limit in (0, 1, 9, 10)] == [0, 1, 3, 4]


def test_a_part_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="a part that is not there"):
        split_key("docs.example~08of08")


def test_refreshes_of_all_parts_take_in_every_page_once(settings: Settings) -> None:
    async def work() -> None:
        links = "".join(f'<a href="{url}">page {url}</a> ' for url in URLS[:12])
        pages = {url: html(url, f"This is what {url} has to say to its readers today.") for url in URLS[:12]}
        site = ServedPages({HOME: html("Home", f"All the pages: {links}"), **pages})
        async with Corpus.open(settings, site) as corpus:
            async with corpus.database.connection() as connection:
                await attach_source(connection, HOME, 100)
            for _ in range(2):  # a part that comes before the home page's finds its pages the next time
                for index in range(3):
                    await corpus.refresher().run("example.org", shard=Shard(index, 3), due_only=True)
            async with corpus.database.connection() as connection:
                cursor = await connection.execute("SELECT count(*) FROM documents WHERE status = 'ready'")
                assert await cursor.fetchone() == (13,)
                cursor = await connection.execute("SELECT url FROM fetch_log GROUP BY url HAVING count(*) > 1")
                assert await cursor.fetchall() == []

    asyncio.run(work())
