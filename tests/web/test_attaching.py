"""A site is attached on the pages and over REST: what is there, how it goes, the switches, and who may."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

import httpx2
import pytest
from lxml import html
from playwright.sync_api import Browser, expect

from tests.browsing import needs_chromium, new_page
from tests.waiting import wait_until
from tests.web.accessibility import problems
from tests.web.kettle_site import SCRIPT, KettleSite, serving_kettles
from tests.web.serving import web_server
from tests.web.tea_corpus import settings

TOKEN, READ_TOKEN = "a-token-of-enough-characters", "another-token-to-read-only"


@contextmanager
def opened(database_url: str, site: KettleSite, **more: object) -> Iterator[httpx2.Client]:
    """The application, which may fetch the site."""
    place = site.url.removeprefix("http://").rstrip("/")
    with web_server(settings(database_url, webrag_allow_hosts=place, **more)) as client:
        yield client


def key_of(site: KettleSite) -> str:
    """The key of the source of the whole site."""
    return site.url.removeprefix("http://").rstrip("/")


def events(response: httpx2.Response) -> list[dict[str, object]]:
    """The data of a stream's events."""
    return [json.loads(line.removeprefix("data: ")) for line in response.text.splitlines() if line.startswith("data: ")]


def texts(response: httpx2.Response, path: str) -> list[str]:
    """Texts of the elements at a path, on one line each."""
    elements = html.document_fromstring(response.content).xpath(path)
    return [" ".join(element.text_content().split()) for element in elements]


def test_a_program_looks_attaches_and_watches(database_url: str) -> None:
    with serving_kettles(5) as site, opened(database_url, site) as client:
        seen = client.post("/api/sources/preview", json={"url": site.url, "pages": 3}).json()
        assert (seen["source"], seen["pages"], seen["counted_by"], seen["language"]) == (key_of(site), 3, "map", "en")
        assert {left["reason"]: left["pages"] for left in seen["left_out"]} == {"robots_disallowed": 1, "page_limit": 2}
        assert (seen["robots"], seen["attached"], seen["stored"]) == ("allowed", False, 0)
        assert client.get("/api/sources").json()["total"] == 0  # to look stores nothing

        body = {"url": site.url, "refresh_hours": 24, "name": "The kettles"}
        stream = client.post("/api/sources", json=body, headers={"accept": "text/event-stream"})
        last = events(stream)[-1]
        # the pictures that the manuals link to are left out, and no failures
        assert (last["state"], last["changed"], last["failed"], last["listed"]) == ("done", 5, 1, 5)
        (failure,) = last["failures"]  # type: ignore[misc]
        assert failure["words"] == "forbidden by robots.txt"
        assert not [path for path in site.requests if "pictures" in path or path == "/manual-2.html"]
        (source,) = client.get("/api/sources").json()["sources"]
        assert (source["attached"], source["refresh_hours"], source["ready"]) == (True, 24, 5)
        assert client.get("/api/sources/reading", params={"source": key_of(site)}).json()["state"] == "done"
        assert client.post("/api/sources/pause", json={"name": key_of(site)}).json()["state"] == "paused"
        resumed = {"source": key_of(site), "paused": False}
        assert client.post("/api/sources/pause", json=resumed).json()["state"] == "active"
        unknown = client.delete("/api/sources", params={"key": "no.example", "by": "a test"})  # the earlier spelling
        assert unknown.json()["error"] == {"code": "not_stored", "message": "there is no source no.example"}
        named = {"source": key_of(site), "by": "a test"}
        assert [client.delete("/api/sources", params=named).status_code for _ in range(2)] == [200, 404]
        gone = client.delete("/api/sources", params={"source": key_of(site), "by": "a test", "forget": "true"})
        assert gone.json()["removed"]["documents"] == 6
        assert client.get("/api/sources/reading", params={"source": "no.example"}).status_code == 404


