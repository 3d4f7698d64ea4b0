"""Single sitemaps, feeds and inventories: every format, its real-life mistakes, and files made to do harm."""

from __future__ import annotations

import gzip
import time
import zlib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.acquisition.served_map import inventory, urlset
from webrag_core.acquisition.sitemaps import inventory as inventory_file
from webrag_core.acquisition.sitemaps.files import Scope, ScopedFile, read_map_file
from webrag_core.acquisition.sitemaps.listing import Listed, TitleRank
from webrag_core.acquisition.sitemaps.models import MAX_FILE_BYTES
from webrag_core.errors import FetchError, Reason

H = "https://h.example"
SITEMAP = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def read(body: str | bytes, url: str = f"{H}/docs/map", media_type: str = "", seconds: float = 60) -> ScopedFile:
    data = body.encode() if isinstance(body, str) else body
    return read_map_file(data, url, media_type, Scope(f"{H[8:]}", upgrade=True), time.monotonic() + seconds)


def paths(body: str | bytes, **options: str) -> list[str]:
    return [url.removeprefix(H) for url, _ in read(body, **options).pages]


def only(body: str | bytes) -> Listed:
    ((_, page),) = read(body).pages
    return page


def refusal(body: str | bytes) -> Reason:
    with pytest.raises(FetchError) as caught:
        read(body)
    return caught.value.reason


def test_a_sitemap_with_alternates_images_videos_and_news() -> None:
    body = f"""<?xml version="1.0" encoding="UTF-8"?><?xml-stylesheet href="x.xsl"?>
    <urlset {SITEMAP} xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:image="urn:i" xmlns:news="urn:n">
    <url><loc> {H}/a </loc><lastmod>2024-02-29</lastmod><changefreq>daily</changefreq>
    <xhtml:link rel="alternate" hreflang="de" href="{H}/de/a"/>
    <image:image><image:loc>{H}/a.png</image:loc></image:image>
    <news:news><news:title>T</news:title><lastmod>2030</lastmod></news:news></url>
    <url><loc><![CDATA[{H}/b?x=1&y=2]]></loc></url><url><lastmod>2024</lastmod></url></urlset>"""
    found = read(body)
    assert [url.removeprefix(H) for url, _ in found.pages] == ["/a", "/b?x=1&y=2"]
    assert found.pages[0][1].last_modified == datetime(2024, 2, 29, tzinfo=UTC)
    assert (found.invalid, found.listing.problem) == (1, None)


def test_an_inventory_has_the_symbols_of_each_page() -> None:
    body = inventory(
        "asyncio.Queue.get py:method 1 asyncio.html#$ -",
        "asyncio py:module 0 asyncio.html#module-$ -",
        "--all std:cmdoption 1 cli.html#cmdoption-all --all",
        "an option std:cmdoption 1 cli.html#cmdoption-an-option -",
        "queue std:term 1 glossary.html#term-queue -",
        "start std:label -1 asyncio.html#start Where to start",
        "f.x c:functionparam 1 c.html#c.f -",
        "$ py:data 1 $ -",
        "no line",
    )
    found = read(body)
    assert [(symbol.url.removeprefix(H), symbol.name, symbol.role, symbol.anchor) for symbol in found.symbols] == [
        ("/docs/asyncio.html", "asyncio.Queue.get", "py:method", "asyncio.Queue.get"),
        ("/docs/asyncio.html", "asyncio", "py:module", "module-asyncio"),
        ("/docs/cli.html", "--all", "std:cmdoption", "cmdoption-all"),
        ("/docs/cli.html", "an option", "std:cmdoption", "cmdoption-an-option"),
        ("/docs/$", "$", "py:data", ""),
    ]
    first = b"# Sphinx inventory version 1\n# Project: p\n# Version: 1\nq.get function q.html\nq mod q.html#module-q\n"
    assert [(symbol.name, symbol.role, symbol.anchor) for symbol in read(first).symbols] == [
        ("q.get", "py:function", "q.get"),
        ("q", "py:module", "module-q"),
    ]


def test_an_inventory_is_data_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory_file, "MAX_ENTRIES", 2)
    names = ("{0.__class__}%s'; DROP TABLE x", "\x00\ud800", "n" * 5_000, "fourth")
    lines = [f"{name} py:data 1 a.html#{'x' * 900} -" for name in names]
    found = read(inventory(*(line.encode("utf-8", "replace").decode() for line in lines)))
    assert found.listing.symbols_cut
    assert [symbol.name[:30] for symbol in found.symbols] == ["{0.__class__}%s'; DROP TABLE x", "\ufffd?"]
    assert all(len(symbol.anchor) == 300 for symbol in found.symbols)


