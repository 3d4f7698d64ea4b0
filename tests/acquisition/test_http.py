"""What counts as a page, over the real gate and a local server."""

from __future__ import annotations

import asyncio
import gzip
from datetime import UTC, datetime
from random import Random

import pytest

from tests.acquisition.local_server import Page, gate_to, redirect, reply, serving
from webrag_core.acquisition.acquirer import AcquiredPage, Acquirer
from webrag_core.acquisition.http import HttpAcquirer, sniff
from webrag_core.acquisition.media_types import effective_type
from webrag_core.errors import FetchError, InvalidInputError, Reason

HTML = b"<!DOCTYPE html><title>t</title><p>text"
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj"
XHTML_PAGE = (
    b'<?xml version="1.0"?>\n<!-- <html> --><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd">\n'
    b'<html lang="en" xmlns="http://www.w3.org/1999/xhtml"><body><p>words</p></body></html>'
)
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


def typed(media_type: str, body: bytes = HTML) -> bytes:
    return reply(body, f"Content-Type: {media_type}")


async def acquire(
    page: Page, *, etag: str | None = None, last_modified: str | None = None
) -> tuple[AcquiredPage, list[tuple[str, dict[str, str]]]]:
    async with serving({"/": page, "/moved": redirect("/")}) as site:
        acquirer: Acquirer = HttpAcquirer(gate_to(f"127.0.0.1:{site.port}"))
        url = f"http://127.0.0.1:{site.port}/moved"
        try:
            return await acquirer.fetch(url, etag=etag, last_modified=last_modified), site.requests
        finally:
            await acquirer.aclose()


def refusal(page: Page) -> FetchError:
    with pytest.raises(FetchError) as caught:
        asyncio.run(acquire(page))
    return caught.value


def test_a_page() -> None:
    before = datetime.now(UTC)
    page, requests = asyncio.run(acquire(typed("Text/HTML; charset=utf-8")))
    assert (page.status, page.body, page.bytes_raw, page.media_type) == (200, HTML, len(HTML), "text/html")
    assert page.redirects == (page.url,)
    assert (page.url, page.final_url) == (f"{page.final_url}moved", page.url.removesuffix("moved"))
    assert before <= page.fetched_at <= datetime.now(UTC)
    assert not page.not_modified
    assert all("if-none-match" not in sent and "text/html" in sent["accept"] for _, sent in requests)


def test_conditional_requests_and_304() -> None:
    since = "Wed, 21 Oct 2015 07:28:00 GMT"
    unchanged = b'HTTP/1.1 304 Not Modified\r\netag: W/"new"\r\ncontent-length: 99\r\n\r\n'
    page, requests = asyncio.run(acquire(unchanged, etag='W/"a"', last_modified=since))
    assert (page.not_modified, page.body, page.headers["etag"]) == (True, b"", 'W/"new"')
    for _, sent in requests:
        assert (sent["if-none-match"], sent["if-modified-since"]) == ('w/"a"', since.lower())


def test_validators_do_not_follow_a_redirect_to_another_origin() -> None:
    async def work() -> None:
        async with serving({"/": typed("text/html")}) as other, serving({"/moved": redirect("/")}) as site:
            site.pages["/"] = redirect(f"http://127.0.0.1:{other.port}/")
            acquirer = HttpAcquirer(gate_to(f"127.0.0.1:{site.port}", f"127.0.0.1:{other.port}"))
            await acquirer.fetch(f"http://127.0.0.1:{site.port}/moved", etag='"a"', last_modified="x")
        assert [sent.get("if-none-match") for _, sent in site.requests] == ['"a"', '"a"']
        ((_, sent),) = other.requests
        assert not {"if-none-match", "if-modified-since"} & sent.keys()

    asyncio.run(work())


@pytest.mark.parametrize("etag", ["", '"a"\r\nx: y', '"€"', " "])
def test_validators_that_cannot_be_sent_are_left_out(etag: str) -> None:
    page, requests = asyncio.run(acquire(typed("text/html"), etag=etag))
    assert page.status == 200
    assert all("if-none-match" not in sent for _, sent in requests)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        *((status, Reason.NOT_FOUND) for status in ("404 Not Found", "410 Gone")),
        *((status, Reason.HTTP_STATUS) for status in ("401 No", "403 No", "429 Slow", "500 Oops", "503 Later")),
        *((status, Reason.HTTP_STATUS) for status in ("206 Part", "300 Choices", "302 Found", "305 Proxy")),
        *((status, Reason.HTTP_STATUS) for status in ("304 Not Modified", "418 Teapot", "599 Odd", "799 Odder")),
    ],
)
def test_statuses_without_a_page(status: str, reason: Reason) -> None:
    error = refusal(reply(HTML, "content-type: text/html", status=status, length=10**9))
    assert (error.reason, error.status) == (reason, int(status[:3]))


