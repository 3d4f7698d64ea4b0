"""Ask on the page as people do: real pages, a real server, with and without a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx2
import psycopg
import pytest
from lxml import html as lxml_html
from playwright.sync_api import Browser, Page, expect

from tests.browsing import needs_chromium, new_page
from tests.conftest import REPOSITORY, fresh_database
from tests.web.accessibility import problems
from tests.web.serving import ask, web_server
from webrag_core.config import Settings
from webrag_core.web.stored_page import part_around

QUESTION = "How do I compute the greatest common divisor of several integers?"
NOBODY_KNOWS = "What does a licence for a company of 100 people cost?"
SEED = "https://docs.python.org/3.11/library/numeric.html"
GCD = "Return the greatest common divisor of the specified integer arguments."
MOST_BYTES = 150_000


@pytest.fixture(scope="module")
def database(server_url: str) -> Iterator[str]:
    with fresh_database(server_url) as url:
        yield url


@pytest.fixture(scope="module")
def client(database: str) -> Iterator[httpx2.Client]:
    """A server on a frozen real site, which answered one question and could not answer another."""
    warc = REPOSITORY / "evals" / "sites" / "demo.warc.gz"
    settings = Settings(database_url=database, webrag_warc=warc, webrag_previews=2)  # type: ignore[call-arg]
    with web_server(settings) as client:
        path = ask(client, QUESTION, url=f"{SEED}\n")
        assert path.startswith("/answers/"), client.get(path).text
        yield client


@pytest.fixture(scope="module")
def answered(client: httpx2.Client) -> str:
    """The path of the answer."""
    return str(lxml_html.fromstring(client.get("/answers").text).xpath("//ul[@class='list']/li/a/@href")[-1])


def events(client: httpx2.Client, path: str, **headers: str) -> list[tuple[str, str]]:
    text = client.get(f"{path}/events", headers=headers).text
    return re.findall(r"event: (\w+)\r?\ndata: (.*?)\r?\n\r?\n", text, re.DOTALL)


@pytest.mark.slow
def test_steps_sentences_and_the_way_to_the_answer_arrive_as_events(client: httpx2.Client) -> None:
    path = client.post("/ask", data={"question": QUESTION}).headers["location"]
    messages = events(client, path)
    names = [name for name, _ in messages]
    assert names[0] == "status"
    assert names[-1] == "done"
    first = next(data for name, data in messages if name == "sentence")
    assert GCD in first
    assert "math.html#:~:text=" in first
    later = events(client, path, **{"last-event-id": "1"})
    assert later == messages[1:] or len(later) < len(messages)
    assert client.get(path).headers["location"] == messages[-1][1]


def test_an_answer_stands_beside_its_page(client: httpx2.Client, answered: str) -> None:
    tree = lxml_html.fromstring(client.get(answered).text)
    assert "Answered" in tree.xpath("string(//p[contains(@class, 'band')])")
    assert GCD in tree.xpath("string(//ol[@class='answer']/li[1])")
    assert [mark.text for mark in tree.xpath("//aside//mark")] == [GCD]
    assert set(tree.xpath("//ol[contains(@class, 'quotes')]//span/text()")) == {"still stands"}
    second = tree.xpath("//ol[@class='answer']/li[2]/a/@href")
    if second:
        other = lxml_html.fromstring(client.get(str(second[0]).partition("#")[0], follow_redirects=True).text)
        assert other.xpath("//aside//mark")


def test_the_walk_of_an_answer_is_drawn_and_listed(client: httpx2.Client, answered: str) -> None:
    tree = lxml_html.fromstring(client.get(answered).text)
    [figure] = tree.xpath("//section[h2='How it was found']/figure")
    [drawn] = figure.xpath(".//svg//a/@href")
    assert client.get(str(drawn).partition("#")[0]).status_code == 200
    rows = {row.xpath("string(td[1])"): row.xpath("td/text()")[1:] for row in figure.xpath(".//tbody/tr")}
    assert rows[SEED][0] == "read first"
    quoted = [url for url, (*_, quotes) in rows.items() if quotes != "–"]
    assert quoted == ["https://docs.python.org/3.11/library/math.html"]
    assert rows[quoted[0]][1] != "–", "the page that led to it"
    assert not tree.xpath("//@style | //style")


def test_an_answer_can_be_taken_along(client: httpx2.Client, answered: str) -> None:
    for suffix, kind in (("md", "text/markdown"), ("html", "text/html")):
        response = client.get(f"{answered}.{suffix}")
        assert response.headers["content-type"].startswith(kind)
        assert response.headers["content-disposition"].startswith("attachment")
        assert "greatest common divisor of the specified" in response.text
    assert client.get(f"{answered}.exe").status_code == 404


def test_what_nothing_answers_is_said_first(client: httpx2.Client) -> None:
    tree = lxml_html.fromstring(client.get(ask(client, NOBODY_KNOWS)).text)
    assert tree.xpath("string(//p[contains(@class, 'band')])").startswith("No answer")
    assert not tree.xpath("//ol[@class='answer']")
    assert tree.xpath("//h2[.='The nearest passages']")


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        ({"question": "  "}, 400, "empty"),
        ({"question": "Where?", "url": "http://[nowhere/"}, 400, "[nowhere"),
        ({"question": "Where?", "url": "ftp://x.org/"}, 400, "only http and https"),
    ],
)
def test_what_cannot_be_asked_is_said_beside_the_question(
    client: httpx2.Client, fields: dict[str, str], status: int, message: str
) -> None:
    response = client.post("/ask", data=fields)
    assert response.status_code == status
    tree = lxml_html.fromstring(response.text)
    assert message in tree.xpath("string(//p[@role='alert'])")
    assert tree.xpath("string(//textarea[@name='question'])").strip() == fields["question"].strip()


def test_a_page_that_cannot_be_read(client: httpx2.Client) -> None:
    path = ask(client, "What is on this page?", url="nowhere.example/page")
    assert path.startswith("/running/")
    alert = lxml_html.fromstring(client.get(path).text).xpath("string(//p[@role='alert'])")
    assert "holds nothing of nowhere.example" in alert


@pytest.mark.slow
def test_quotes_of_real_pages_are_marked(client: httpx2.Client, database: str) -> None:
    with psycopg.connect(database) as connection:
        rows = connection.execute(
            "SELECT v.markdown, c.char_start, c.char_end FROM chunks c JOIN document_versions v ON v.id = c.version_id"
            " WHERE c.level = 'child' ORDER BY c.id % 7, c.id LIMIT 40"
        ).fetchall()
    assert len(rows) == 40
    for markdown, start, end in rows:
        assert part_around(markdown, [(start, end)], 500).quote == "", markdown[start:end]


def test_pages_are_light(client: httpx2.Client, answered: str) -> None:
    for path in ("/", "/answers", answered, "/pages/1"):
        text = client.get(path).text
        files = set(re.findall(r'(?:src|href)="(/static/[^"]+)"', text))
        size = len(text.encode()) + sum(len(client.get(file).content) for file in files)
        assert size <= MOST_BYTES, (path, size)


@pytest.fixture
def window(client: httpx2.Client, browser: Browser) -> Iterator[Page]:
    """A browser window that fails on foreign requests and on anything that the content policy stops."""
    page = new_page(browser, base_url=str(client.base_url), viewport={"width": 1400, "height": 900})
    requests: list[str] = []
    messages: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    yield page
    assert {url for url in requests if not url.startswith(str(client.base_url).rstrip("/"))} == set()
    assert messages == []
    page.close()


@pytest.mark.alone
@needs_chromium
def test_a_person_asks(window: Page, answered: str) -> None:
    window.goto("/")
    window.keyboard.type(QUESTION)  # the box has the focus
    window.keyboard.press("Enter")
    window.wait_for_url("**/answers/*")
    expect(window.locator(".answer li").first).to_contain_text(GCD)
    expect(window.locator("aside mark").first).to_be_in_viewport()
    numbers = window.locator(".answer a.number")
    last = numbers.last
    last.click()
    expect(last).to_have_attribute("aria-current", "true")
    expect(window.locator("aside mark").first).to_be_in_viewport()
    for scheme, width in (("light", 1400), ("dark", 360)):
        window.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        window.set_viewport_size({"width": width, "height": 800})
        for path in ("/", answered) if scheme == "light" else ("/answers", answered, "/pages/1"):
            window.goto(path)
            assert problems(window) == [], (path, scheme, width)


@pytest.mark.alone
@needs_chromium
def test_without_scripts_the_page_does_the_same(client: httpx2.Client, browser: Browser) -> None:
    page = new_page(browser, base_url=str(client.base_url), java_script_enabled=False)
    page.goto("/")
    page.fill("#question", QUESTION)
    page.click("text=Ask >> nth=-1")
    page.wait_for_url("**/answers/*")  # the waiting page loads itself again
    expect(page.locator("aside mark").first).to_have_text(GCD)
    page.close()
