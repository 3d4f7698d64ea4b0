"""Pages that are there only to lead on: redirects like others, with the same checks and limits."""

from __future__ import annotations

import asyncio

import pytest

from tests.acquisition.local_server import Page, gate_to, redirect, reply, serving
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.chain_cookies import ChainCookies
from webrag_core.acquisition.http import HttpAcquirer
from webrag_core.acquisition.refreshes import refresh_of
from webrag_core.acquisition.robots import ObedientGate, Robots
from webrag_core.config import load_settings
from webrag_core.conversion.convert import convert_page
from webrag_core.errors import FetchError, Reason

URL = "http://site.test/start/"
LATEST = "http://site.test/latest/"


def html(body: str | bytes, *headers: str) -> bytes:
    return reply(body.encode() if isinstance(body, str) else body, "content-type: text/html; charset=utf-8", *headers)


def leads(page: str, refresh: str = "") -> str | None:
    found = refresh_of(URL, {"refresh": refresh} if refresh else {}, page.encode(), "utf-8")
    return found.url if found is not None and found.is_redirect else None


@pytest.mark.parametrize(
    "page",
    [
        '<META HTTP-EQUIV=REFRESH CONTENT="0;URL=/latest/">',
        "<meta http-equiv='Refresh' content=\"0; url='/latest/'\">",
        '<meta http-equiv="refresh" content="0; url=/latest/"/><title>Redirecting to a page that is called so</title>',
        '<meta content="5;url=../latest/" http-equiv="refresh">Redirecting … <a href="/latest/">click here</a>.',
        "<meta http-equiv=refresh content=0;/latest/>",
        '<meta http-equiv="refresh" content="0.5, URL = &quot;/latest/&quot;">',
        '<meta http-equiv="refresh" content="2 url=/latest/">',
        '<base href="/latest/"><meta http-equiv="refresh" content="0; url=./">',
        '<noscript><meta http-equiv="refresh" content="0; URL=/latest/"></noscript><script src="/app.js"></script>',
        '<script>location.replace("/latest/")</script>',
        "<html><head><title>x</title><script>window.location.href = '/latest/';</script></head><body></body></html>",
        '<script>document.location="http://site.test/latest/"</script><p>You are being redirected.</p>',
    ],
)
def test_pages_that_lead_on(page: str) -> None:
    assert leads(page) == LATEST


@pytest.mark.parametrize(
    "page",
    [
        '<meta http-equiv="refresh" content="30; url=/latest/">Soon',
        '<meta http-equiv="refresh" content="0; url=/latest/">' + "many words of a page " * 10,
        '<meta http-equiv="refresh" content="0; url=/latest/">' + "很多" * 200,
        '<meta http-equiv="refresh" content="5">',
        '<meta http-equiv="refresh" content="0; url=/start/">',
        '<meta http-equiv="refresh" content="0; url=javascript:alert(1)">',
        '<meta http-equiv="refresh" content="0; url=mailto:a@site.test">',
        '<meta http-equiv="refreshed" content="0; url=/latest/">',
        '<!-- <meta http-equiv="refresh" content="0; url=/latest/"> -->',
        "<script>document.write('<meta http-equiv=refresh content=0;/latest/>')</script>",
        '<script>if (old) { location.replace("/latest/") }</script>',
        '<script>location.replace("/latest/" + location.hash)</script>',
        '<script>location.replace("/latest/")</script><script>start()</script>',
        "<p>Plain words.</p>",
    ],
)
def test_pages_that_stay(page: str) -> None:
    assert leads(page) is None


@pytest.mark.parametrize("header", ["0; url=/latest/", "0;URL='/latest/'", "3, /latest/"])
def test_the_header_counts_like_the_element(header: str) -> None:
    assert leads("", header) == LATEST


@pytest.mark.parametrize(
    "page",
    ['<meta a="' * 8_000, "<meta " * 12_000, "<!--" * 16_000, "<script>" * 9_000, "<base href" * 6_000, "'\"" * 30_000],
    ids=lambda page: page[:9],
)
def test_a_page_built_to_stop_the_reading_stays(page: str) -> None:
    assert leads(page) is None


def fetch(pages: dict[str, Page], path: str = "/", **settings: object) -> tuple[AcquiredPage, list[str]]:
    async def run() -> tuple[AcquiredPage, list[str]]:
        async with serving(pages) as site:
            gate = gate_to(f"127.0.0.1:{site.port}", **settings)
            page = await HttpAcquirer(gate).fetch(f"http://127.0.0.1:{site.port}{path}")
            return page, [asked for asked, _ in site.requests]

    return asyncio.run(run())