def test_pages_that_are_lacking_are_read_beyond_the_limit(database_url: str) -> None:
    with serving_kettles(4) as site, opened(database_url, site) as client:
        body = {"url": site.url, "pages": 2}
        client.post("/api/sources", json=body, headers={"accept": "text/event-stream"})
        client.post("/api/ask", json={"question": "After how many days is kettle 4 descaled, as manual 4 says?"})
        lacking = [url for gap in client.get("/api/gaps").json()["gaps"] for url in gap["lacking"]]
        last = f"{site.url}manual-4.html"
        assert last in lacking
        for wrong in ([], [f"{site.url}unlisted"], ["http://127.0.0.1:1/"], [last, "http://elsewhere.example/"]):
            assert client.post("/gaps/pages", data={"urls": wrong}).status_code == 400, wrong
        assert f"/{last.rpartition('/')[2]}" not in site.requests
        started = client.post("/gaps/pages", data={"urls": [last]})
        assert (started.status_code, started.headers["location"].startswith("/sources/127")) == (303, True)
        state = {"source": key_of(site)}
        wait_until(lambda: client.get("/api/sources/reading", params=state).json()["state"] == "done")
        read = client.post("/api/search", json={"question": "How often is kettle 4 descaled?"}).json()
        assert any("every 14 days" in citation["verbatim_text"] for citation in read["citations"])


@pytest.mark.slow
def test_without_a_map_links_are_followed(database_url: str) -> None:
    with serving_kettles(3, mapped=False) as site, opened(database_url, site) as client:
        seen = client.post("/api/sources/preview", json={"url": site.url}).json()
        assert (seen["pages"], seen["counted_by"], seen["is_complete"]) == (3, "links", True)
        assert {left["reason"]: left["pages"] for left in seen["left_out"]} == {
            "robots_disallowed": 1,
            "unsupported_type": 2,
        }


@pytest.mark.slow
def test_two_at_once_are_one_and_stopping_keeps_what_is_stored(database_url: str) -> None:
    with serving_kettles(8, held_from=5) as site, opened(database_url, site) as client:
        first = client.post("/api/sources", json={"url": site.url}).json()

        def reading() -> dict[str, object]:
            state: dict[str, object] = client.get("/api/sources/reading", params={"source": key_of(site)}).json()
            return state

        wait_until(lambda: reading()["changed"] == 4)
        second = client.post("/attach", data={"url": site.url})  # a person, elsewhere
        assert second.headers["location"] == f"/sources/{key_of(site)}".replace(":", "%3A")
        assert reading()["started_at"] == first["started_at"]
        page = client.get(second.headers["location"])
        assert "Reading: 4 pages of 8 in its map" in page.text
        assert page.text.count('http-equiv="refresh"') == 1  # without scripts it loads itself again
        stopped = client.post("/attach/stop", data={"source": key_of(site)})
        assert stopped.status_code == 303
        assert (reading()["state"], reading()["changed"]) == ("stopped", 4)
        assert site.requests.count("/manual-1.html") == 1
        found = client.post("/api/search", json={"question": "When is kettle 1 descaled?"}).json()
        assert found["chunks"]
        site.release.set()