@pytest.mark.parametrize(
    ("page", "media_type"),
    [
        (typed("text/html"), "text/html"),
        (typed("application/xhtml+xml"), "application/xhtml+xml"),
        (typed("text/markdown; charset=utf-8", b"# t"), "text/markdown"),
        (typed("text/html", HTML * 20 + b"\x00 \x0b"), "text/html"),
        (typed("text/html; charset=utf-16le", "<p>words</p>".encode("utf-16-le")), "text/html"),
        (typed("text/html", b"\xff\xfe" + "<p>words</p>".encode("utf-16-le")), "text/html"),
        (typed("text/plain"), "text/plain"),
        (typed("text/plain; charset=UTF-16LE", "text".encode("utf-16-le")), "text/plain"),
        (typed("application/octet-stream"), "text/html"),
        (typed("application/octet-stream", b"plain words"), "text/plain"),
        (reply(HTML), "text/html"),
        (reply(HTML, "content-type: "), "text/html"),
        (reply(b"\xef\xbb\xbf\n <HTML lang=en>"), "text/html"),
        (reply(b'<?xml version="1.0"?>\n<html xmlns="x"></html>'), "application/xhtml+xml"),
        (reply("caf\u00e9".encode()), "text/plain"),
        *((typed(written), "text/html") for written in ("html", "text", "nonsense", "", "*", "unknown/unknown")),
        *((typed(written), "text/html") for written in ("text/html, text/html; charset=utf-8", "html, text/html")),
        (reply(HTML, "content-type: text/plain", "content-type: text/html"), "text/html"),
        (reply(HTML, "content-type: text/html", "content-type: html"), "text/html"),
        *((typed(written, XHTML_PAGE), "application/xhtml+xml") for written in ("application/xml", "text/xml")),
        (typed("application/akn+xml", b"<akomaNtoso/>"), "application/akn+xml"),
        (typed("text/xml; charset=utf-8", b'<?xml version="1.0"?>\n<akomaNtoso xmlns="x"/>'), "application/akn+xml"),
        *(
            (answer, "application/pdf")
            for answer in (typed("application/pdf", PDF), typed("text/html", PDF), reply(PDF))
        ),
    ],
)
def test_types_that_are_pages(page: bytes, media_type: str) -> None:
    assert asyncio.run(acquire(page))[0].media_type == media_type


@pytest.mark.parametrize(
    "page",
    [
        *(typed("image/png", PNG), typed("application/json", b"{}")),
        *(typed("text/css"), typed("application/xml"), typed("nonsense", PNG), typed("text/html, image/png")),
        *(typed("text/xml", body) for body in (b"<html><p>words</html>", b"<!-- " * 3_000, b"<rss/>", b"<?xml")),
        *(typed("text/plain", PNG), typed("application/octet-stream", PNG)),
        *(reply(PNG), reply(b"PK\x03\x04zip"), reply(b'<?xml version="1.0"?><rss/>')),
        *(typed("text/html", body) for body in (Random(1).randbytes(5_000), gzip.compress(gzip.compress(HTML)))),
        typed("text/html", "<p>words</p>".encode("utf-16-le")),
        reply(b"", "content-type: video/mp4", length=10**9),
    ],
)
def test_types_that_are_not(page: bytes) -> None:
    assert refusal(page).reason is Reason.UNSUPPORTED_TYPE


@pytest.mark.parametrize(
    "page",
    [
        typed("text/html", b""),
        typed("text/html", b" \r\n\t"),
        reply(b"\xef\xbb\xbf"),
        reply(b"", status="204 No"),
    ],
)
def test_empty_pages(page: bytes) -> None:
    assert refusal(page).reason is Reason.EMPTY_PAGE


def test_no_url_is_the_callers_mistake_and_a_bad_one_the_pages() -> None:
    acquirer = HttpAcquirer(gate_to())
    with pytest.raises(InvalidInputError):
        asyncio.run(acquirer.fetch("  "))
    with pytest.raises(FetchError) as caught:
        asyncio.run(acquirer.fetch("ftp://example.org/"))
    assert caught.value.reason is Reason.INVALID_URL


@pytest.mark.parametrize(
    ("head", "media_type"),
    [
        (b"<p>", "text/html"),
        (b"<!-- c --><html>", "text/html"),
        (b"<pre>x</pre>", "text/plain"),
        (b"a < b", "text/plain"),
        ("\ufeff<html>".encode("utf-16-le"), "text/html"),
        ("\ufeffwords".encode("utf-16-be"), "text/plain"),
        (b"words" + b"\0" * 10, None),
        (b"w" * 2_000 + b"\0", "text/plain"),
        (b"\x1f\x8b\x08", None),
        (PDF, "application/pdf"),
    ],
)
def test_sniffing(head: bytes, media_type: str | None) -> None:
    assert sniff(head) == media_type


@pytest.mark.parametrize(
    ("header", "media_type"),
    [
        ("text/html", "text/html"),
        ("text/html;charset=koi8-r, text/html", "text/html;charset=koi8-r"),
        ("text/html;charset=koi8-r, text/html; charset=utf-8", "text/html; charset=utf-8"),
        ("text/html;charset=koi8-r, text/plain", "text/plain"),
        ('text/html; title="a, image/png", html', 'text/html; title="a, image/png"'),
        (", ,", ""),
        ("html;charset=utf-8", ""),
        ('"' * 5_000, ""),
    ],
)
def test_the_last_valid_type_counts(header: str, media_type: str) -> None:
    assert effective_type(header) == media_type
