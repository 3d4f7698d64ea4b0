"""A link that shows one answer: what it opens, and every way that it must not open."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from http.client import HTTPConnection

import httpx2
import psycopg
import pytest
from lxml import html as lxml_html
from lxml.html import HtmlElement
from pydantic import SecretStr

from tests.conftest import fresh_database
from tests.web.serving import ask, web_server
from tests.web.tea_corpus import EVIL, GREEN, SCRIPT, SHOWN, settings, store
from webrag_core.corpus.forget import forget
from webrag_core.store.database import Database

TOKEN, READING = "t" * 32, "r" * 32
FULL = {"authorization": f"Bearer {TOKEN}"}
NOTHING = "This link shows nothing"


@pytest.fixture(scope="module")
def database(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with fresh_database(server_url) as url:
        store(url, tmp_path_factory.mktemp("tea"))
        with web_server(settings(url)) as client:
            for question in ("How is green tea brewed?", "What does a teapot of porcelain say?", "Which milk is best?"):
                ask(client, question)
        yield url


@pytest.fixture(scope="module")
def client(database: str) -> Iterator[httpx2.Client]:
    tokens = {"mcp_auth_token": SecretStr(TOKEN), "mcp_read_token": SecretStr(READING)}
    with web_server(settings(database, **tokens)) as client:
        yield client


def number_of(database: str, words: str) -> int:
    """The number of the answer to a question with these words."""
    with psycopg.connect(database) as connection:
        [(number,)] = connection.execute(
            "SELECT id FROM answer_runs WHERE kind = 'prose' AND query LIKE %s", (f"%{words}%",)
        ).fetchall()
    return int(number)


def shared(client: httpx2.Client, answer: int, days: float = 7) -> tuple[int, str]:
    """The number and the path of a new link."""
    response = client.post("/api/shares", json={"answer": answer, "days": days}, headers=FULL)
    assert response.status_code == 201, response.text
    return response.json()["share"]["share_id"], response.json()["path"]


@pytest.fixture(scope="module")
def path(client: httpx2.Client, database: str) -> str:
    return shared(client, number_of(database, "green tea"))[1]


def test_a_link_shows_one_answer_and_leads_nowhere_else(client: httpx2.Client, path: str, database: str) -> None:
    assert re.fullmatch(r"/shared/[A-Za-z0-9_-]{43}", path)
    response = client.get(path)
    assert response.status_code == 200
    page = tree(response.text)
    assert "75 degrees" in page.xpath("string(//ol[@class='answer'])")
    assert page.xpath("//blockquote")
    assert not page.xpath("//form | //nav | //script | //button")
    links = page.xpath("//a/@href")
    assert links
    assert all(link.startswith(("#quote-", f"{GREEN}", "https://tea.example/")) for link in links), links
    assert all("noreferrer" in link.get("rel") for link in page.xpath("//a[starts-with(@href, 'http')]"))
    assert [link.split("?")[0] for link in page.xpath("//link/@href")] == ["/static/icon.svg", "/static/style.css"]
    for name, value in {
        "referrer-policy": "no-referrer",
        "x-robots-tag": "noindex, nofollow, noarchive",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
    }.items():
        assert response.headers.get_list(name) == [value]
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "set-cookie" not in response.headers
    assert f"Answer {number_of(database, 'green tea')}" not in response.text
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert client.get(path, headers=followed).status_code == 200  # a link in a message
    assert client.get("/answers", headers={"accept": "application/json"}).headers["referrer-policy"] == "same-origin"


def test_text_of_pages_is_no_markup_there(client: httpx2.Client, database: str) -> None:
    text = client.get(shared(client, number_of(database, "porcelain"))[1]).text
    assert EVIL in text
    assert (SCRIPT in text, SHOWN in text) == (False, True)


def tree(text: str) -> HtmlElement:
    return lxml_html.fromstring(text)


def raw(client: httpx2.Client, path: str) -> tuple[int, tuple[tuple[str, str], ...], str]:
    """Status, headers without the date, and text of a path that is sent as it is."""
    connection = HTTPConnection("127.0.0.1", client.base_url.port or 0)
    connection.putrequest("GET", path)
    connection.endheaders()
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, tuple(sorted(header for header in response.getheaders() if header[0] != "date")), text


def test_whatever_is_no_link_looks_the_same(client: httpx2.Client, path: str, database: str) -> None:
    token = path.removeprefix("/shared/")
    number = number_of(database, "green tea")
    share, revoked = shared(client, number)
    assert client.get(revoked).status_code == 200
    assert client.delete(f"/api/shares/{share}", headers=FULL).status_code == 200
    share, ended = shared(client, number)
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE answer_shares SET expires_at = now() WHERE id = %s", (share,))
        [(digest,)] = connection.execute("SELECT encode(token_sha256, 'hex') FROM answer_shares LIMIT 1").fetchall()
    wrong = [revoked, ended]
    wrong += [f"/shared/{path}" for path in ("A" * 43, "x", digest, TOKEN, str(number), "%00", "-1", token[:-1])]
    wrong += [
        f"{path}{end}" for end in ("/", "x", ".", ".html", ".md", "/feed.atom", "%20", "%00", "/..", "/../../answers")
    ]
    wrong += [f"/shared/{path}" for path in (token.swapcase(), f"%20{token}", f"../answers/{number}", "%2e%2e/answers")]
    wrong += [f"/shared/{token}%2f..%2f..%2fanswers", f"/shared//{token}", f"/shared/./{token}", f"/shared/..;/{token}"]
    looks = set()
    for attempt in wrong:
        status, headers, text = raw(client, attempt)
        assert (status, NOTHING in text) == (404, True), attempt
        looks.add((text, headers))
    assert client.head(revoked).status_code == 404
    assert len(looks) == 1
    assert client.head(path).status_code == 200
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"):
        assert client.request(method, path).status_code == 404


def test_a_token_of_a_link_opens_no_other_door(client: httpx2.Client, path: str, database: str) -> None:
    token = path.removeprefix("/shared/")
    number = number_of(database, "green tea")
    for door in (
        "/",
        "/answers",
        f"/answers/{number}",
        f"/answers/{number}.md",
        "/answers/feed.atom",
        "/sources",
        "/pages/1",
    ):
        for asked in (door, f"{door}?token={token}"):
            response = client.get(asked, headers={"cookie": f"webrag_session={token}"})
            assert response.status_code == 303, asked  # to the form, or to the same address without the token
            assert "set-cookie" not in response.headers
    for door in ("/api/status", f"/api/answers/{number}", "/api/shares"):
        for headers in ({"authorization": f"Bearer {token}"}, {}):
            assert client.get(f"{door}?token={token}", headers=headers).status_code == 401
    assert client.post("/login", data={"token": token}).status_code == 401
    assert client.post("/mcp", params={"token": token}, json={}).status_code == 401
    for headers in (
        {"origin": "https://evil.example"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
    ):
        assert client.get(path, headers=headers).status_code == 403
    assert client.get(path, headers={"host": "evil.example"}).status_code == 421


def test_who_may_not_change_anything_makes_no_link(client: httpx2.Client, database: str) -> None:
    number = number_of(database, "green tea")
    reading = {"authorization": f"Bearer {READING}"}
    assert client.post("/api/shares", json={"answer": number}, headers=reading).status_code == 403
    assert client.delete("/api/shares/1", headers=reading).status_code == 403
    assert client.post(f"/answers/{number}/share", data={}, headers=reading).status_code == 403
    assert (
        client.post(f"/answers/{number}/share", data={}, headers={**FULL, "origin": "https://evil.example"}).status_code
        == 403
    )
    for body in ({"answer": number, "days": 0}, {"answer": number, "days": 10_000}, {"answer": 0}):
        assert client.post("/api/shares", json=body, headers=FULL).status_code == 400
    assert client.post("/api/shares", json={"answer": 10**9}, headers=FULL).status_code == 404
    listed = client.get("/api/shares", headers=reading)
    assert "token" not in listed.text  # nobody reads it twice


def test_a_person_makes_and_revokes_a_link(client: httpx2.Client, database: str) -> None:
    number = number_of(database, "milk")
    page = tree(client.get(f"/answers/{number}", headers=FULL).text)
    fields = dict(page.xpath("//form[contains(@action, '/share')]")[0].form_values())
    response = client.post(f"/answers/{number}/share", data=fields, headers=FULL)
    link = tree(response.text).xpath("//input[@id='link']/@value")[0]
    assert link.startswith(str(client.base_url))
    assert client.get(link).status_code == 200
    again = client.get(f"/answers/{number}", headers=FULL).text
    assert link not in again
    [form] = tree(again).xpath("//form[contains(@action, '/unshare')]")
    assert client.post(form.get("action"), data=dict(form.form_values()), headers=FULL).status_code == 303
    assert client.get(link).status_code == 404


def test_what_is_forgotten_goes_from_the_link(client: httpx2.Client, database: str) -> None:
    number = number_of(database, "porcelain")
    path = shared(client, number)[1]
    assert "porcelain says" in client.get(path).text

    async def drop(target: str) -> None:
        async with await Database.open(settings(database)) as opened:
            await forget(opened, target, removed_by="a test")

    asyncio.run(drop(EVIL))
    assert "porcelain says" not in client.get(path).text
    asyncio.run(drop(str(number)))
    assert (client.get(path).status_code, NOTHING in client.get(path).text) == (404, True)
    with psycopg.connect(database) as connection:
        links = connection.execute("SELECT count(*) FROM answer_shares WHERE answer_id = %s", (number,)).fetchone()
    assert links == (0,)
