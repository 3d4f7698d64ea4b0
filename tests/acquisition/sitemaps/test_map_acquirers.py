"""Site maps of a frozen site, through Firecrawl, and past it."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from tests.acquisition.firecrawl_server import KEY, firecrawl
from tests.acquisition.local_server import resolver
from tests.acquisition.served_map import inventory, urlset
from tests.conftest import FROZEN_SITE
from tests.provider_server import Reply
from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.acquisition.firecrawl import acquirer as module
from webrag_core.acquisition.firecrawl.acquirer import FirecrawlAcquirer
from webrag_core.acquisition.firecrawl.fallback import FallbackAcquirer
from webrag_core.acquisition.gate import NetworkGate
from webrag_core.acquisition.sitemaps.models import MapEntry, MapFile, SiteMap
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import load_settings
from webrag_core.errors import FetchError, Reason

HOST = "https://docs.example"
REFUSED = Reply({"success": False, "error": "pay"}, status=402)


def archive(folder: Path, records: dict[str, tuple[str, bytes]]) -> Acquirer:
    path = folder / "site.warc.gz"
    with path.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        for url, (media_type, body) in records.items():
            http = StatusAndHeaders("200 OK", [("Content-Type", media_type)], protocol="HTTP/1.1")
            writer.write_record(
                writer.create_warc_record(f"{HOST}{url}", "response", payload=io.BytesIO(body), http_headers=http)
            )
    return WarcAcquirer(path)


PAGES = {
    "/": ("text/html", b'<link rel="alternate" type="application/rss+xml" href="/feed"><p>home'),
    "/robots.txt": ("text/plain", f"Sitemap: {HOST}/maps/m.xml\n".encode()),
    "/maps/m.xml": ("application/xml", urlset(f"{HOST}/a", lastmod="2024").encode()),
    "/objects.inv": ("application/octet-stream", inventory("a std:doc -1 a Page A")),
    "/feed": (
        "application/rss+xml",
        f"<rss><channel><item><title>B</title><link>{HOST}/b</link></item></channel></rss>".encode(),
    ),
}


def test_a_frozen_site_with_a_map(tmp_path: Path) -> None:
    found = asyncio.run(archive(tmp_path, PAGES).site_map(f"{HOST}/"))
    assert [(entry.url, entry.title, entry.listed_in) for entry in found.entries] == [
        (f"{HOST}/a", "Page A", "sitemap"),
        (f"{HOST}/b", "B", "feed"),
    ]
    assert found.entries[0].last_modified is not None
    read = {file.url.removeprefix(HOST): file.bytes_raw for file in found.files if file.outcome == "read"}
    assert read == {url: len(body) for url, (_, body) in PAGES.items()}
    assert found.warnings == ()


def test_a_frozen_site_without_a_map(tmp_path: Path) -> None:
    found = asyncio.run(archive(tmp_path, {"/": ("text/html", b"<p>home")}).site_map(f"{HOST}/"))
    assert (found.entries, found.warnings) == ((), ())
    assert {file.outcome for file in found.files if file.kind != "page"} == {"missing"}


def test_the_frozen_documentation_is_mapped_by_its_inventory() -> None:
    acquirer = WarcAcquirer(FROZEN_SITE)
    found = asyncio.run(acquirer.site_map("https://docs.python.org/3.11/library/json.html"))
    titles = {entry.url: entry.title for entry in found.entries}
    assert titles["https://docs.python.org/3.11/library/json.html"] == "json — JSON encoder and decoder"
    assert (len(titles), sum(title is None for title in titles.values()), found.warnings) == (500, 0, ())
    assert [(file.url, file.entries) for file in found.files if file.kind == "inventory" and file.entries] == [
        ("https://docs.python.org/3.11/objects.inv", 500)
    ]


def through(url: str) -> FirecrawlAcquirer:
    settings = load_settings(firecrawl_api_url=url, firecrawl_api_key=KEY, firecrawl_timeout=20.0)
    return FirecrawlAcquirer(settings, NetworkGate(settings, resolver=resolver({"docs.example": ["93.184.216.34"]})))


def links(*found: Any) -> dict[str, Any]:
    return {"success": True, "links": list(found)}


LINKS = links(
    {"url": f"{HOST}/b", "title": "B  page", "description": "x" * 3_000},
    {"url": "http://docs.example/a"},
    {"url": "https://www.example/elsewhere", "title": "No"},
)


def test_firecrawls_map() -> None:
    with firecrawl(LINKS) as server:
        found = asyncio.run(through(server.url).site_map(f"{HOST}/guide/"))
    assert found.entries == (
        MapEntry(f"{HOST}/a", listed_in="firecrawl"),
        MapEntry(f"{HOST}/b", "B page", "x" * 2_000, listed_in="firecrawl"),
    )
    assert found.files == (MapFile(f"{HOST}/guide/", "firecrawl", "read", entries=2),)
    assert found.warnings == ("sitemap: 1 URLs of other hosts were dropped (www.example)",)
    assert server.asked == ["POST /v2/map"]


def test_a_map_that_firecrawl_cut_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAP_LIMIT", 2)
    with firecrawl(LINKS) as server:
        found = asyncio.run(through(server.url).site_map(f"{HOST}/"))
    assert f"{HOST}/: Firecrawl's map is cut after 2 URLs" in found.warnings


def test_firecrawl_in_trouble_is_an_empty_map() -> None:
    with firecrawl(REFUSED) as server:
        found = asyncio.run(through(server.url).site_map(f"{HOST}/"))
    assert found == SiteMap(
        files=(MapFile(f"{HOST}/", "firecrawl", "failed", Reason.PROVIDER_FAILED),),
        warnings=(f"{HOST}/: Firecrawl: HTTP 402 (no credits left)",),
    )


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (REFUSED, f"{HOST}/: Firecrawl: HTTP 402 (no credits left)"),
        (links(), f"{HOST}/: Firecrawl lists no page of this host"),
    ],
)
def test_where_firecrawl_has_no_map_the_sites_own_is_read(tmp_path: Path, answer: Any, problem: str) -> None:
    with firecrawl(answer) as server:
        found = asyncio.run(FallbackAcquirer(through(server.url), archive(tmp_path, PAGES)).site_map(f"{HOST}/"))
    assert [entry.url for entry in found.entries] == [f"{HOST}/a", f"{HOST}/b"]
    assert found.warnings == (f"{problem}; the site's own sitemaps are read instead",)
    assert [file.kind for file in found.files][:2] == ["firecrawl", "robots"]


def test_firecrawls_map_is_enough(tmp_path: Path) -> None:
    with firecrawl(LINKS) as server:
        found = asyncio.run(FallbackAcquirer(through(server.url), archive(tmp_path, PAGES)).site_map(f"{HOST}/"))
    assert {entry.listed_in for entry in found.entries} == {"firecrawl"}
    assert [file.kind for file in found.files] == ["firecrawl"]


def test_what_is_no_url_has_no_map(tmp_path: Path) -> None:
    with firecrawl(LINKS) as server:
        for acquirer in (through(server.url), archive(tmp_path, PAGES)):
            with pytest.raises(FetchError) as caught:
                asyncio.run(acquirer.site_map("nothing"))
            assert caught.value.reason is Reason.INVALID_URL