@pytest.mark.parametrize(
    "body",
    [
        f"\n  <?xml version='1.0'?><urlset><url><loc>{H}/é</loc></url></urlset>",
        f"\ufeff<urlset><url><loc>{H}/é</loc></url></urlset>",
        f"<?xml version='1.0' encoding='utf-16'?><urlset><url><loc>{H}/é</loc></url></urlset>",  # it is not
        f"<?xml version='1.0' encoding='bogus'?><urlset><url><loc>{H}/é</loc></url></urlset>",
        f"<urlset xmlns='http://www.google.com/schemas/sitemap/0.84'><url><loc>{H}/é</loc></url></urlset>",
        f"<urlset><url><loc>{H}/é</loc></url></urlset>".encode("utf-16"),
        f"<urlset><url><loc>{H}/é</loc></url></urlset>".encode("utf-16-le"),
        f"<?xml version='1.0' encoding='utf-8'?><urlset><url><loc>{H}/é</loc></url></urlset>".encode("cp1252"),
        f"<?xml version='1.0' encoding='iso-8859-1'?><urlset><url><loc>{H}/é</loc></url></urlset>".encode("latin-1"),
        gzip.compress(f"<urlset><url><loc>{H}/é</loc></url></urlset>".encode(), mtime=0),
        gzip.compress(b"<urlset>", mtime=0)
        + gzip.compress(f"<url><loc>{H}/é</loc></url></urlset>".encode(), mtime=0)
        + b"\0" * 9,
        f"{H}/é\r\n\n",
        f"\ufeff{H}/é",
        gzip.compress(f"{H}/é\n".encode(), mtime=0),
    ],
)
def test_encodings_and_wrappings(body: str | bytes) -> None:
    assert paths(body) == ["/%C3%A9"]


def test_mistakes_that_sites_make_lose_nothing_else() -> None:
    bare = f"<urlset><url><loc>{H}/a?x=1&y=2&amp;z=3</loc></url><url><loc>{H}/b&nbsp;</loc></url></urlset>"
    assert paths(bare) == ["/a?x=1&y=2&z=3", "/b"]
    assert paths(f"<urlset><url><loc>{H}/&#xD800;&#55296;\x00\x0ba</loc></url><url><loc>{H}/b</loc></url></urlset>")[
        1:
    ] == ["/b"]
    cut = read(urlset(f"{H}/a", f"{H}/b")[:-30])
    assert ([url for url, _ in cut.pages], cut.listing.problem) == ([f"{H}/a"], "it breaks off before its end")
    cut = read(gzip.compress(urlset(*(f"{H}/{number * 7919}" for number in range(3_000))).encode(), mtime=0)[:-2_000])
    assert 0 < len(cut.pages) < 3_000
    assert cut.listing.problem


def test_a_list_of_urls_is_told_from_other_text() -> None:
    found = read(f"# our pages\n{H}/a\n{H}/b c\nhttps://other.example/\n", media_type="text/plain")
    assert ([url for url, _ in found.pages], found.invalid, dict(found.foreign)) == (
        [f"{H}/a"],
        1,
        {"other.example": 1},
    )
    assert refusal("User-agent: *\nDisallow: /\n") is Reason.BAD_RESPONSE
    assert refusal(b"\x89PNG\r\n\x1a\n\0\0\0") is Reason.BAD_RESPONSE
    assert refusal('{"pages": []}') is Reason.BAD_RESPONSE
    assert refusal(" \n") is Reason.EMPTY_PAGE


@pytest.mark.parametrize(
    "body",
    [
        "<!DOCTYPE html><title>Not found</title>",
        "  <!-- x --><HTML><body>",
        "<?xml version='1.0'?><!DOCTYPE html PUBLIC 'x' 'y'><html xmlns='http://www.w3.org/1999/xhtml'/>",
    ],
)
def test_a_page_in_place_of_the_file(body: str) -> None:
    assert refusal(body) is Reason.SOFT_404


def test_entities_stand_for_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("topsecret")
    lines = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    body = f"""<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a0 "lol">{lines}
    <!ENTITY f SYSTEM "{secret.as_uri()}"><!ENTITY % p SYSTEM "http://127.0.0.1:9/x">%p;
    ]><urlset><url><loc>{H}/x&a11;&f;</loc></url><url><loc>{H}/b</loc></url></urlset>"""
    assert paths(body) == ["/x", "/b"]
    assert refusal(f"<!DOCTYPE urlset [<!ENTITY a '{H}'") is Reason.BAD_RESPONSE


@pytest.mark.slow
def test_bombs_and_deep_nesting_end_early() -> None:
    assert refusal(gzip.compress(b"\0" * (MAX_FILE_BYTES + 1), mtime=0)) is Reason.TOO_LARGE
    assert refusal(gzip.compress(b"", mtime=0)[:-4] * 3) is Reason.BAD_RESPONSE
    assert refusal(gzip.compress(b"", mtime=0) * 1_001) is Reason.BAD_RESPONSE
    head = inventory().split(b"x\x9c")[0]
    assert refusal(head + zlib.compress(b"a" * (MAX_FILE_BYTES + 1))) is Reason.TOO_LARGE
    assert refusal("<a>" * 100_000) is Reason.BAD_RESPONSE
    deep = read(f"<urlset><url><loc>{H}/a</loc></url>" + "<a>" * 100_000)
    assert [url for url, _ in deep.pages] == [f"{H}/a"]
    assert deep.listing.problem
    nested = read("<urlset><url>" + f"<loc>{H}/" * 50_000 + "</loc>" * 50_000 + "</url></urlset>")
    assert nested.pages == []
    late = read(urlset(*(f"{H}/{n}" for n in range(20_000))), seconds=-1)
    assert late.listing.problem == "reading it took too long"


