"""The `firecrawl` acquirer on the wire. No real Firecrawl was ever called: the server here is ours."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest

from tests.acquisition.firecrawl_server import KEY, PAGE, firecrawl, scraped
from tests.acquisition.local_server import resolver
from tests.provider_server import Provider, Reply, silent_url
from webrag_core.acquisition.acquirer import AcquiredPage, Acquirer
from webrag_core.acquisition.firecrawl.acquirer import FirecrawlAcquirer
from webrag_core.acquisition.firecrawl.fallback import FallbackAcquirer
from webrag_core.acquisition.firecrawl.wire import MappedPage
from webrag_core.acquisition.gate import NetworkGate
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import Settings, load_settings
from webrag_core.conversion.convert import convert_page
from webrag_core.corpus.acquirers import make_acquirer
from webrag_core.errors import FetchError, InvalidInputError, Reason
from webrag_core.providers import rate_limits

T = TypeVar("T")

HOST = "https://docs.example"
URL = f"{HOST}/queue.html"
NAMES = {"docs.example": ["93.184.216.34"], "moved.example": ["93.184.216.35"], "inside.example": ["10.0.0.7"]}


def acquirer(url: str, **settings: Any) -> FirecrawlAcquirer:
    chosen: dict[str, Any] = {"firecrawl_timeout": 3.0, "firecrawl_api_key": KEY, **settings}
    configured = load_settings(firecrawl_api_url=url, **chosen)
    return FirecrawlAcquirer(configured, NetworkGate(configured, resolver=resolver(NAMES)))


def use(server: Provider, work: Callable[[FirecrawlAcquirer], Awaitable[T]], **settings: Any) -> T:
    async def run() -> T:
        return await work(acquirer(server.url, **settings))

    return asyncio.run(run())


def fetch(server: Provider, url: str = URL, **settings: Any) -> AcquiredPage:
    return use(server, lambda firecrawl_: firecrawl_.fetch(url), **settings)


def refusal(server: Provider, url: str = URL, **settings: Any) -> FetchError:
    with pytest.raises(FetchError) as caught:
        fetch(server, url, **settings)
    return caught.value


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "_FIRST_PAUSE_S", 0.02)


def test_what_goes_over_the_wire() -> None:
    began = datetime.now(UTC)
    with firecrawl(scraped(URL)) as server:
        page = fetch(server)
    (call,) = server.calls
    assert server.asked == ["POST /v2/scrape"]
    assert call.headers["authorization"] == f"Bearer {KEY}"
    body = dict(call.body)
    assert 1_000 <= body.pop("timeout") <= 2_000  # a second less than ours
    assert body.pop("origin") == "webrag"
    assert body == {
        "url": URL,
        "formats": ["markdown", "html", "links"],
        "onlyMainContent": True,
        "skipTlsVerification": False,
        "maxAge": 0,
        # the SDK's own, harmless
        **{"removeBase64Images": True, "fastMode": False, "blockAds": True, "storeInCache": True, "mobile": False},
    }
    assert (page.url, page.final_url, page.status, page.media_type) == (URL, URL, 200, "text/html")
    assert began <= page.fetched_at <= datetime.now(UTC)
    assert (page.warnings, page.acquirer, page.redirects) == ((), None, ())


def test_a_server_without_a_key_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with firecrawl(scraped(URL)) as server:
        settings = load_settings(firecrawl_api_url=server.url + "/base/")
        monkeypatch.setenv("FIRECRAWL_API_KEY", KEY)  # the SDK would take it
        gate = NetworkGate(settings, resolver=resolver(NAMES))
        asyncio.run(FirecrawlAcquirer(settings, gate).fetch(URL))
    assert "authorization" not in server.calls[0].headers
    assert server.asked == ["POST /base/v2/scrape"]


def test_the_html_goes_through_our_conversion_with_head_and_links_put_back() -> None:
    reply = scraped(URL, title="Q & A <b>", description='say "x"', language="en", publishedTime="2024-05-01T10:00:00Z")
    reply["data"]["links"] = [f"{HOST}/x", f"{HOST}/side.html?a=1&b=2", "mailto:a@b.example"]
    with firecrawl(reply) as server:
        converted = convert_page(fetch(server))
    assert converted.markdown.startswith("# Queues\n\nQueues are not thread-safe, see [this](https://docs.example/x).")
    assert "side" not in converted.markdown
    assert (converted.title, converted.description, converted.language) == ("Q & A <b>", 'say "x"', "en")
    assert converted.published == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert [(link.target_url, link.anchor_text, link.in_navigation) for link in converted.links] == [
        (f"{HOST}/x", "this", False),
        (f"{HOST}/side.html?a=1&b=2", "", True),
    ]


def test_markdown_alone_is_its_own_text() -> None:
    with firecrawl(scraped(URL, html=None)) as server:
        page = fetch(server)
    assert page.media_type == "text/markdown"
    assert convert_page(page).markdown == "# Queues\n\nQueues are not thread-safe."


@pytest.mark.parametrize(
    ("status", "reason"),
    [(404, Reason.NOT_FOUND), (410, Reason.NOT_FOUND), ("404", Reason.NOT_FOUND), (503, Reason.HTTP_STATUS)],
)
def test_the_pages_own_error_comes_as_a_success(status: int | str, reason: Reason) -> None:
    with firecrawl(scraped(URL, statusCode=status)) as server:
        error = refusal(server)
    assert (error.reason, error.status) == (reason, int(status))
    assert len(server.calls) == 1


def test_nothing_to_read() -> None:
    empty = scraped(URL, html=" ")
    empty["data"]["markdown"] = ""
    with firecrawl(empty) as server:
        assert refusal(server).reason is Reason.EMPTY_PAGE
    with firecrawl(scraped(URL)) as server:
        assert refusal(server, webrag_max_body_bytes=20).reason is Reason.TOO_LARGE


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://inside.example/", "http://docs.example:8080/"])
def test_a_blocked_url_is_never_handed_over(url: str) -> None:
    with firecrawl(scraped(url)) as server:
        assert refusal(server, url).reason is Reason.BLOCKED_ADDRESS
        assert server.calls == []
        with pytest.raises(InvalidInputError):
            fetch(server, " ")


def test_the_final_url_is_the_reported_one_and_passes_the_gate_too() -> None:
    moved = "https://moved.example/new.html"
    with firecrawl(scraped(URL, url=f"{moved}#part")) as server:
        page = fetch(server)
    assert (page.url, page.final_url, page.redirects) == (URL, moved, (URL,))
    for inside in ("http://inside.example/", "http://169.254.169.254/latest"):
        with firecrawl(scraped(URL, url=inside)) as server:
            assert refusal(server).reason is Reason.BLOCKED_ADDRESS
    with firecrawl(scraped(URL, url="chrome-error://chromewebdata/")) as server:
        assert refusal(server).reason is Reason.PROVIDER_FAILED


@pytest.mark.parametrize("unknown", [{"proxyUsed": "enhanced"}, {"cacheState": "revalidated"}, {"numPages": "many"}])
def test_a_word_the_sdk_does_not_know_loses_no_page(unknown: dict[str, str]) -> None:
    with firecrawl(scraped(URL, title="Kept", **unknown)) as server:
        page = fetch(server)
    assert convert_page(page).title == "Kept"
    first, second = (dict(call.body) for call in server.calls)
    assert second.pop("maxAge") == 120_000  # the copy just made, not a second scrape
    assert second.items() <= {**first, "timeout": second["timeout"]}.items()
    assert server.calls[1].headers["authorization"] == f"Bearer {KEY}"


def test_the_age_of_a_cached_copy_is_known() -> None:
    made = datetime.now(UTC) - timedelta(hours=2)
    hit = scraped(URL, cacheState="hit", cachedAt=made.isoformat().replace("+00:00", "Z"))
    with firecrawl(hit) as server:
        page = fetch(server, firecrawl_max_age=86_400)
        stale = fetch(server)
    assert [call.body["maxAge"] for call in server.calls] == [86_400_000, 0]
    assert (page.fetched_at, page.warnings) == (made, ())
    assert page.headers["x-cache"] == "hit"
    assert int(page.headers["age"]) >= 7_200
    assert stale.fetched_at == made
    assert "cached copy 72" in stale.warnings[0]


def test_a_cached_copy_of_unknown_age_is_as_old_as_allowed() -> None:
    began = datetime.now(UTC)
    with firecrawl(scraped(URL, cacheState="hit")) as server:
        page = fetch(server, firecrawl_max_age=3_600)
    assert began <= page.fetched_at + timedelta(seconds=3_600) <= datetime.now(UTC)
    assert "unknown age" in page.warnings[0]
    with firecrawl(scraped(URL, cachedAt="2001-01-01T00:00:00Z")) as server:  # a miss: the page may say what it likes
        assert fetch(server).fetched_at.year > 2020


def failed(status: int, code: str | None = None, **headers: str) -> Reply:
    body = {"success": False, "error": f"no, {KEY}", **({"code": code} if code else {})}
    return Reply(body, status=status, headers={name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize(
    ("reply", "reason", "calls"),
    [
        (failed(400), Reason.PROVIDER_FAILED, 1),
        (failed(401), Reason.PROVIDER_FAILED, 1),
        (failed(402), Reason.PROVIDER_FAILED, 1),
        (failed(403), Reason.PROVIDER_FAILED, 1),
        (failed(408), Reason.TIMEOUT, 1),
        (failed(429), Reason.RATE_LIMITED, 3),
        (failed(500), Reason.PROVIDER_FAILED, 3),
        (failed(502), Reason.PROVIDER_FAILED, 3),
        (failed(503), Reason.PROVIDER_FAILED, 3),
        (failed(500, "SCRAPE_DNS_RESOLUTION_ERROR"), Reason.DNS_FAILURE, 1),
        (failed(200, "SCRAPE_SSL_ERROR"), Reason.TLS_FAILURE, 1),
        (failed(200), Reason.PROVIDER_FAILED, 1),
        (Reply("<html>gateway</html>", content_type="text/html"), Reason.PROVIDER_FAILED, 1),
        (Reply("<html>gateway</html>", status=502), Reason.PROVIDER_FAILED, 3),
        (Reply([1, 2]), Reason.PROVIDER_FAILED, 1),
        (Reply({"success": True}), Reason.PROVIDER_FAILED, 1),
        (Reply({"success": True, "data": None}), Reason.PROVIDER_FAILED, 1),
        (Reply({"success": True, "data": {"metadata": 3}}), Reason.PROVIDER_FAILED, 2),
    ],
)
def test_failures_are_typed_and_give_no_secret_away(
    reply: Reply, reason: Reason, calls: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with firecrawl(reply) as server:
        error = refusal(server)
    assert (error.reason, error.status, len(server.calls)) == (reason, None, calls)
    assert KEY not in "".join(traceback.format_exception(error)) + repr(error) + caplog.text
    assert error.__cause__ is None
    assert error.__context__ is None


def test_retry_after_is_honoured_within_the_budget() -> None:
    with firecrawl(failed(429, retry_after="1"), scraped(URL)) as server:
        began = datetime.now(UTC)
        assert fetch(server).status == 200
        assert datetime.now(UTC) - began >= timedelta(seconds=1)
    with firecrawl(failed(429, retry_after="60")) as server:
        error = refusal(server)
    assert error.reason is Reason.RATE_LIMITED
    assert "waiting 60 s exceeds the limit of" in error.message
    assert len(server.calls) == 1


def test_a_paid_call_that_does_not_answer_is_not_repeated() -> None:
    with firecrawl(Reply("", hold=True)) as server:
        error = refusal(server, firecrawl_timeout=2.0)
    assert (error.reason, len(server.calls)) == (Reason.TIMEOUT, 1)


def test_a_document_still_in_the_works_is_not_waited_for() -> None:
    body = {"success": False, "code": "SCRAPE_TIMEOUT", "details": {"state": "processing_continues"}}
    with firecrawl(Reply({**body, "error": "later"}, status=408), scraped(URL)) as server:
        assert refusal(server).reason is Reason.TIMEOUT
    assert len(server.calls) == 1


def test_nobody_listens() -> None:
    assert refusal(Provider({}, url=silent_url())).reason is Reason.PROVIDER_FAILED


def test_a_map_of_objects_and_bare_strings() -> None:
    links = [
        {"url": f"{HOST}/a?utm_source=x", "title": " A  page ", "description": None},
        *(f"{HOST}/b", f"{HOST}/a", "javascript:void(0)", "", 7),
        {"title": "no url"},
    ]
    with firecrawl({"success": True, "links": links}) as server:
        found = use(server, lambda firecrawl_: firecrawl_.map_site(HOST, search="queues", limit=50))
    assert found == [MappedPage(f"{HOST}/a", "A page", None), MappedPage(f"{HOST}/b", None, None)]
    (call,) = server.calls
    timeout = call.body.pop("timeout")
    assert call.path == "/v2/map"
    assert 1_000 <= timeout <= 2_000
    expected = {"url": f"{HOST}/", "search": "queues", "limit": 50, "sitemap": "include", "origin": "webrag"}
    assert call.body == expected


def test_a_map_the_sdk_cannot_read_and_one_that_fails() -> None:
    links = [{"url": f"{HOST}/a", "title": ["odd"]}, f"{HOST}/b"]
    with firecrawl({"success": True, "links": links}) as server:
        found = use(server, lambda firecrawl_: firecrawl_.map_site(HOST))
    assert [page.url for page in found] == [f"{HOST}/a", f"{HOST}/b"]
    with firecrawl(failed(402)) as server, pytest.raises(FetchError) as caught:
        use(server, lambda firecrawl_: firecrawl_.map_site(HOST))
    assert caught.value.reason is Reason.PROVIDER_FAILED
    with firecrawl({"success": True, "links": None}) as server, pytest.raises(FetchError):
        use(server, lambda firecrawl_: firecrawl_.map_site(HOST))


class Direct:
    """Stands for the HTTP acquirer."""

    name = "http"
    frozen = False
    metered = False

    def __init__(self, error: FetchError | None = None) -> None:
        self.error = error
        self.asked: list[tuple[str, str | None]] = []

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        self.asked.append((url, etag))
        if self.error:
            raise self.error
        headers = {"content-type": "text/html"}
        return AcquiredPage(url, url, 200, headers, PAGE.encode(), datetime.now(UTC), len(PAGE))

    async def aclose(self) -> None:
        """Nothing to release."""


def fall_back(server: Provider, direct: Acquirer, times: int = 1) -> AcquiredPage:
    async def work(firecrawl_: FirecrawlAcquirer) -> AcquiredPage:
        both = FallbackAcquirer(firecrawl_, direct)
        pages = [await both.fetch(URL, etag='"1"') for _ in range(times)]
        await both.aclose()
        return pages[-1]

    return use(server, work)


def test_a_provider_in_trouble_costs_no_page_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    direct = Direct()
    with firecrawl(failed(402)) as server:
        page = fall_back(server, direct, times=2)
    assert direct.asked == [(URL, '"1"')] * 2
    assert page.acquirer == "http"
    assert page.warnings == (f"{URL}: Firecrawl: HTTP 402 (no credits left); fetched directly instead",)
    assert [record.levelname for record in caplog.records if "fetched directly" in record.message] == ["WARNING"]


def test_what_firecrawl_says_about_the_page_stands() -> None:
    direct = Direct()
    with firecrawl(scraped(URL, statusCode=404)) as server, pytest.raises(FetchError) as caught:
        fall_back(server, direct)
    assert (caught.value.reason, direct.asked) == (Reason.NOT_FOUND, [])
    with firecrawl(scraped(URL)) as server:
        assert fall_back(server, direct).acquirer is None
    assert direct.asked == []


def test_when_both_fail_the_page_is_judged_by_the_direct_answer() -> None:
    direct = Direct(FetchError(Reason.NOT_FOUND, "the page does not exist", status=404))
    with firecrawl(failed(401)) as server, pytest.raises(FetchError) as caught:
        fall_back(server, direct)
    assert (caught.value.reason, caught.value.status) == (Reason.NOT_FOUND, 404)
    assert "check FIRECRAWL_API_KEY" in caught.value.message


def test_the_settings_choose_the_acquirer(settings: Settings) -> None:
    assert make_acquirer(load_settings()).name == "http"
    assert make_acquirer(load_settings(firecrawl_api_key=" ")).name == "http"
    for given in ({"firecrawl_api_key": KEY}, {"firecrawl_api_url": "http://127.0.0.1:3002"}):
        assert isinstance(make_acquirer(load_settings(**given)), FallbackAcquirer)
    assert isinstance(make_acquirer(settings.model_copy(update={"firecrawl_api_key": KEY})), WarcAcquirer)
    with pytest.raises(InvalidInputError, match="FIRECRAWL_API_URL"):
        load_settings(firecrawl_api_url="http://user:pass@host/")
    with pytest.raises(InvalidInputError, match="FIRECRAWL_API_KEY"):
        load_settings(firecrawl_api_key="two words")
    assert KEY not in repr(load_settings(firecrawl_api_key=KEY))
