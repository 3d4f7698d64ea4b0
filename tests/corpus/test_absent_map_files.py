"""Sitemaps and inventories that do not exist are not requested at every check of a source."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from tests.acquisition.local_server import reply, serving
from tests.acquisition.served_map import ABSENT, urlset
from tests.acquisition.served_pages import html
from webrag_core.acquisition.gate import NetworkGate
from webrag_core.acquisition.http import HttpAcquirer
from webrag_core.acquisition.politeness import HostQueues
from webrag_core.acquisition.sitemaps.models import FileKind, MapBody
from webrag_core.acquisition.sitemaps.reader import read_site_map
from webrag_core.config import Settings
from webrag_core.corpus import sources
from webrag_core.corpus.watch import watch_source
from webrag_core.errors import FetchError, Reason
from webrag_core.indexing.pipeline import Corpus


def test_absent_files_are_requested_again_after_seven_days(settings: Settings) -> None:
    async def body() -> None:
        async with serving({}) as site:
            origin = f"http://127.0.0.1:{site.port}"
            start = f"{origin}/docs/guide/"
            site.pages = defaultdict(
                lambda: ABSENT,
                {
                    "/docs/guide/": reply(html("Guide", "This guide says what there is to say.").encode()),
                    "/sitemap.xml": reply(urlset(start).encode()),
                },
            )
            live = settings.model_copy(update={"webrag_warc": None, "webrag_allow_hosts": f"127.0.0.1:{site.port}"})
            acquirer = HttpAcquirer(NetworkGate(live), hosts=HostQueues(2, 5.0))
            async with Corpus.open(live, acquirer) as corpus:
                async with corpus.database.connection() as connection:
                    key = await sources.attach_source(connection, start, 10)
                await corpus.add(start)

                async def requested() -> set[str]:
                    site.requests.clear()
                    async with corpus.database.connection() as connection:
                        source = await sources.find_source(connection, key)
                    await watch_source(corpus.database, acquirer, live, source)
                    return {path for path, _ in site.requests}

                folders = ("/docs/guide/", "/docs/")
                names = ("objects.inv", "sitemap.xml", "sitemap_index.xml")
                guesses = {folder + name for folder in folders for name in names}
                assert guesses < await requested()
                second = await requested()
                assert not guesses & second
                assert "/sitemap.xml" in second
                async with corpus.database.connection() as connection:
                    await connection.execute("UPDATE absent_map_files SET requested_at = now() - interval '7 days'")
                assert guesses < await requested()

    asyncio.run(body())


def test_an_absent_file_is_requested_when_another_file_names_it() -> None:
    requested: list[str] = []

    async def get(url: str, kind: FileKind) -> MapBody:
        requested.append(url)
        if kind == "robots":
            return MapBody(url, b"Sitemap: https://h.example/sitemap.xml", "text/plain", 40)
        raise FetchError(Reason.NOT_FOUND, "the page does not exist", status=404)

    absent = {"https://h.example/sitemap.xml", "https://h.example/objects.inv"}
    asyncio.run(read_site_map("https://h.example/", get, html="", absent=absent))
    names = ("robots.txt", "sitemap.xml", "sitemap_index.xml", "llms.txt")
    assert requested == [f"https://h.example/{name}" for name in names]


def test_a_start_page_without_a_map_or_validators_is_compared_at_every_look(settings: Settings) -> None:
    async def body() -> None:
        async with serving({}) as site:
            start = f"http://127.0.0.1:{site.port}/"

            def says(words: str) -> bytes:
                return reply(html("News", f"What is new here today: {words}, and nothing else.").encode())

            site.pages = defaultdict(lambda: ABSENT, {"/": says("tea")})
            live = settings.model_copy(update={"webrag_warc": None, "webrag_allow_hosts": f"127.0.0.1:{site.port}"})
            acquirer = HttpAcquirer(NetworkGate(live), hosts=HostQueues(2, 5.0))
            async with Corpus.open(live, acquirer) as corpus:
                async with corpus.database.connection() as connection:
                    key = await sources.attach_source(connection, start, 10)
                await corpus.add(start)

                async def flags() -> list[tuple[str, str]]:
                    site.requests.clear()
                    async with corpus.database.connection() as connection:
                        source = await sources.find_source(connection, key)
                    result = await watch_source(corpus.database, acquirer, live, source)
                    return [(flag.url, flag.signal) for flag in result.flags]

                assert await flags() == []
                assert await flags() == []
                assert [path for path, _ in site.requests] == ["/"], "no map is probed for again"
                site.pages["/"] = says("coffee")
                assert await flags() == [(start, "text")]
                assert [path for path, _ in site.requests] == ["/"]
                assert (await corpus.refresher().run(key, due_only=True)).changed == (start,)
                assert await flags() == []

    asyncio.run(body())
