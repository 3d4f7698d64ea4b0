"""Feeds: valid Atom whatever pages say, conditional, bounded, for readers that keep no session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal
from xml.etree import ElementTree

import httpx2
import psycopg
import pytest
from pydantic import SecretStr

from tests.conftest import fresh_database
from tests.web.serving import web_server
from tests.web.tea_corpus import FIRST, GREEN, HOST, settings, store
from webrag_core.answering.manager import Manager, Question
from webrag_core.history.models import PageChange
from webrag_core.indexing.pipeline import Corpus
from webrag_core.showing.atom import FeedEntry, render_feed
from webrag_core.web.feeds import entries_of_changes

SOURCE, ANSWERS = "/sources/tea.example/feed.atom", "/answers/feed.atom"
TOKEN, READING = "t" * 32, "r" * 32
_ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def database(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with fresh_database(server_url) as url:
        store(url, tmp_path_factory.mktemp("tea"))
        yield url


@pytest.fixture(scope="module")
def client(database: str) -> Iterator[httpx2.Client]:
    with web_server(settings(database)) as client:
        yield client


def entries(text: str) -> list[dict[str, str]]:
    """The entries of a feed by element, after a check of what RFC 4287 requires of it and of each."""
    feed = ElementTree.fromstring(text)
    assert feed.tag == f"{_ATOM}feed"
    assert feed.findtext(f"{_ATOM}author/{_ATOM}name")
    listed = []
    for element in (feed, *feed.findall(f"{_ATOM}entry")):
        identifier, updated = element.findtext(f"{_ATOM}id") or "", element.findtext(f"{_ATOM}updated") or ""
        assert identifier.startswith("urn:uuid:")
        assert datetime.fromisoformat(updated).tzinfo is not None
        links = {link.get("rel") or "": link.get("href") or "" for link in element.findall(f"{_ATOM}link")}
        assert all(link.startswith(("http://", "https://")) for link in links.values())
        title, summary = element.findtext(f"{_ATOM}title") or "", element.findtext(f"{_ATOM}summary") or ""
        assert title
        listed.append({"id": identifier, "updated": updated, "title": title, "summary": summary, **links})
    assert len({entry["id"] for entry in listed}) == len(listed)
    return listed[1:]


def test_the_changes_of_a_source(client: httpx2.Client) -> None:
    page = client.get("/sources/tea.example").text
    assert f'<link rel="alternate" type="application/atom+xml" title="Changes of tea.example" href="{SOURCE}">' in page
    response = client.get(SOURCE)
    assert response.headers["content-type"].startswith("application/atom+xml")
    listed = entries(response.text)
    changed = next(entry for entry in listed if entry["related"] == GREEN and entry["title"].startswith("Changed: "))
    assert "Version 1 became version 2" in changed["summary"]
    assert changed["alternate"].startswith(str(client.base_url).rstrip("/"))
    assert client.get(changed["alternate"]).status_code == 200
    assert [entry["updated"] for entry in listed] == sorted((entry["updated"] for entry in listed), reverse=True)
    assert client.get("/sources/no.example/feed.atom").status_code == 404
    assert client.post(SOURCE).status_code == 405
    assert len(client.get("/api/changes/latest", params={"source": "tea.example"}).json()["changes"]) == len(listed)


def test_pages_of_a_first_reading_are_one_entry() -> None:
    read = datetime(2026, 3, 1, 12, 5, tzinfo=UTC)

    def change(number: int, minutes: int, kind: Literal["new", "gone"] = "new") -> PageChange:
        return PageChange(
            url=f"https://site.example/{number}",
            title=f"Page {number}",
            kind=kind,
            from_version=None,
            to_version=1,
            after=None,
            by=read + timedelta(minutes=minutes),
            cause=None,
        )

    later = [change(100, 900), change(3, 30, "gone")]
    first = [change(number, 0) for number in range(40)]
    listed = entries_of_changes([*later, *first], "site.example", "https://here.example")
    assert [entry.title for entry in listed] == ["New: Page 100", "Gone: Page 3", "40 new pages"]
    assert listed[-1].summary.startswith("Page 0, Page 1,")
    once_more = entries_of_changes([*later, *first, change(41, -1)], "site.example", "https://here.example")
    assert once_more[-1].subject == listed[-1].subject  # the same entry, that grew
    assert [entry.title for entry in entries_of_changes(first[:2], "site.example", "https://here.example")] == [
        "New: Page 0",
        "New: Page 1",
    ]


def test_a_reader_that_has_it_gets_nothing_new(client: httpx2.Client) -> None:
    for path in (SOURCE, ANSWERS):
        first = client.get(path)
        tag = first.headers["etag"]
        for known in (tag, f"W/{tag}", f'"x", {tag}', "*"):
            again = client.get(path, headers={"if-none-match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert client.get(path, headers={"if-none-match": '"x"'}).status_code == 200
        assert client.head(path).headers["etag"] == tag


def test_an_answer_whose_quote_changed(client: httpx2.Client, database: str) -> None:
    async def ask() -> int:
        async with Corpus.open(settings(database)) as corpus:
            wanted = Question("How is green tea brewed?", sources=("tea.example",))
            return (await Manager(corpus).answer(wanted)).answer_id or 0

    number = asyncio.run(ask())
    assert entries(client.get(ANSWERS).text) == []
    with psycopg.connect(database) as connection:  # as if it had been given two days before
        connection.execute(
            "WITH old AS (SELECT v.id, position('80 degrees' in v.markdown) AS place FROM document_versions v"
            " JOIN documents d ON d.id = v.document_id WHERE d.canonical_url = %s AND v.number = 1)"
            " UPDATE citations c SET version_id = old.id, char_start = old.place - 21, char_end = old.place + 9,"
            " quote_sha256 = (SELECT encode(sha256(convert_to(substr(v.markdown, old.place - 20, 30), 'utf8')), 'hex')"
            "  FROM document_versions v WHERE v.id = old.id) FROM old WHERE c.answer_id = %s AND c.number = 1",
            (GREEN, number),
        )
    [entry] = entries(client.get(ANSWERS).text)
    assert (entry["title"], "1 changed" in entry["summary"]) == ("How is green tea brewed?", True)
    assert entry["alternate"].endswith(f"/answers/{number}")
    [answer] = client.get("/api/answers/changed").json()["answers"]
    assert (answer["answer_id"], answer["changed"]) == (number, 1)
    assert entries(client.get(ANSWERS).text) == [entry]


def test_a_feed_is_open_to_who_may_read(database: str) -> None:
    tokens = {"mcp_auth_token": SecretStr(TOKEN), "mcp_read_token": SecretStr(READING)}
    with web_server(settings(database, **tokens)) as client:
        for path in (SOURCE, ANSWERS):
            assert client.get(path).status_code == 303
            for token in (TOKEN, READING):
                response = client.get(path, params={"token": token})
                assert (response.status_code, "set-cookie" in response.headers) == (200, False)
                assert token not in response.text
            assert client.get(path, params={"token": "x" * 32}).status_code == 303
            assert client.get(path, headers={"authorization": f"Bearer {READING}"}).status_code == 200
            foreign = {"origin": "https://evil.example"}
            assert client.get(path, params={"token": TOKEN}, headers=foreign).status_code == 403
        assert client.get("/answers", params={"token": READING}).status_code == 303  # to a session
        client.cookies.clear()
        assert client.post(SOURCE, params={"token": TOKEN}).status_code == 401


def test_no_text_of_a_page_breaks_a_feed() -> None:
    evil = "<b>&\u0000\u0008\ud800\ufffe]]>\u202e</title><script>"
    entry = FeedEntry("x", evil, evil, FIRST, f"{HOST}/{evil}", f"{HOST}/?a=1&b=<")
    text = render_feed(subject="s", title=evil, link=HOST, feed=f"{HOST}/f", entries=[entry])
    text.encode()
    [read] = entries(text)
    assert read["title"] == "<b>&]]></title><script>"
    assert read["related"] == f"{HOST}/?a=1&b=<"
