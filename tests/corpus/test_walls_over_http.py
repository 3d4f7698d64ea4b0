"""Walls and notices from a server, with any status: a good text stays, and the reason is told."""

from __future__ import annotations

import asyncio

import pytest

from tests.acquisition.local_server import reply, serving
from tests.acquisition.served_pages import html
from tests.conversion.wall_pages import MORE_WALLS, WALLS, WallPage
from tests.corpus.corpora import rows
from webrag_core.config import Settings
from webrag_core.errors import FetchError, Reason
from webrag_core.indexing.pipeline import Corpus

PAGES: dict[str, WallPage] = {**WALLS, **{name: MORE_WALLS[name] for name in ("wikimedia", "nginx 403", "kasada")}}


def sent(page: WallPage) -> bytes:
    headers = [f"content-type: {page.media_type}", *(f"{name}: {value}" for name, value in page.headers.items())]
    return reply(page.body.encode(), *headers, status=f"{page.status} So")


def good(number: int) -> bytes:
    body = html(f"Lamp {number}", f"The lamp of hall {number} costs {number} EUR and is lit by hand each evening.")
    return reply(body.encode(), "content-type: text/html")


def test_a_wall_with_any_status_replaces_no_text(settings: Settings) -> None:
    async def run() -> None:
        places = {f"/{number}": page for number, page in enumerate(PAGES.values())}
        async with serving({"/robots.txt": reply(status="404 No")}) as site:
            home = f"http://127.0.0.1:{site.port}"
            allowed = settings.model_copy(update={"webrag_warc": None, "webrag_allow_hosts": f"127.0.0.1:{site.port}"})
            async with Corpus.open(allowed) as corpus:
                for number, place in enumerate(places):
                    site.pages[place] = good(number)
                    await corpus.ingestor.ingest(home + place)
                for place, page in places.items():
                    site.pages[place] = sent(page)
                reasons = {}
                for place in places:
                    try:
                        await corpus.ingestor.ingest(home + place, refresh=True)
                    except FetchError as error:
                        reasons[place] = (error.reason.value, error.status)
                assert reasons == {place: (page.reason, page.status) for place, page in places.items()}
                [(stored,)] = await rows(corpus.database, "SELECT count(*) FROM document_versions")
                assert stored == len(places)
                missing = "SELECT count(*) FROM documents WHERE misses > 0 OR status = 'gone'"
                assert await rows(corpus.database, missing) == [(0,)]
                site.pages["/new"] = sent(WALLS["anubis"])
                with pytest.raises(FetchError) as caught:
                    await corpus.ingestor.ingest(f"{home}/new")
                assert caught.value.reason is Reason.WALL
                again = "SELECT count(*) FROM document_versions"
                assert await rows(corpus.database, again) == [(stored,)]

    asyncio.run(run())