def test_a_person_attaches_keeps_and_removes_without_scripts(database_url: str) -> None:
    with serving_kettles(3) as site, opened(database_url, site) as client:
        look = client.post("/attach/look", data={"url": key_of(site)})  # as it is typed
        assert look.status_code == 200
        assert SCRIPT not in look.text
        assert "forbidden by robots.txt" in look.text
        path = client.post("/attach", data={"url": key_of(site), "hours": "168"}).headers["location"]
        client.get(f"/attach/events?source={key_of(site)}")  # to its end
        page = client.get(path)
        assert texts(page, "//h1") == ["Kettle manuals <script>alert(1)</script>"]
        assert SCRIPT not in page.text
        assert "Read: 3 pages, 1 failed" in page.text
        assert "every week, up to 500 pages" in page.text
        (example,) = texts(page, "//form//p/a")[:1]
        assert example == "How to set the temperature?"
        assert texts(client.get("/"), "//ul/li/a")[0] == example

        fields = {"source": key_of(site), "hours": "6", "pages": "40", "name": "Kettles"}
        assert client.post("/attach/keep", data=fields).status_code == 303
        page = client.get(path)
        assert "every 6 hours, up to 40 pages" in page.text
        assert texts(page, "//h1") == ["Kettles"]
        client.post("/attach/pause", data={"source": key_of(site)})
        assert "paused" in texts(client.get("/sources"), "//tbody//th/span")[0]
        asked = client.get("/attach/remove", params={"source": key_of(site)})
        assert "All of its 4 pages go" in asked.text
        assert client.post("/attach/remove", data={"source": key_of(site)}).headers["location"] == "/sources"
        assert "not attached" in client.get("/sources").text  # its pages stay
        client.post("/attach/remove", data={"source": key_of(site), "forget": "1"})
        assert client.get(path).status_code == 404


REFUSED = (
    ("http://127.0.0.1:9/", 403, "not open to fetching"),
    ("http://10.0.0.7/", 403, "not open to fetching"),
    ("file:///etc/passwd", 400, ""),
    ("kettle", 400, "no web address"),
    ("", 400, ""),
)


def test_what_cannot_be_attached_is_refused_in_a_sentence(database_url: str) -> None:
    with web_server(settings(database_url)) as client:
        for (address, status, words), path in product(REFUSED, ("/attach/look", "/attach")):
            refused = client.post(path, data={"url": address})
            assert refused.status_code in (status, 400), address
            (problem,) = texts(refused, "//*[@role='alert']")
            assert words in problem
        assert client.get("/api/sources").json()["total"] == 0


def test_only_who_may_change_the_corpus_attaches(database_url: str) -> None:
    with (
        serving_kettles(1) as site,
        opened(database_url, site, mcp_auth_token=TOKEN, mcp_read_token=READ_TOKEN) as client,
    ):
        paths = ("/attach", "/attach/look", "/attach/remove", "/attach/keep", "/api/sources", "/api/sources/preview")
        for path in paths:
            assert client.post(path, data={"url": site.url}).status_code == 401
            reading = client.post(path, data={"url": site.url}, headers={"authorization": f"Bearer {READ_TOKEN}"})
            assert reading.status_code == 403
            foreign = {"authorization": f"Bearer {TOKEN}", "origin": "http://evil.example"}
            assert client.post(path, data={"url": site.url}, headers=foreign).status_code == 403
        assert site.requests == []


@pytest.mark.alone
@pytest.mark.slow
@needs_chromium
def test_from_the_start_page_to_a_right_answer(database_url: str, browser: Browser) -> None:
    with serving_kettles(39) as site, opened(database_url, site) as client:
        page = new_page(browser, base_url=str(client.base_url))
        messages: list[str] = []
        page.on("console", lambda message: messages.append(message.text))
        page.goto("/")
        page.click("text=Attach a site")
        page.fill("#url", key_of(site))
        page.click("text=Look >> nth=-1")
        expect(page.locator("#there")).to_be_visible()
        assert problems(page) == []
        page.click("text=Attach >> nth=-1")
        expect(page.locator("#reading")).to_contain_text("Read: 39 pages")
        for scheme, width in (("light", 1100), ("dark", 360)):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.set_viewport_size({"width": width, "height": 800})
            assert problems(page) == [], (scheme, width)
        page.fill("#question", "How often does kettle 12 have to be descaled?")
        page.click("text=Ask >> nth=-1")
        page.wait_for_url("**/answers/*")
        expect(page.locator(".answer li").first).to_contain_text("descaled every 22 days")
        for path in ("/", "/attach", f"/attach/remove?source={key_of(site)}", "/sources"):
            page.goto(path)
            assert problems(page) == [], path
        assert messages == []
        page.close()
