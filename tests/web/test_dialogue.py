"""The box for the next question under an answer, conversations, and what a person says about an answer on its page."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import psycopg
import pytest
from lxml import html as lxml_html
from lxml.html import HtmlElement
from playwright.sync_api import Browser, expect

from tests.browsing import needs_chromium, new_page
from tests.conftest import fresh_database
from tests.web.accessibility import problems
from tests.web.serving import ask, web_server
from tests.web.tea_corpus import GREEN, settings, store

QUESTION = "How is green tea brewed?"
NEXT = "how is it stored?"
READ_AS = "how is green tea stored?"


@pytest.fixture(scope="module")
def database(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with fresh_database(server_url) as url:
        store(url, tmp_path_factory.mktemp("tea"))
        yield url


@pytest.fixture(scope="module")
def client(database: str) -> Iterator[httpx2.Client]:
    with web_server(settings(database)) as client:
        yield client


@pytest.fixture(scope="module")
def answered(client: httpx2.Client) -> str:
    """The path of the first answer."""
    return ask(client, QUESTION)


@pytest.fixture(scope="module")
def followed(client: httpx2.Client, answered: str) -> str:
    """The path of the answer to the next question."""
    fields = dict(tree(client, answered).xpath("//form[contains(@class, 'next')]")[0].form_values())
    return ask(client, NEXT, follows=fields["follows"])


def tree(client: httpx2.Client, path: str) -> HtmlElement:
    return lxml_html.fromstring(client.get(path).text)


def text_at(page: HtmlElement, path: str) -> str:
    """The text of the first element at an XPath."""
    return str(page.xpath(f"string({path})")).strip()


def number(path: str) -> int:
    return int(path.rsplit("/", 1)[1])


def rows(database: str) -> list[tuple[object, ...]]:
    with psycopg.connect(database) as connection:
        return connection.execute(
            "SELECT answer_id, kind, sentence, text, actor, actor_kind, suggested ->> 'url' FROM feedback ORDER BY id"
        ).fetchall()


def test_the_next_question_is_read_with_the_one_above(client: httpx2.Client, answered: str, followed: str) -> None:
    page = tree(client, followed)
    assert text_at(page, "//h1") == NEXT
    assert f"Read as: {READ_AS}" in page.text_content()
    turns = page.xpath("//nav[@aria-label='This conversation']//li")
    assert [turn.xpath("string(.//a/@href)") for turn in turns] == [answered, ""]
    [listed] = tree(client, "/conversations").xpath("//ul[@class='list']/li")
    assert QUESTION in listed.text_content()
    assert "2 questions" in listed.text_content()
    api = client.get("/api/conversations").json()["conversations"]
    assert [(row["number"], row["turns"]) for row in api] == [(number(answered), 2)]
    turns = client.get(f"/api/conversations/{number(followed)}").json()["turns"]
    assert [(turn["query"], turn["wording"]) for turn in turns] == [(QUESTION, None), (READ_AS, NEXT)]


def test_what_was_carried_over_can_be_taken_out(client: httpx2.Client, followed: str) -> None:
    form = next(form for form in tree(client, followed).forms if "carry" in dict(form.form_values()))
    fields = dict(form.form_values())
    path = ask(client, fields.pop("question"), **fields)
    body = {"question": NEXT, "follows": number(followed), "carry": False}
    assert "Read as" not in client.get(path).text
    assert client.post("/api/ask", json=body).json()["carried"] == []
    assert client.post("/api/ask", json={**body, "carry": True}).json()["question"] == READ_AS


def test_an_answer_that_is_not_there_cannot_be_followed(client: httpx2.Client) -> None:
    response = client.post("/api/ask", json={"question": NEXT, "follows": 10**9})
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_stored")


def test_a_person_judges_an_answer(client: httpx2.Client, database: str, answered: str) -> None:
    before = len(rows(database))
    quote = "Boiling water makes it bitter."
    for fields in (
        {"kind": "helpful"},
        {"kind": "wrong", "sentence": "1", "text": "It is <b>older</b>"},
        {"kind": "better_source", "better_url": GREEN, "quote": quote},
    ):
        response = client.post(f"{answered}/feedback", data=fields)
        assert response.status_code == 303, response.text
        assert "Noted" in client.get(response.headers["location"].partition("#")[0]).text
    said = [row[1:] for row in rows(database)[before:]]
    assert said == [
        ("helpful", None, None, "web page", "person", None),
        ("wrong", 1, "It is <b>older</b>", "web page", "person", None),
        ("better_source", None, None, "web page", "person", GREEN),
    ]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "splendid"}, "Kind"),
        ({"kind": "wrong", "sentence": "999"}, "no sentence 999"),
        ({"kind": "wrong", "sentence": "x"}, "Choose a sentence"),
        ({"kind": "better_source", "better_url": GREEN, "quote": "Nobody wrote this <script>x</script>"}, "letter"),
        ({"kind": "better_source", "better_url": "http://[x/", "quote": "Nobody wrote this"}, "[x"),
    ],
)
def test_what_cannot_be_meant_is_said_beside_the_form(
    client: httpx2.Client, database: str, answered: str, fields: dict[str, str], message: str
) -> None:
    before = rows(database)
    response = client.post(f"{answered}/feedback", data=fields)
    assert 400 <= response.status_code < 500
    page = lxml_html.fromstring(response.text)
    assert message in text_at(page, "//section[@id='feedback']//p[@role='alert']")
    assert text_at(page, "//textarea[@name='quote']") == fields.get("quote", "")
    assert rows(database) == before


def test_no_other_site_judges(client: httpx2.Client, database: str, answered: str) -> None:
    before = rows(database)
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        for path in (f"{answered}/feedback", "/ask"):
            response = client.post(path, data={"kind": "wrong", "question": "x"}, headers=headers)
            assert response.status_code == 403
    assert client.get(f"{answered}/feedback").status_code == 405
    assert client.post("/answers/999999/feedback", data={"kind": "wrong"}).status_code == 404
    assert rows(database) == before


@pytest.mark.alone
@pytest.mark.slow
@needs_chromium
def test_a_person_asks_on_and_judges_by_keyboard(
    client: httpx2.Client, database: str, browser: Browser, answered: str, followed: str
) -> None:
    window = new_page(browser, base_url=str(client.base_url), viewport={"width": 1400, "height": 900})
    window.goto(answered)
    window.locator("#question").focus()
    window.keyboard.type(NEXT)
    window.keyboard.press("Enter")
    window.wait_for_url(lambda url: "/answers/" in url and not url.endswith(answered))
    expect(window.get_by_text(f"Read as: {READ_AS}")).to_be_visible()
    window.locator("button[value=helpful]").focus()
    window.keyboard.press("Enter")
    window.wait_for_url("**noted=*")
    expect(window.locator("#feedback [role=status]")).to_contain_text("Noted")
    assert rows(database)[-1][1] == "helpful"
    for scheme, width in (("light", 1400), ("dark", 360)):
        window.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        window.set_viewport_size({"width": width, "height": 800})
        for path in (followed, "/conversations", "/gaps"):
            window.goto(path)
            window.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
            assert problems(window) == [], (path, scheme, width)
    window.close()


def test_what_could_not_be_answered_is_listed(client: httpx2.Client, database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute(
            "INSERT INTO site_map_pages (source_id, url, title, listed_in)"
            " SELECT id, 'https://tea.example/licence', '<script>A licence for companies</script>', 'x' FROM sources"
        )
    ask(client, "What does a licence for a company of 100 people cost?")
    page = tree(client, "/gaps")
    row = next(row for row in page.xpath("//tbody/tr") if "licence" in row.text_content())
    assert "1 refused" in row.text_content()
    assert any("url=https%3A%2F%2Ftea.example%2Flicence" in link for link in row.xpath(".//a/@href"))
    assert any(gap["lacking"] for gap in client.get("/api/gaps").json()["gaps"])
    assert client.get("/api/gaps", params={"since": "never"}).status_code == 400
    for path in ("/gaps", "/conversations"):
        assert tree(client, path).xpath("//nav[@aria-label='Main']//a[@aria-current]/@href") == ["/answers"]
        assert tree(client, path).xpath("//main//p/a[@href='/answers']")


def test_by_one_click_questions_become_golden(client: httpx2.Client, database: str) -> None:
    question = "What does a licence for green tea cost a company?"
    ask(client, question)
    row = next(row for row in tree(client, "/gaps").xpath("//tbody/tr") if question in row.text_content())
    form = next(form for form in row.xpath(".//form[@action='/gaps/golden']"))
    near = form.xpath("./a/@href")[0]
    assert "<mark" in client.get(near.partition("#")[0]).text
    fields = list(form.form_values())
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert client.post("/gaps/golden", data=dict(fields), headers=headers).status_code == 403
        assert client.post("/gaps/pages", data={"urls": GREEN}, headers=headers).status_code == 403
    response = client.post("/gaps/golden", data=dict(fields))
    assert (response.status_code, response.headers["location"]) == (303, "/gaps?golden=1")
    page = tree(client, response.headers["location"])
    assert "1 golden question now" in text_at(page, "//main//p[@role='status']")
    row = next(row for row in page.xpath("//tbody/tr") if question in row.text_content())
    assert "golden" in row.xpath(".//td[@data-name='Why']")[0].text_content()
    assert rows(database)[-1][1] == "better_source"
    for wrong in ({}, {"answers": "x"}, {"answers": "999999"}):
        refused = client.post("/gaps/golden", data=wrong)
        assert refused.status_code in (400, 404)
        assert text_at(lxml_html.fromstring(refused.text), "//p[@role='alert']")


def test_programs_suggest_and_people_decide(client: httpx2.Client, answered: str) -> None:
    body = {"answers": [int(answered.rpartition("/")[2])], "citation": 1}
    assert client.post("/api/gaps/golden", json=body).status_code == 403  # without MCP_FEEDBACK
    assert client.post("/api/gaps/pages", json={"urls": ["https://elsewhere.example/"]}).status_code == 400
