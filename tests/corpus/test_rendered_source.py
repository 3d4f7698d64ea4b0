"""A source that asks for a browser: what its pages' scripts build is what is stored."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from benchmarks.security.foreign_site import CHROMIUM
from tests.acquisition.local_server import reply, serving
from tests.browsing import needs_chromium
from webrag_core.config import Settings
from webrag_core.corpus.documents import load_version
from webrag_core.corpus.sources import attach_source, find_source
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus

pytestmark = pytest.mark.alone

HTML = "content-type: text/html"
PAGE = b"""<!doctype html><title>Shop</title><div id=root></div><script>
document.getElementById('root').innerHTML = '<main><h1>Kettles</h1><p>A kettle of copper holds two litres.</p></main>';
</script>"""


@pytest.mark.slow
@needs_chromium
def test_a_refresh_stores_what_scripts_build(settings: Settings) -> None:
    async def run() -> None:
        async with serving({"/": reply(PAGE, HTML)}) as site:
            site.pages |= {path: reply(b"", status="404 Not Found") for path in ("/robots.txt", "/sitemap.xml")}
            opened = settings.model_copy(
                update={
                    "webrag_allow_hosts": f"127.0.0.1:{site.port}",
                    "webrag_browser": CHROMIUM,
                    "webrag_warc": None,
                }
            )
            async with Corpus.open(opened) as corpus:
                async with corpus.database.connection() as connection:
                    url = f"http://127.0.0.1:{site.port}/"
                    source = await find_source(connection, await attach_source(connection, url, 1, acquirer="browser"))
                async with corpus.refresher_of(source) as refresher:
                    report = await refresher.run(source.key)
                assert (report.counts.fetched, report.failed) == (1, {})
                async with corpus.database.connection() as connection:
                    cursor = await connection.execute("SELECT current_version, acquirer FROM documents")
                    row = await cursor.fetchone()
                    assert row is not None
                    version = await load_version(connection, row[0])
                assert row[1] == "browser"
                assert version is not None
                assert version.markdown == "# Kettles\n\nA kettle of copper holds two litres.\n"
                async with corpus.refresher_of(replace(source, acquirer=None)) as refresher:
                    report = await refresher.run(source.key)
                assert list(report.failed.values()) == ["needs_script"]  # and the rendered text stays

    asyncio.run(run())


def test_an_acquirer_that_cannot_be_used_is_said(settings: Settings) -> None:
    async def run() -> None:
        async with Corpus.open(
            settings.model_copy(update={"webrag_browser": "/nowhere", "webrag_warc": None})
        ) as corpus:
            async with corpus.database.connection() as connection:
                key = await attach_source(connection, "https://shop.example/", 1, acquirer="browser")
                source = await find_source(connection, key)
            async with corpus.refresher_of(source):
                raise AssertionError("there is no browser")

    with pytest.raises(InvalidInputError, match="WEBRAG_BROWSER"):
        asyncio.run(run())
