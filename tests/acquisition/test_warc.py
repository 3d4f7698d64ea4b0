"""Replay of a frozen site."""

from __future__ import annotations

import asyncio
import gzip
import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from tests.conftest import FROZEN_SITE
from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.errors import FetchError, InvalidInputError, Reason

HTML = ("Content-Type", "Text/HTML; charset=utf-8")
Response = tuple[str, str, Sequence[tuple[str, str]], bytes]
RESPONSES: list[Response] = [
    ("dns:example.org", "200 OK", [("Content-Type", "text/dns")], b"20240101 example.org. IN A 192.0.2.1"),
    ("https://example.org/", "200 OK", [HTML, ("ETag", '"home"')], b"<p>home"),
    ("https://example.org/dir/", "200 OK", [HTML], b"<p>dir"),
    ("https://example.org/dir/", "200 OK", [HTML], b"<p>a later copy"),
    ("https://example.org/style.css", "200 OK", [("Content-Type", "text/css")], b"p {}"),
    ("https://example.org/untyped", "200 OK", [], b"<p>?"),
    ("https://example.org/old", "301 Moved Permanently", [("Location", "/dir")], b""),
    ("https://example.org/loop", "302 Found", [("Location", "/loop")], b""),
    ("https://example.org/away", "302 Found", [("Location", "ftp://example.org/")], b""),
    ("https://example.org/nowhere", "302 Found", [HTML], b"<p>no location"),
    ("https://example.org/gone", "410 Gone", [HTML], b"<p>gone"),
    ("https://example.org/broken", "500 Oops", [HTML], b"<p>oops"),
    ("https://example.org/unasked", "304 Not Modified", [HTML], b""),
    (
        "https://example.org/zipped",
        "200 OK",
        [HTML, ("Content-Encoding", "gzip")],
        gzip.compress(b"<p>zipped", mtime=0),
    ),
    (
        "https://example.org/chunked",
        "200 OK",
        [HTML, ("Transfer-Encoding", "chunked")],
        b"3\r\n<p>\r\n4\r\nword\r\n0\r\n\r\n",
    ),
]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "site.warc.gz"
    with path.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        for url, status, headers, body in RESPONSES:
            http = StatusAndHeaders(status, list(headers), protocol="HTTP/1.1")
            record = writer.create_warc_record(url, "response", payload=io.BytesIO(body), http_headers=http)
            writer.write_record(record)
    return path


def refusal(acquirer: Acquirer, url: str) -> FetchError:
    with pytest.raises(FetchError) as caught:
        asyncio.run(acquirer.fetch(url))
    return caught.value


def test_a_page(archive: Path) -> None:
    acquirer: Acquirer = WarcAcquirer(archive)
    page = asyncio.run(acquirer.fetch("https://EXAMPLE.org:443/#top"))
    assert (page.url, page.final_url, page.redirects) == ("https://example.org/", "https://example.org/", ())
    assert (page.status, page.body, page.media_type, page.bytes_raw) == (200, b"<p>home", "text/html", 7)
    asyncio.run(acquirer.aclose())


def record(url: str, body: bytes, *fields: str, stated: int | None = None) -> bytes:
    """A response as it stands in a file without compression, with its length as `stated`."""
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    block += "".join(f"{field}\r\n" for field in fields).encode() + b"\r\n" + body
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
    head += "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>\r\n"
    head += f"Content-Type: application/http; msgtype=response\r\nContent-Length: {stated or len(block)}\r\n\r\n"
    return head.encode() + block + b"\r\n\r\n"


def test_records_that_are_cut_run_into_the_next_or_unpack_without_end_cost_themselves_alone(tmp_path: Path) -> None:
    bomb = gzip.compress(b"<p>" + b"a" * 3_000_000, mtime=0)
    after = record("https://example.org/after", b"<p>after", "Content-Length: 8")
    long = record("https://example.org/long", b"<p>long", "Content-Length: 7", stated=200)
    path = tmp_path / "damaged.warc"
    path.write_bytes(
        record("https://example.org/", b"<p>home", "Content-Length: 7")
        + record("https://example.org/bomb", bomb, "Content-Encoding: gzip")
        + record("https://example.org/short", b"<p>sho", "Content-Length: 700")
        + long
        + after
        + record("https://example.org/last", b"<p>last", "Content-Length: 7")
        + record("https://example.org/cut", b"<p>cut", "Content-Length: 6", stated=9_000)
    )
    acquirer = WarcAcquirer(path, max_bytes=1_000_000)
    assert asyncio.run(acquirer.fetch("https://example.org/")).body == b"<p>home"
    assert asyncio.run(acquirer.fetch("https://example.org/last")).body == b"<p>last"
    assert refusal(acquirer, "https://example.org/bomb").reason is Reason.TOO_LARGE
    for name, number in (("short", "3"), ("long", "4")):
        refused = refusal(acquirer, f"https://example.org/{name}")
        assert refused.reason is Reason.BAD_RESPONSE
        assert f"response {number} of" in refused.message


