"""An acquirer of another package: named by a setting, behind the network gate."""

from __future__ import annotations

import asyncio

import pytest

from tests.command_line import Webrag, webrag_here
from tests.plugin_packages import Install, install
from webrag_core.acquisition.plugins import GuardedAcquirer
from webrag_core.config import Settings, load_settings
from webrag_core.corpus.acquirers import make_acquirer, same_web
from webrag_core.errors import FetchError, InvalidInputError, PluginError, Reason

__all__ = ["install", "webrag_here"]

HOST = "http://93.184.216.34"  # public, and needs no look-up; nothing is sent there
SHELF = """
    from datetime import UTC, datetime
    from webrag_core.extending import AcquiredPage, SiteMap

    requests = []

    class Shelf:
        name = "shelf"
        frozen = False
        metered = False

        def __init__(self, fetching):
            self.fetching = fetching

        async def fetch(self, url, *, etag=None, last_modified=None):
            requests.append(url)
            body = b"<html><body><main><h1>Tea</h1><p>Green tea steeps for two minutes.</p></main></body></html>"
            final = url.replace("/moved", "/tea")
            page = dict(url=url, final_url=final, status=200, body=body, bytes_raw=len(body),
                        headers={"Content-Type": "text/html"}, fetched_at=datetime.now(UTC))
            name = url.rpartition("/")[2]
            if name == "private":
                page["final_url"] = "http://169.254.169.254/latest"
            elif name == "script":
                page["final_url"] = "file:///etc/passwd"
            elif name == "status":
                page["status"] = 404
            elif name == "zone":
                page["fetched_at"] = datetime(2026, 1, 1)
            elif name == "warc":
                page["acquirer"] = "warc"
            elif name == "text":
                page["body"] = "text"
            elif name == "large":
                page["body"] = bytes(2_000)
            elif name == "none":
                return None
            elif name == "raises":
                raise KeyError("no shelf")
            return AcquiredPage(**page)

        async def site_map(self, url, *, html=None, absent=(), brief=False):
            if url.endswith("/raises"):
                raise KeyError("no shelf")
            return SiteMap()

        async def aclose(self): ...

    class Other(Shelf):
        name = "warc"
"""
ENTRIES = {
    "shelf": "tea_shelf:Shelf",
    "other": "tea_shelf:Other",
    "nothing": "tea_shelf:requests.append",
    "broken": "no_such_package:make",
}


@pytest.fixture
def shelf(install: Install, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The URLs that the plugin `shelf` was asked for."""
    install("tea_shelf", SHELF, {"webrag.acquirers": ENTRIES})
    import tea_shelf

    monkeypatch.setattr(tea_shelf, "requests", requests := [])
    return requests


def live(**more: object) -> Settings:
    return load_settings(webrag_obey_robots=False, webrag_max_body_bytes=1_000, **more)


@pytest.mark.slow
def test_the_command_line_and_a_setting_name_it(webrag_here: Webrag, shelf: list[str]) -> None:
    chosen = {"WEBRAG_ACQUIRER": "shelf", "WEBRAG_OBEY_ROBOTS": "0"}
    done = webrag_here("ingest", f"{HOST}/moved", **chosen)
    assert done.returncode == 0, done.stderr
    assert shelf == [f"{HOST}/moved"]
    again = webrag_here("ingest", f"{HOST}/tea", "--json", **chosen)
    assert '"reused"' in again.stdout
    found = webrag_here("search", "How long does green tea steep?", "--json")
    assert "steeps for two minutes" in found.stdout


def test_nobody_but_an_admitted_address_is_asked_for(shelf: list[str]) -> None:
    acquirer = make_acquirer(live(), "shelf")
    for address in ("http://10.0.0.1/", "http://127.0.0.1:9200/", f"{HOST}:81/"):
        with pytest.raises(FetchError) as refused:
            asyncio.run(acquirer.fetch(address))
        assert refused.value.reason is Reason.BLOCKED_ADDRESS
        assert asyncio.run(acquirer.site_map(address)).warnings
    assert shelf == []


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("private", Reason.BLOCKED_ADDRESS),
        ("script", Reason.INVALID_URL),
        ("large", Reason.TOO_LARGE),
        *((page, Reason.PROVIDER_FAILED) for page in ("status", "zone", "warc", "text", "none", "raises")),
    ],
)
def test_what_it_returns_is_checked_and_what_it_raises_costs_a_page(
    shelf: list[str], page: str, reason: Reason
) -> None:
    with pytest.raises(FetchError) as refused:
        asyncio.run(make_acquirer(live(), "shelf").fetch(f"{HOST}/{page}"))
    assert refused.value.reason is reason
    if reason is Reason.PROVIDER_FAILED:
        assert "the acquirer shelf (entry point webrag.acquirers: shelf" in refused.value.message
    assert len(shelf) == 1


def test_headers_and_redirects_are_as_those_of_our_acquirers(shelf: list[str]) -> None:
    page = asyncio.run(make_acquirer(live(), "shelf").fetch(f"{HOST}/a/../moved"))
    assert (page.url, page.final_url, page.redirects) == (f"{HOST}/moved", f"{HOST}/tea", (f"{HOST}/moved",))
    assert page.media_type == "text/html"


def test_a_map_that_fails_is_a_warning(shelf: list[str]) -> None:
    [warning] = asyncio.run(make_acquirer(live(), "shelf").site_map(f"{HOST}/raises")).warnings
    assert "KeyError" in str(warning)


def test_robots_txt_holds_for_it_too(shelf: list[str]) -> None:
    acquirer = make_acquirer(load_settings(webrag_allow_hosts="127.0.0.1:9"), "shelf")
    with pytest.raises(FetchError, match=r"robots\.txt"):  # nobody listens there, so it cannot be read
        asyncio.run(acquirer.fetch("http://127.0.0.1:9/tea"))
    assert shelf == []


@pytest.mark.parametrize(
    ("name", "problem"), [("other", "calls itself 'warc'"), ("nothing", "makes no Acquirer"), ("broken", "no_such")]
)
def test_one_that_cannot_be_used_breaks_no_other(shelf: list[str], name: str, problem: str) -> None:
    with pytest.raises(PluginError, match=problem):
        make_acquirer(live(webrag_acquirer=name))
    assert make_acquirer(live(webrag_acquirer="http")).name == "http"
    assert isinstance(make_acquirer(live(webrag_acquirer="shelf")), GuardedAcquirer)


def test_an_unknown_name_is_refused_where_settings_are_read(shelf: list[str]) -> None:
    with pytest.raises(InvalidInputError, match=r"WEBRAG_ACQUIRER: .*no acquirer 'wiki'; there are: broken, browser, "):
        live(webrag_acquirer="wiki")


def test_its_pages_are_of_the_live_web_and_those_of_archives_are_not(shelf: list[str]) -> None:
    assert set(same_web("shelf")) >= {"http", "shelf", "firecrawl", "browser"}
    assert same_web("shelf") == same_web("http")
    assert not {"memento", "warc", "git"} & set(same_web("http"))
    assert same_web("memento") == ["memento"]


def test_ours_are_not_wrapped() -> None:
    acquirer = make_acquirer(live(memento_timegate="https://archive.example/"), "memento")
    assert not isinstance(acquirer, GuardedAcquirer)
    assert acquirer.name == "memento"