def test_rss_2() -> None:
    body = f"""<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/"
    xmlns:itunes="urn:itunes"><channel><title>Channel</title><link>{H}/</link><image><link>{H}/i</link></image>
    <item><atom:link href="{H}/self"/><media:title>No</media:title>
    <title>The &lt;details&gt; element &amp;amp; &lt;b&gt;more&lt;/b&gt;</title><link>{H}/a</link>
    <description><![CDATA[<style>p {{}}</style><p>One<br>two<script>alert("<p>")</script></p> &hellip;]]></description>
    <itunes:summary>No</itunes:summary><pubDate>Mon, 01 Jan 2024 00:30:00 -0100</pubDate></item>
    <item><guid>{H}/b</guid></item><item><guid isPermaLink="false">{H}/no</guid></item>
    <item><title>Comment</title><link>{H}/a#comment-7</link></item></channel></rss>"""
    found = read(body)
    assert (found.listing.kind, found.invalid) == ("feed", 1)
    assert [page for _, page in found.pages] == [
        Listed(
            f"{H}/a",
            "The <details> element & more",
            "One two …",
            datetime(2024, 1, 1, 1, 30, tzinfo=UTC),
            TitleRank.FEED,
        ),
        Listed(f"{H}/b"),
        Listed(f"{H}/a#comment-7"),
    ]


def test_rss_1() -> None:
    body = f"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
    xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="x"><title>C</title></channel>
    <item rdf:about="{H}/a"><title>A</title><link>{H}/a</link><dc:date>2024-05</dc:date></item></rdf:RDF>"""
    assert only(body) == Listed(f"{H}/a", "A", None, datetime(2024, 5, 1, tzinfo=UTC), TitleRank.FEED)


def test_atom() -> None:
    body = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/blog/"><link href="x"/>
    <entry><link rel="self" href="self"/><link rel="alternate" type="text/html" href="a"/>
    <title type="html">A &lt;em&gt;b&lt;/em&gt;</title><published>2023-01-01T00:00:00Z</published>
    <summary type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>One</p><p>two &lt;p&gt;</p></div></summary>
    <updated>2024-01-01T00:00:00.5Z</updated></entry></feed>"""
    page = only(body)
    assert page == Listed(
        f"{H}/blog/a", "A b", "One two <p>", datetime(2024, 1, 1, 0, 0, 0, 500_000, UTC), TitleRank.FEED
    )


def test_texts_are_bounded_and_storable() -> None:
    long = f"<rss><channel><item><link>{H}/a</link><title>{'t' * 30_000}</title><description>{'d ' * 30_000}"
    page = only(f"{long}\0</description></item></channel></rss>")
    assert (len(page.title or ""), len(page.description or "")) == (500, 1_999)
    odd = only(f"<rss><channel><item><link>{H}/a</link><title>&amp;#0;&amp;#xd800;a</title></item></channel></rss>")
    assert odd.title is not None
    odd.title.encode()
    assert "\0" not in odd.title


def test_an_inventory() -> None:
    found = read(
        inventory(
            "index std:doc -1  Welcome",
            "lib/json std:doc -1 lib/json.html json — JSON",
            "json py:module 0 lib/json.html#module-$ -",
            "json-cli std:label -1 lib/json.html#json-cli Command line",
            "a term: with blanks std:term -1 glossary.html#term-a -",
            "glossary-terms std:label -1 glossary.html#x Terms",
            "genindex std:label -1 genindex.html Index",
            "plain std:doc -1 $ -",
            "f py:function 1 api.html#$ -",
            "nonsense",
            "x" * 30_000 + " std:doc -1 long.html Long",
        ),
        f"{H}/docs/objects.inv",
    )
    titles = {url.removeprefix(H): page.title for url, page in found.pages}
    assert titles == {
        "/docs/": "Welcome",
        "/docs/lib/json.html": "json — JSON",
        "/docs/glossary.html": "Terms",
        "/docs/genindex.html": "Index",
        "/docs/plain": "plain",
        "/docs/api.html": None,
    }
    assert (found.listing.kind, found.invalid) == ("inventory", 2)


def test_inventories_of_other_versions_and_broken_ones() -> None:
    first = (
        "# Sphinx inventory version 1\n# Project: foo\n# Version: 1.0\nmodule mod foo.html\nmodule.cls class foo.html\n"
    )
    assert paths(first) == ["/docs/foo.html"]
    assert refusal("# Sphinx inventory version 3\n\n\n\n") is Reason.BAD_RESPONSE
    assert refusal("# Sphinx inventory version 2\n# Project: x\n") is Reason.BAD_RESPONSE
    whole = inventory(*(f"p{number * 7919} std:doc -1 p{number * 6007}.html T" for number in range(2_000)))
    assert refusal(whole[:120] + b"garbage") is Reason.BAD_RESPONSE
    cut = read(whole[:-3_000])
    assert 0 < len(cut.pages) < 2_000
    assert cut.listing.problem == "it breaks off before its end"
