"""robots.txt: what the rules mean, and how they are read from a real server."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Mapping

import pytest

from tests.acquisition.local_server import Page, Site, redirect, reply, resolver, serving
from webrag_core.acquisition.gate import NetworkGate
from webrag_core.acquisition.http import HttpAcquirer
from webrag_core.acquisition.politeness import HostQueues
from webrag_core.acquisition.robots import MAX_ROBOTS_BYTES, ObedientGate, Robots, parse_robots, product_token
from webrag_core.config import Settings, load_settings
from webrag_core.errors import FetchError, Reason

HTML = reply(b"<!DOCTYPE html><title>t</title><p>text", "content-type: text/html")
NOT_FOUND = reply(status="404 Not Found")


def allowed(text: str, path: str, token: str = "webrag") -> bool:
    try:
        parse_robots(text, token).check(f"https://site.example{path}")
    except FetchError as error:
        return error.reason is not Reason.ROBOTS_DISALLOWED
    return True


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("", "/", True),
        ("<html><body>Not found</body></html>", "/", True),
        ("User-agent: *\nDisallow: /", "/", False),
        ("\ufeffUser-agent: *\nDisallow: /", "/", False),
        ("User-agent: *\r\nDisallow: /a\r\n", "/b", True),
        ("User-agent: *\nDisallow:", "/a", True),
        ("user-agent: WebRAG\ndisallow: /a\n\nuser-agent: *\ndisallow: /", "/b", True),
        ("User-agent: WebRAG/0.1\nDisallow: /", "/a", False),
        ("User-agent: webrag of ours\nDisallow: /", "/a", False),
        ("User-agent: web\nDisallow: /", "/a", True),
        ("User-agent: webrag-images\nDisallow: /", "/a", True),
        ("User-agent: webrag\nFoo: bar\nUser-agent: other\nDisallow: /", "/a", False),
        (
            "User-agent: webrag\nDisallow: /a\nUser-agent: other\nDisallow: /\nUser-agent: webrag\nDisallow: /b",
            "/b",
            False,
        ),
        ("User-agent: *\nDisallow: /\nAllow: /open/", "/open/page", True),
        ("User-agent: *\nAllow: /page\nDisallow: /page", "/page", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf?x", True),
        ("User-agent: *\nDisallow: /caf\u00e9", "/caf%C3%A9", False),
        ("User-agent: *\nDisallow: /?page=", "/?page=2", False),
        ("Disallow: /", "/", True),
        ("User-agent: *\nDisallow: / # all of it", "/a", False),
        ("User-agent: *\nDisallow: /", "/robots.txt", True),
    ],
)
def test_rules(text: str, path: str, expected: bool) -> None:
    assert allowed(text, path) is expected


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("User-agent: *\nCrawl-delay: 2.5", 2.5),
        ("User-agent: *\nCrawl-delay: 86400", 30.0),
        ("User-agent: *\nCrawl-delay: nan", 0.0),
        ("User-agent: *\nCrawl-delay: -1", 0.0),
        ("User-agent: other\nCrawl-delay: 3", 0.0),
    ],
)
def test_crawl_delay(text: str, seconds: float) -> None:
    assert parse_robots(text, "webrag").crawl_delay_s == seconds


def test_sitemaps_are_listed() -> None:
    text = "Sitemap: https://a.example/one.xml\nUser-agent: *\nSitemap: /two.xml\nSitemap: /two.xml"
    assert parse_robots(text, "webrag").sitemaps == ("https://a.example/one.xml", "/two.xml")


@pytest.mark.parametrize(
    ("agent", "token"), [("webrag/0.1 (x)", "webrag"), ("my-bot", "my-bot"), (" Bot of ours/2", "Bot"), ("a\tb", "a")]
)
def test_product_token(agent: str, token: str) -> None:
    assert product_token(agent) == token


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def settings_for(*sites: Site) -> Settings:
    names = ",".join(f"{host}:{site.port}" for site in sites for host in ("127.0.0.1", "site.test"))
    return load_settings(webrag_allow_hosts=names, webrag_fetch_timeout=300.0, webrag_max_body_bytes=1_000_000)


def obedient(settings: Settings, clock: Clock | None = None) -> HttpAcquirer:
    names = resolver({"site.test": ["127.0.0.1"]})
    robots = Robots(NetworkGate(settings, resolver=names), settings.webrag_user_agent, clock=clock or Clock())
    return HttpAcquirer(ObedientGate(settings, robots, resolver=names), robots=robots, hosts=HostQueues())


def visit(pages: Mapping[str, Page], *paths: str) -> tuple[list[str], list[str]]:
    """What became of `paths`, asked for in turn, and what the server was asked for."""

    async def all_of_them() -> tuple[list[str], list[str]]:
        async with serving(pages) as site:
            acquirer = obedient(settings_for(site))
            outcomes = []
            for path in paths:
                try:
                    await acquirer.fetch(f"http://127.0.0.1:{site.port}{path}")
                    outcomes.append("page")
                except FetchError as error:
                    outcomes.append(error.code)
            return outcomes, [path for path, _ in site.requests]

    return asyncio.run(all_of_them())


def test_a_disallowed_page_is_not_asked_for() -> None:
    robots = reply(b"User-agent: webrag\nDisallow: /no")
    outcomes, asked = visit({"/robots.txt": robots, "/no": HTML, "/yes": HTML}, "/no", "/yes", "/no")
    assert outcomes == ["robots_disallowed", "page", "robots_disallowed"]
    assert asked == ["/robots.txt", "/yes"]


@pytest.mark.parametrize("status", ["400 Bad", "401 No", "403 No", "404 No", "410 Gone", "418 Teapot", "429 Slow"])
def test_no_robots_txt_allows_everything(status: str) -> None:
    refused = reply(b"User-agent: *\nDisallow: /", status=status)
    assert visit({"/robots.txt": refused, "/": HTML}, "/") == (["page"], ["/robots.txt", "/"])


@pytest.mark.parametrize("status", ["500 Oops", "502 Bad", "503 Later"])
def test_a_failing_server_disallows_everything_for_now(status: str) -> None:
    outcomes, asked = visit({"/robots.txt": reply(status=status), "/": HTML}, "/", "/")
    assert (outcomes, asked) == (["robots_disallowed"] * 2, ["/robots.txt"])


async def hang_up(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTT")


def test_what_cannot_be_read_disallows_everything_for_its_own_reason() -> None:
    assert visit({"/robots.txt": hang_up, "/": HTML}, "/") == (["bad_response"], ["/robots.txt"])
    assert visit({"/robots.txt": redirect("http://10.0.0.1/robots.txt")}, "/") == (["blocked_address"], ["/robots.txt"])


def test_unreachable_hosts_keep_their_reason() -> None:
    async def code(url: str) -> str:
        with pytest.raises(FetchError) as caught:
            await obedient(load_settings()).fetch(url)
        return caught.value.code

    assert asyncio.run(code("http://127.0.0.1/")) == "blocked_address"
    assert asyncio.run(code("http://no.such.test/")) == "dns_failure"
    assert asyncio.run(code("ftp://site.test/")) == "invalid_url"


def test_redirects_of_robots_txt() -> None:
    pages = {"/robots.txt": redirect("/elsewhere"), "/elsewhere": reply(b"User-agent: *\nDisallow: /no"), "/no": HTML}
    assert visit(pages, "/no")[0] == ["robots_disallowed"]
    assert visit({"/robots.txt": redirect("/robots.txt"), "/": HTML}, "/")[0] == ["page"]


def test_redirects_of_pages_lead_nowhere_that_is_disallowed() -> None:
    pages = {"/robots.txt": reply(b"User-agent: *\nDisallow: /no"), "/go": redirect("/no"), "/no": HTML}
    assert visit(pages, "/go") == (["robots_disallowed"], ["/robots.txt", "/go"])


def test_each_origin_has_its_own_rules() -> None:
    async def both() -> list[str]:
        closed = {"/robots.txt": reply(b"User-agent: *\nDisallow: /"), "/": HTML}
        async with serving(closed) as first, serving({"/robots.txt": NOT_FOUND, "/": HTML}) as second:
            acquirer = obedient(settings_for(first, second))
            await acquirer.fetch(f"http://127.0.0.1:{second.port}/")
            await acquirer.fetch(f"http://site.test:{second.port}/")
            with pytest.raises(FetchError):
                await acquirer.fetch(f"http://127.0.0.1:{first.port}/")
            return [path for path, _ in second.requests]

    assert asyncio.run(both()) == ["/robots.txt", "/"] * 2


def test_concurrent_pages_share_one_reading_also_when_the_first_is_cancelled() -> None:
    async def many() -> list[str]:
        async with serving({"/robots.txt": reply(b"User-agent: *\nAllow: /"), "/": HTML}) as site:
            acquirer = obedient(settings_for(site))
            tasks = [asyncio.create_task(acquirer.fetch(f"http://127.0.0.1:{site.port}/")) for _ in range(5)]
            await asyncio.sleep(0)
            tasks[0].cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert all(task.cancelled() or task.result().status == 200 for task in tasks)
            return [path for path, _ in site.requests]

    asked = asyncio.run(many())
    assert asked.count("/") == 4
    assert asked.count("/robots.txt") <= 2  # the cancelled one may have been sent


def test_rules_are_read_again_after_a_day_and_failures_after_a_minute() -> None:
    async def readings(page: bytes, seconds: float) -> int:
        async with serving({"/robots.txt": page}) as site:
            clock = Clock()
            robots = Robots(NetworkGate(settings_for(site)), "webrag", clock=clock)
            for _ in range(2):
                await robots.rules(f"http://127.0.0.1:{site.port}/")
                clock.now += seconds
            return len(site.requests)

    assert asyncio.run(readings(reply(b"User-agent: *\nDisallow: /"), 86_000)) == 1
    assert asyncio.run(readings(reply(b"User-agent: *\nDisallow: /"), 87_000)) == 2
    assert asyncio.run(readings(reply(status="500 Oops"), 30)) == 1
    assert asyncio.run(readings(reply(status="500 Oops"), 90)) == 2


def test_only_whole_lines_of_the_first_500_kib_count() -> None:
    head = b"User-agent: *\nDisallow: /no\n"
    filler = b"#" * (MAX_ROBOTS_BYTES - len(head) - len(b"\nDisallow: /")) + b"\nDisallow: /late\nDisallow: /yes\n"
    endless = head + filler + b"#" * 2_000_000  # more than a page may have
    for robots in (reply(head + filler), reply(endless), reply(gzip.compress(endless), "Content-Encoding: gzip")):
        outcomes, _ = visit({"/robots.txt": robots, "/yes": HTML}, "/no", "/yes")
        assert outcomes == ["robots_disallowed", "page"]