def test_a_packed_record_that_is_cut_is_no_page(tmp_path: Path) -> None:
    path = tmp_path / "cut.warc.gz"
    whole = [gzip.compress(record(f"https://example.org/{name}", b"<p>" + name.encode() * 99)) for name in "abc"]
    path.write_bytes(whole[0] + whole[1][:-20] + whole[2])
    acquirer = WarcAcquirer(path)
    assert asyncio.run(acquirer.fetch("https://example.org/a")).body == b"<p>" + b"a" * 99
    assert asyncio.run(acquirer.fetch("https://example.org/c")).body == b"<p>" + b"c" * 99
    assert refusal(acquirer, "https://example.org/b").reason in (Reason.BAD_RESPONSE, Reason.NOT_FOUND)


def test_conditional_requests(archive: Path) -> None:
    acquirer = WarcAcquirer(archive)
    same = asyncio.run(acquirer.fetch("https://example.org/", etag='"home"'))
    assert (same.not_modified, same.body, same.headers["etag"]) == (True, b"", '"home"')
    other = asyncio.run(acquirer.fetch("https://example.org/", etag='"older"'))
    assert other.body == b"<p>home"


@pytest.mark.parametrize(
    ("path", "redirects"),
    [
        ("dir/", []),
        ("dir", ["dir"]),
        ("dir/index.html", ["dir/index.html"]),
        ("old", ["old", "dir"]),
    ],
)
def test_ways_to_a_directory(archive: Path, path: str, redirects: list[str]) -> None:
    page = asyncio.run(WarcAcquirer(archive).fetch(f"https://example.org/{path}"))
    assert (page.final_url, page.body) == ("https://example.org/dir/", b"<p>dir")
    assert list(page.redirects) == [f"https://example.org/{passed}" for passed in redirects]


@pytest.mark.parametrize(("path", "body"), [("zipped", b"<p>zipped"), ("chunked", b"<p>word")])
def test_bodies_are_decoded(archive: Path, path: str, body: bytes) -> None:
    assert asyncio.run(WarcAcquirer(archive).fetch(f"https://example.org/{path}")).body == body


@pytest.mark.parametrize(
    ("path", "reason", "status"),
    [
        ("missing", Reason.NOT_FOUND, 404),
        ("gone", Reason.NOT_FOUND, 410),
        ("broken", Reason.HTTP_STATUS, 500),
        ("nowhere", Reason.HTTP_STATUS, 302),
        ("unasked", Reason.HTTP_STATUS, 304),
        ("style.css", Reason.UNSUPPORTED_TYPE, None),
        ("untyped", Reason.UNSUPPORTED_TYPE, None),
        ("loop", Reason.TOO_MANY_REDIRECTS, None),
        ("away", Reason.INVALID_URL, None),
    ],
)
def test_what_is_no_page(archive: Path, path: str, reason: Reason, status: int | None) -> None:
    error = refusal(WarcAcquirer(archive), f"https://example.org/{path}")
    assert (error.reason, error.status) == (reason, status)


def test_pages_are_listed(archive: Path) -> None:
    urls = WarcAcquirer(archive).page_urls()
    assert urls == sorted(urls)
    assert "https://example.org/dir/" in urls
    assert not {"https://example.org/style.css", "dns:example.org"} & set(urls)
    assert len(WarcAcquirer(FROZEN_SITE).page_urls()) == 530


@pytest.mark.parametrize(
    "content", [None, b"", b"words\n" * 99, b"<html></html>", gzip.compress(b"words", mtime=0), bytes(range(256)) * 9]
)
def test_files_that_are_no_archive(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    for place in (path, tmp_path):
        with pytest.raises(InvalidInputError, match=str(place)):
            WarcAcquirer(place)


@pytest.mark.parametrize("content", [None, b"", b"xx", bytes(5_000)])
def test_an_archive_that_changes_underneath(archive: Path, content: bytes | None) -> None:
    acquirer = WarcAcquirer(archive)
    archive.unlink() if content is None else archive.write_bytes(content)
    for path in ("", "dir/"):
        assert refusal(acquirer, f"https://example.org/{path}").reason is Reason.BAD_RESPONSE


def test_of_a_host_that_it_does_not_hold_an_archive_says_nothing(archive: Path) -> None:
    error = refusal(WarcAcquirer(archive), "https://other.example/missing")
    assert error.reason is Reason.NOT_ARCHIVED  # a page does not count as missing because another site is served
    assert "holds nothing of other.example" in error.message
