"""Pages of a web archive by address and date: a local server speaks as an archive does, over the real gate."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.acquisition.local_server import Page, Site, gate_to, redirect, reply, serving
from tests.corpus.corpora import broken_rules, rows
from tests.local_site import LocalSite
from webrag_core.acquisition.http import HttpAcquirer
from webrag_core.acquisition.memento.acquirer import MementoAcquirer
from webrag_core.config import Settings
from webrag_core.errors import FetchError, InvalidInputError
from webrag_core.history.as_of import AsOf
from webrag_core.history.document_apis.memento import MementoApi
from webrag_core.history.document_apis.opening import open_document_apis
from webrag_core.indexing.pipeline import Corpus

KINDS, HANGS, HTML, GONE, BROKEN = (
    f"https://tea.example/{name}" for name in ("kinds", "hangs", "html", "gone", "broken")
)
MADE = "Thu, 21 Mar 2019 08:05:01 GMT"
COUNTS = "SELECT (SELECT count(*) FROM document_versions), (SELECT count(*) FROM documents)"
Work = Callable[[MementoApi, Corpus, Site], Awaitable[None]]


def copy(text: str, made: str = MADE) -> bytes:
    html = f"<!doctype html><title>Kinds of tea</title><p>{text}, said the board of tea on that day.</p>"
    links = f'Link: </map>; rel="timemap"; type="application/link-format", <{KINDS}>; rel="original"'
    return reply(html.encode(), "Content-Type: text/html", f"Memento-Datetime: {made}", links)


async def hang(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3_600)


ARCHIVE: dict[str, Page] = {
    "/robots.txt": reply(b"", status="404 Not Found"),
    f"/gate/{KINDS}": redirect("/copy"),
    "/copy": copy("There were three kinds of tea"),
    "/map": reply(
        f'<{KINDS}>; rel="original",\n</copy>; rel="memento"; datetime="{MADE}",\n'
        f'</newer>; rel="memento"; datetime="Fri, 01 Jan 2021 00:00:00 GMT"'.encode(),
        "Content-Type: application/link-format",
    ),
    f"/gate/{HANGS}": hang,
    f"/gate/{HTML}": reply(b"<p>Please choose a year of this page.</p>", "Content-Type: text/html"),
    f"/gate/{GONE}": reply(b"", status="404 Not Found"),
    f"/gate/{BROKEN}": reply(b"", status="503 Busy"),
}


def asking(settings: Settings, work: Work) -> None:
    async def ask() -> None:
        async with serving(ARCHIVE) as site, Corpus.open(settings, LocalSite({})) as corpus:
            gate = gate_to(f"127.0.0.1:{site.port}", webrag_fetch_timeout=5.0)
            archive = MementoAcquirer(HttpAcquirer(gate), f"http://127.0.0.1:{site.port}/gate")
            await work(MementoApi(corpus, archive), corpus, site)
            assert await broken_rules(corpus.database) == set()
            await archive.aclose()

    asyncio.run(ask())


def test_a_copy_is_stored_once_and_then_known(settings: Settings) -> None:
    async def work(api: MementoApi, corpus: Corpus, site: Site) -> None:
        (first,) = await api.fetch([KINDS], AsOf.parse("2019-06"))
        assert (first.status, first.url, first.certainty) == ("stored", KINDS, "between")
        ((text, sha256),) = await rows(
            corpus.database, "SELECT markdown, sha256 FROM document_versions WHERE id = %s", first.version_id
        )
        assert "three kinds" in text[first.char_start : first.char_end]
        assert sha256 == first.version_sha256
        before = await rows(corpus.database, COUNTS)
        (again,) = await api.fetch([KINDS], AsOf.parse("2019-06"))
        assert (again.status, again.version_id) == ("already_stored", first.version_id)
        asked = len(site.requests)
        (certain,) = await api.fetch([KINDS], AsOf.parse("2019-03-21"))
        assert (certain.status, certain.certainty) == ("already_stored", "certain")
        assert len(site.requests) == asked  # the day is known: nobody is asked
        (now,) = await api.fetch([KINDS])
        assert (now.status, now.version_id) == ("already_stored", first.version_id)
        assert await rows(corpus.database, COUNTS) == before
        assert [one.url for one in await api.search_titles("kinds TEA")] == [KINDS]
        assert await api.search_titles("kinds of coffee") == []
        assert await api.search_titles("%") == []

    asking(settings, work)


def test_dates_outside_all_copies(settings: Settings) -> None:
    async def work(api: MementoApi, corpus: Corpus, site: Site) -> None:
        (early,) = await api.fetch([KINDS], AsOf.parse("2001"))
        assert (early.status, early.outside, early.version_id) == ("no_version_at", "unknown", None)
        assert early.nearest_version_id is not None  # stored all the same
        (future,) = await api.fetch([KINDS], AsOf.parse("2999-01-01"))
        assert (future.status, future.outside) == ("no_version_at", "unknown")

    asking(settings, work)


@pytest.mark.slow
def test_one_bad_identifier_spoils_no_batch(settings: Settings) -> None:
    async def work(api: MementoApi, corpus: Corpus, site: Site) -> None:
        batch = ["no address", "", "\0", "ftp://tea.example/", HANGS, HTML, GONE, BROKEN, KINDS, KINDS]
        replies = await api.fetch(batch, AsOf.parse("2020"))
        assert [one.identifier for one in replies] == batch
        told = {one.identifier: (one.status, one.code, one.transient) for one in replies}
        for malformed in batch[:4]:
            assert told[malformed] == ("failed", "invalid_url", False)
        assert told[HANGS] == ("failed", "timeout", True)
        assert told[HTML] == ("failed", "bad_response", True)
        assert told[BROKEN][:2] == ("failed", "provider_failed")
        assert told[GONE] == ("not_found", None, False)
        assert told[KINDS][0] == "stored"
        assert all(one.note for one in replies)

    asking(settings, work)


def test_a_thousand_identifiers(settings: Settings) -> None:
    async def work(api: MementoApi, corpus: Corpus, site: Site) -> None:
        replies = await api.fetch([f"nonsense {number}" for number in range(1_000)])
        assert {one.status for one in replies} == {"failed"}
        with pytest.raises(InvalidInputError, match="at most 1,000"):
            await api.fetch(["nonsense"] * 1_001)

    asking(settings, work)


def test_two_dates_at_once_are_not_mixed_up(settings: Settings) -> None:
    async def work(api: MementoApi, corpus: Corpus, site: Site) -> None:
        await asyncio.gather(*(api.fetch([KINDS], AsOf.parse(f"{year}-06-01T00:00:00")) for year in (2018, 2020)))
        sent = {head["accept-datetime"][-17:-13] for path, head in site.requests if path == f"/gate/{KINDS}"}
        assert sent == {"2018", "2020"}

    asking(settings, work)


def test_the_archive_lists_its_copies(settings: Settings) -> None:
    async def work(api: MementoApi, corpus: Corpus, site: Site) -> None:
        copies = await api.versions(KINDS)
        assert [one.start.year for one in copies if one.start] == [2019, 2021]
        assert {one.version_id for one in copies} == {None}
        for identifier in ("no address", BROKEN):
            with pytest.raises(FetchError):
                await api.versions(identifier)
        with pytest.raises(InvalidInputError):
            await api.search_titles(" ")

    asking(settings, work)


def test_the_archive_is_off_until_it_is_configured(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, LocalSite({})) as corpus, open_document_apis(corpus) as apis:
            assert set(apis) == {"legal"}
        chosen = settings.model_copy(update={"memento_timegate": "https://archive.example/gate/"})
        async with Corpus.open(chosen, LocalSite({})) as corpus, open_document_apis(corpus) as apis:
            assert {name: api.name for name, api in apis.items()} == {"legal": "legal", "memento": "memento"}

    asyncio.run(work())
