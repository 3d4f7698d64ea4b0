"""The map of a live site: which files are asked for, what is taken from them, what is left out."""

from __future__ import annotations

import asyncio
import gzip
from datetime import UTC, datetime

import pytest

from tests.acquisition.local_server import gate_to, redirect, reply
from tests.acquisition.served_map import HOST, asked_paths, index, inventory, mapped, urlset
from webrag_core.acquisition.http import HttpAcquirer
from webrag_core.acquisition.sitemaps import files as map_files
from webrag_core.acquisition.sitemaps import merge as map_merge
from webrag_core.acquisition.sitemaps import reader as map_reader
from webrag_core.acquisition.sitemaps.listing import Listed, Listing
from webrag_core.acquisition.sitemaps.models import MapEntry, SiteMap
from webrag_core.errors import FetchError, Reason
from webrag_core.result_warnings import Caution

LINKS = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
RSS = f"""<rss version="2.0"><channel><title>News</title><link>{HOST}/</link>
<item><title>Released</title><link>{HOST}/news/1</link><description>&lt;p&gt;It is &lt;b&gt;out&lt;/b&gt;.</description>
<pubDate>Tue, 05 Mar 2024 10:00:00 +0100</pubDate></item></channel></rss>"""


def urls(found: SiteMap) -> list[str]:
    return [entry.url.removeprefix(HOST) for entry in found.entries]


def test_everything_a_site_says_about_its_pages_becomes_one_map() -> None:
    pages = {
        "/robots.txt": "User-agent: *\nAllow: /\nSitemap: /maps/all.xml\n",
        "/docs/": f"<html><head>{LINKS}</head></html>",
        "/maps/all.xml": urlset(f"{HOST}/news/1", f"{HOST}/docs/b#part", f"{HOST}/docs/b", lastmod="2024-03-09"),
        "/feed.xml": RSS,
        "/docs/objects.inv": reply(inventory("b std:doc -1 b Page B", "f py:function 1 c#$ -")),
    }
    found, requests = asyncio.run(mapped(pages, "/docs/"))
    march = datetime(2024, 3, 9, tzinfo=UTC)
    assert found.entries == (
        MapEntry(f"{HOST}/docs/b", "Page B", None, march, "sitemap"),
        MapEntry(f"{HOST}/docs/c", None, None, None, "inventory"),
        MapEntry(f"{HOST}/news/1", "Released", "It is out.", march, "sitemap"),
    )
    assert found.warnings == ()
    # every request is listed, and nothing that was not asked for
    assert sorted(asked_paths(found.files)) == sorted(requests)
    sizes = {file.url.removeprefix(HOST): (file.kind, file.entries) for file in found.files if file.outcome == "read"}
    assert sizes == {
        "/robots.txt": ("robots", 0),
        "/docs/": ("page", 0),
        "/docs/objects.inv": ("inventory", 2),
        "/feed.xml": ("feed", 1),
        "/maps/all.xml": ("sitemap", 3),
    }
    assert all(file.bytes_raw > 0 for file in found.files if file.outcome == "read" and file.kind != "robots")


@pytest.mark.parametrize("obedient", [True, False])
def test_a_site_without_a_map(obedient: bool) -> None:
    found, requests = asyncio.run(mapped({}, obedient=obedient))
    assert (found.entries, found.warnings) == ((), ())
    assert requests == ["/robots.txt", "/", "/objects.inv", "/sitemap.xml", "/sitemap_index.xml", "/llms.txt"]
    assert asked_paths(found.files) == requests
    assert {(file.outcome, file.reason) for file in found.files if file.kind != "robots"} == {
        ("missing", Reason.NOT_FOUND)
    }


def test_a_site_that_answers_everything_with_a_page_has_no_map() -> None:
    anything = reply(b"<!doctype html><title>Welcome</title>", "content-type: text/html")
    found, _ = asyncio.run(mapped({"/robots.txt": "User-agent: *\nAllow: /"}, default=anything))
    assert (found.entries, found.warnings) == ((), ())
    reasons = {file.reason for file in found.files if file.kind not in ("robots", "page")}
    assert reasons == {Reason.SOFT_404}


def test_without_obedience_robots_txt_still_tells_where_the_sitemaps_are() -> None:
    pages = {"/robots.txt": f"Sitemap: {HOST}/m.txt\n", "/m.txt": f"{HOST}/a\n{HOST}/b\n"}
    found, requests = asyncio.run(mapped(pages, obedient=False))
    assert urls(found) == ["/a", "/b"]
    assert requests.count("/robots.txt") == 1
    assert [file.bytes_raw > 0 for file in found.files if file.kind == "robots"] == [True]