TEXT = html("<h1>Latest</h1><p>The valve opens at seven bar.</p>")
STUB = '<meta http-equiv="refresh" content="0; url={}">'


def test_it_is_recorded_as_a_redirect_is() -> None:
    page, asked = fetch({"/": html(STUB.format("/old")), "/old": redirect("/latest/"), "/latest/": TEXT})
    assert asked == ["/", "/old", "/latest/"]
    root = page.url
    assert (page.final_url, page.redirects) == (f"{root}latest/", (root, f"{root}old"))
    assert b"valve" in page.body
    assert page.bytes_raw > len(page.body)


def test_six_are_too_many_and_circles_end() -> None:
    chain: dict[str, Page] = {f"/{at}": html(STUB.format(f"/{at + 1}")) for at in range(6)}
    assert fetch({**chain, "/5": TEXT}, "/0")[0].final_url.endswith("/5")
    for pages in ({**chain, "/6": TEXT}, {"/0": html(STUB.format("/1")), "/1": html(STUB.format("/0"))}):
        with pytest.raises(FetchError) as caught:
            fetch(pages, "/0")
        assert caught.value.reason is Reason.TOO_MANY_REDIRECTS


@pytest.mark.parametrize("target", ["http://127.0.0.1:1/", "http://10.0.0.1/", "http://[::1]/"])
def test_it_meets_the_gate(target: str) -> None:
    with pytest.raises(FetchError) as caught:
        fetch({"/": html(STUB.format(target))})
    assert caught.value.reason is Reason.BLOCKED_ADDRESS


def test_it_meets_robots_txt() -> None:
    async def run() -> None:
        robots = reply(b"User-agent: *\nDisallow: /latest/")
        async with serving({"/robots.txt": robots, "/": html(STUB.format("/latest/")), "/latest/": TEXT}) as site:
            settings = load_settings(webrag_allow_hosts=f"127.0.0.1:{site.port}")
            rules = Robots(gate_to(f"127.0.0.1:{site.port}"), settings.webrag_user_agent)
            acquirer = HttpAcquirer(ObedientGate(settings, rules), robots=rules)
            with pytest.raises(FetchError) as caught:
                await acquirer.fetch(f"http://127.0.0.1:{site.port}/")
            assert caught.value.reason is Reason.ROBOTS_DISALLOWED
            assert "/latest/" not in {path for path, _ in site.requests}

    asyncio.run(run())


def acquired(body: str) -> AcquiredPage:
    page, _ = fetch({"/": html(body)})
    return page


def test_where_a_page_leads_is_named_when_it_is_not_followed() -> None:
    later = '<meta http-equiv="refresh" content="30; url=/latest/">'
    with pytest.raises(FetchError, match=r"it leads to http://127\.0\.0\.1:\d+/latest/"):
        convert_page(acquired(f"{later}<p></p>"))
    converted = convert_page(acquired(f"{later}<h1>Moved</h1><p>{'The manual has moved to a new place. ' * 9}</p>"))
    assert any("/latest/ after 30 seconds" in warning for warning in converted.warnings)


def test_a_cookie_goes_back_to_the_origin_that_set_it_within_one_chain() -> None:
    async def run() -> None:
        async with serving({"/": redirect("/"), "/end": TEXT}) as other, serving({}) as site:
            port, at_other = site.port, f"http://127.0.0.1:{other.port}"
            other.pages["/"] = redirect(f"http://127.0.0.1:{port}/end")
            site.pages = {
                "/": reply(b"", "set-cookie: seen=1; Path=/; HttpOnly", "location: /again", status="302 Found"),
                "/again": redirect(f"{at_other}/"),
                "/end": TEXT,
            }
            gate = gate_to(f"127.0.0.1:{port}", f"127.0.0.1:{other.port}")
            for _ in range(2):
                await gate.get(f"http://127.0.0.1:{port}/")
            cookies = [sent.get("cookie") for _, sent in site.requests]
            assert cookies == [None, "seen=1", "seen=1"] * 2
            assert [sent.get("cookie") for _, sent in other.requests] == [None, None]

    asyncio.run(run())


def test_cookies_of_a_chain_are_bounded() -> None:
    cookies = ChainCookies()
    cookies.take("a", [(b"Set-Cookie", f"c{at}={'x' * 500}".encode()) for at in range(100)])
    assert len(cookies.header("a")) < 5_000
    cookies = ChainCookies()
    bad = [b"a=b\r\nx: y", b"=x", b"a b=c", b"novalue", "ü=1".encode(), b"k=1; Max-Age=0", b"a=b, c=d"]
    cookies.take("a", [(b"set-cookie", value) for value in bad])
    assert cookies.header("a") == cookies.header("b") == ""