def test_one_bad_file_of_an_index_never_loses_the_others() -> None:
    names = ["gone", "oops", "html", "broken", "index", "bomb", "good"]
    pages = {
        "/sitemap.xml": index(*(f"{HOST}/{name}.xml" for name in names), f"{HOST}/packed.xml.gz", "not a url://"),
        "/oops.xml": reply(b"", status="500 Oops"),
        "/html.xml": "<html><p>hello</html>",
        "/broken.xml": f"<urlset><url><loc>{HOST}/kept</loc></url><url><loc>{HOST}/lo",
        "/index.xml": index(f"{HOST}/sitemap.xml", f"{HOST}/index.xml", f"{HOST}/good.xml", f"{HOST}/deep.xml"),
        "/deep.xml": urlset(f"{HOST}/deep"),
        "/bomb.xml": reply(gzip.compress(b"\0" * 60_000_000, mtime=0)),
        "/good.xml": urlset(f"{HOST}/good"),
        "/packed.xml.gz": reply(gzip.compress(urlset("/packed").encode(), mtime=0)),
    }
    found, requests = asyncio.run(mapped(pages))
    assert urls(found) == ["/deep", "/good", "/kept", "/packed"]
    assert len(requests) == len(set(requests)) == len(found.files)  # the loop ends, nothing is asked twice
    outcomes = {file.url.removeprefix(HOST): (file.outcome, file.reason) for file in found.files}
    assert outcomes["/gone.xml"] == ("missing", Reason.NOT_FOUND)
    assert outcomes["/oops.xml"] == ("failed", Reason.HTTP_STATUS)
    assert outcomes["/html.xml"] == ("failed", Reason.SOFT_404)
    assert outcomes["/bomb.xml"] == ("failed", Reason.TOO_LARGE)
    assert outcomes["/broken.xml"] == ("read", Reason.BAD_RESPONSE)
    for name in ("gone", "oops", "html", "bomb", "broken"):
        assert sum(warning.startswith(f"{HOST}/{name}.xml: ") for warning in found.warnings) == 1


def test_sitemaps_and_inventories_of_the_folders_above_a_page() -> None:
    pages = {
        "/p/v1/a/page.html": "<p>no links",
        "/p/v1/objects.inv": reply(inventory("x std:doc -1 x.html X")),
        "/p/objects.inv": reply(inventory("never std:doc -1 never.html Never")),
        "/p/sitemap.xml": urlset(f"{HOST}/p/one"),
        "/p/v1/sitemap_index.xml": index(f"{HOST}/p/v1/s.xml"),
        "/p/v1/s.xml": urlset(f"{HOST}/p/v1/two"),
    }
    found, requests = asyncio.run(mapped(pages, "/p/v1/a/page.html"))
    assert urls(found) == ["/p/one", "/p/v1/two", "/p/v1/x.html"]
    assert "/p/objects.inv" not in requests
    assert "/p/sitemap_index.xml" not in requests


def test_a_map_can_be_cut_to_a_section() -> None:
    listed = ["/docs", "/docs/", "/docs/a", "/docs2", "/docs?q", "/other/docs/"]
    found = SiteMap(tuple(MapEntry(f"https://h.example{path}") for path in listed), warnings=(Caution("w"),))
    section = found.under("https://H.example/docs#top")
    assert [entry.url.removeprefix("https://h.example") for entry in section.entries] == [*listed[:3], "/docs?q"]
    assert section.warnings == ("w",)
    assert len(found.under("https://h.example").entries) == len(listed)


def test_the_page_is_not_asked_for_when_it_is_given() -> None:
    page = '<link href=feed.xml type="application/atom+xml; charset=utf-8" rel=Alternate><link rel=sitemap href=/m>'
    atom = f'<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>T</title><link href="{HOST}/e"/></entry></feed>'
    found, requests = asyncio.run(mapped({"/d/feed.xml": atom, "/m": urlset(f"{HOST}/s")}, "/d/", html=page))
    assert urls(found) == ["/e", "/s"]
    assert "/d/" not in requests


def test_a_page_that_is_no_html_is_not_read_for_links() -> None:
    pdf = reply(b"%PDF-", "content-type: application/pdf", length=10**9)
    found, _ = asyncio.run(mapped({"/a.pdf": pdf, "/sitemap.xml": urlset(f"{HOST}/s")}, "/a.pdf"))
    assert urls(found) == ["/s"]
    assert found.warnings == ()


def test_where_the_page_really_is_counts() -> None:
    pages = {"/go": redirect("/v2/start.html"), "/v2/start.html": "<p>", "/v2/sitemap.xml": urlset("/v2/a")}
    assert urls(asyncio.run(mapped(pages, "/go"))[0]) == ["/v2/a"]


def test_a_page_that_moved_to_another_host_says_so() -> None:
    pages = {"/go": redirect("http://other.test:PORT/v2/"), "/v2/": LINKS, "/sitemap.xml": urlset("/a")}
    found, requests = asyncio.run(mapped(pages, "/go", names={"other.test": ["127.0.0.1"]}))
    assert urls(found) == ["/a"]
    assert "/feed.xml" not in requests  # that host has a map of its own
    assert any("redirects to http://other.test:PORT/v2/" in warning for warning in found.warnings)


def test_files_on_other_hosts_are_read_and_pages_on_other_hosts_are_not_taken() -> None:
    pages = {
        "/robots.txt": "User-agent: *\nAllow: /\nSitemap: http://cdn.test:PORT/map.xml\n",
        "/map.xml": index("http://cdn.test:PORT/child.xml", f"{HOST}/own.xml", "http://third.test:PORT/x.xml"),
        "/child.xml": urlset(f"{HOST}/a", "http://cdn.test:PORT/b", "https://elsewhere.test/c", "mailto:me"),
        "/own.xml": urlset(f"{HOST}/d"),
    }
    names = {"cdn.test": ["127.0.0.1"], "third.test": ["127.0.0.1"]}
    found, requests = asyncio.run(mapped(pages, names=names))
    assert urls(found) == ["/a", "/d"]
    assert "/x.xml" not in requests  # an index on one host may not send us to a third
    assert found.warnings == (
        "sitemap: 1 entries without a valid page URL were dropped",
        "sitemap: 2 URLs of other hosts were dropped (cdn.test:PORT, elsewhere.test)",
    )


def test_no_sitemap_leads_into_the_private_network() -> None:
    robots = f"User-agent: *\nAllow: /\nSitemap: http://10.0.0.7/m.xml\nSitemap: ftp://h/m\nSitemap: {HOST}/m.xml\n"
    found, _ = asyncio.run(mapped({"/robots.txt": robots, "/m.xml": urlset(f"{HOST}/a")}))
    assert urls(found) == ["/a"]
    assert [file.reason for file in found.files if "10.0.0.7" in file.url] == [Reason.BLOCKED_ADDRESS]
    assert any("10.0.0.7" in warning for warning in found.warnings)
    assert any("only http and https" in warning for warning in found.warnings)


def test_robots_txt_is_obeyed_for_map_files_too() -> None:
    robots = f"User-agent: *\nDisallow: /no/\nDisallow: /sitemap.xml\nSitemap: {HOST}/no/m.xml\n"
    pages = {"/robots.txt": robots, "/no/m.xml": urlset("/x"), "/sitemap.xml": urlset("/x")}
    found, requests = asyncio.run(mapped(pages))
    assert found.entries == ()
    assert not {"/no/m.xml", "/sitemap.xml"} & set(requests)
    assert [warning.partition(": ")[0] for warning in found.warnings] == [f"{HOST}/no/m.xml"]


def test_a_site_whose_robots_txt_cannot_be_read_is_left_alone() -> None:
    found, requests = asyncio.run(mapped({"/robots.txt": reply(b"", status="503 Later")}))
    assert requests == ["/robots.txt"]
    assert [(file.kind, file.outcome) for file in found.files] == [("robots", "failed")]
    assert len(found.warnings) == 1


def test_a_host_that_asks_to_wait_is_not_asked_again() -> None:
    slow = reply(b"", "retry-after: 3600", status="429 Slow down")
    found, requests = asyncio.run(mapped({"/": slow, "/robots.txt": "User-agent: *\nAllow: /"}))
    assert requests == ["/robots.txt", "/"]
    assert [file.reason for file in found.files] == [None, Reason.RATE_LIMITED]
    assert found.warnings


def test_the_number_of_files_is_limited_and_the_rest_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_reader, "MAX_FILES", 8)
    children = {f"/{number}.xml": urlset(f"{HOST}/{number}") for number in range(10)}
    pages = {"/sitemap.xml": index(*(f"{HOST}{path}" for path in children)), **children}
    found, requests = asyncio.run(mapped(pages))
    assert len(found.files) == len(requests) == 8
    assert urls(found) == ["/0", "/1", "/2", "/3"]
    assert [warning for warning in found.warnings if "7 files were not requested" in warning]


def test_the_number_of_pages_is_limited_and_the_rest_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_merge, "MAX_ENTRIES", 3)
    found, _ = asyncio.run(mapped({"/sitemap.xml": urlset(*(f"{HOST}/{number}" for number in range(5)))}))
    assert urls(found) == ["/0", "/1", "/2"]
    assert "sitemap: only the first 3 pages were taken" in found.warnings


def test_when_the_time_is_over_there_is_what_was_read() -> None:
    async def never(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(3_600)

    pages = {"/objects.inv": reply(inventory("a std:doc -1 a A")), "/sitemap.xml": never}
    found, _ = asyncio.run(mapped(pages, map_seconds=5.0))
    assert urls(found) == ["/a"]
    assert found.files[-1].reason is Reason.TIMEOUT
    assert "sitemap: reading stopped after 5 s" in found.warnings


def test_http_spellings_of_an_https_site_are_its_pages() -> None:
    scope = map_files.Scope.of("https://h.example/docs/")
    listing = Listing("sitemap", [Listed("http://h.example/a"), Listed("/b"), Listed("http://h.example:8080/c")])
    scoped = map_files.in_scope(listing, "https://h.example/sitemap.xml", scope)
    assert [url for url, _ in scoped.pages] == ["https://h.example/a", "https://h.example/b"]
    assert dict(scoped.foreign) == {"h.example:8080": 1}


def test_no_url_at_all() -> None:
    for work in (lambda: asyncio.run(HttpAcquirer(gate_to()).site_map("nothing")), lambda: SiteMap().under("nothing")):
        with pytest.raises(FetchError) as caught:
            work()
        assert caught.value.reason is Reason.INVALID_URL
