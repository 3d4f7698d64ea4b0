"""The pages that show what is stored, over a real corpus and the real application: search, sources, history, graph."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import httpx2
import pytest
from lxml import html
from playwright.sync_api import Browser, expect

from tests.browsing import needs_chromium, new_page
from tests.conftest import fresh_database
from tests.web.accessibility import COLOURS, problems
from tests.web.serving import web_server
from tests.web.tea_corpus import BLACK, EVIL, GERMAN, GREEN, LOST, SCRIPT, SHOWN, settings, store

MOST_BYTES = 150_000
AUDITED = (
    "/search?q=How+is+green+tea+brewed%3F&language=en",
    "/search?q=zebrafish+mitosis",
    "/sources",
    "/sources/tea.example",
    f"/history?url={GREEN}",
    f"/history/at?url={GREEN}&at=2023-03-01",
    f"/history/diff?url={GREEN}",
    "/history/changes",
    f"/graph?key={GREEN}",
    "/graph",
    "/watches",
    "/status",
)


@pytest.fixture(scope="module")
def site(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A client of the application over the tea corpus, which no test changes."""
    with fresh_database(server_url) as url:
        store(url, tmp_path_factory.mktemp("tea"))
        with web_server(settings(url)) as client:
            yield client


class Page:
    """A page as it came: its status, its bytes, and its elements."""

    def __init__(self, response: httpx2.Response) -> None:
        self.status = response.status_code
        self.text = response.text
        self.document = html.document_fromstring(response.content)
        assert len(response.content) < MOST_BYTES
        assert SCRIPT not in self.text, "page text is no markup"
        assert "\u202e" not in self.text, "no sign turns the text around"
        assert not self.document.xpath("//@style | //style | //script[not(@src)] | //@onclick"), "the policy forbids it"
        loaded = self.document.xpath("//script/@src | //link[not(@rel='alternate')]/@href | //img/@src")
        assert all(str(address).startswith("/static/") for address in loaded)
        assert len(self.document.xpath("//h1")) == 1

    def all(self, path: str) -> list[str]:
        """Texts of the elements at a path, on one line each."""
        return [" ".join(one.text_content().split()) for one in self.document.xpath(path)]

    def links(self, text: str) -> list[str]:
        """Addresses of the links with this text."""
        return [str(one.get("href")) for one in self.document.xpath("//main//a") if text in one.text_content()]


def read(site: httpx2.Client, path: str, **query: str) -> Page:
    """The page at a path."""
    return Page(site.get(f"{path}?{urlencode(query)}" if query else path))


def test_a_search_shows_quotes_with_the_words_marked(site: httpx2.Client) -> None:
    page = read(site, "/search", q="How is green tea brewed?")
    assert page.status == 200
    assert page.all("//ol[@class='results']/li//h3")[0] == "Green tea"
    first = page.document.xpath("//ol[@class='results']/li")[0]
    marks = {mark.text for mark in first.xpath(".//blockquote//mark")}
    assert {"Green", "tea", "brewed"} <= marks
    assert "75 degrees" in first.text_content()
    assert "Relevance" in first.text_content()
    assert "English" in first.text_content()
    assert "checked" in first.text_content()
    stored = page.links("On the stored page")[0]
    assert stored.startswith("/pages/")
    assert "start=" in stored
    assert stored.endswith("#quote")
    assert page.links("On the live page")[0].startswith(f"{GREEN}#:~:text=")


def test_the_words_of_another_language_are_marked_by_its_rules(site: httpx2.Client) -> None:
    page = read(site, "/search", q="Teekanne im Haus mit Küche und Ofen", language="de")
    assert {"Häuser", "Küchen", "Teekannen"} <= {mark.text for mark in page.document.xpath("//blockquote//mark")}
    assert page.all("//ol[@class='results']/li//h3") == ["Die Teekannen"]


def test_filters_stand_in_the_address_and_in_the_form(site: httpx2.Client) -> None:
    page = read(site, "/search", q="brewed", source="tea.example", type="html", n="5", below="tea.example/black")
    assert page.all("//ol[@class='results']/li//h3") == ["Black tea"]
    assert page.document.xpath("//input[@name='source' and @checked]/@value") == ["tea.example"]
    assert page.document.xpath("//select[@name='n']/option[@selected]/text()") == ["5"]
    assert page.document.xpath("//details[@open]")
    past = read(site, "/search", q="At how many degrees is green tea brewed?", at="2023-06-01")
    assert "80 degrees" in past.all("//blockquote")[0]
    assert "the page has another text now" in past.text


def test_results_come_in_pages(site: httpx2.Client) -> None:
    first = read(site, "/search", q="tea brewed leaves teapot water", every="1", n="5")
    count = len(first.all("//ol[@class='results']/li"))
    (after,) = first.links("Next page") or [""]
    if after:
        second = Page(site.get(after))
        assert second.document.xpath("//ol[@class='results']/@start") == ["6"]
        assert second.links("Previous page")
    beyond = read(site, "/search", q="tea brewed leaves teapot water", page="90")
    assert beyond.all("//h2") == ["There are no more results"]
    assert count


def test_a_search_without_a_match_says_what_to_try(site: httpx2.Client) -> None:
    page = read(site, "/search", q="zebrafish mitosis", type="pdf")
    assert page.all("//section/h2") == ["Nothing that is stored matches"]
    assert page.links("without filters") == ["/search?q=zebrafish+mitosis&n=10"]
    assert page.links("Ask the question") == ["/?question=zebrafish+mitosis"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"q": "tea", "since": "last week"}, "since: 'last week' is not a date"),
        ({"q": "tea", "at": "2023", "language": "en"}, "The past can be filtered by source and URL"),
        ({"q": "tea", "source": "milk.example"}, "No such source: milk.example"),
        ({"q": "tea", "type": "video"}, "No such document type: video"),
        ({"q": "tea", "at": "2199"}, "is in the future"),
    ],
)
def test_a_filter_that_cannot_be_is_explained(site: httpx2.Client, query: dict[str, str], words: str) -> None:
    page = read(site, "/search", **query)
    assert page.status == 400
    assert words.lower() in page.all("//p[@role='alert']")[0].lower()
    assert page.document.xpath("//input[@id='q']/@value") == ["tea"]


def test_text_of_pages_is_never_markup(site: httpx2.Client) -> None:
    for path, query in (
        ("/search", {"q": "What does a teapot of porcelain say?"}),
        ("/sources/tea.example", {}),
        ("/history", {"url": EVIL}),
        ("/history/at", {"url": EVIL, "at": "2024-03-01"}),
        ("/graph", {"key": EVIL}),
    ):
        page = read(site, path, **query)
        assert page.status == 200, path
        assert SHOWN in page.text, path
    for path in ("/search?q=", "/graph?key=", "/history?url=", "/sources/", "/history/changes?source="):
        hostile = Page(site.get(f"{path}%3Cscript%3Ealert(1)%3C/script%3E%E2%80%AE%00{{{{7*7}}}}"))
        assert hostile.status in (200, 400, 404), path


def test_sources_show_states_freshness_failures_and_languages(site: httpx2.Client) -> None:
    page = read(site, "/sources")
    (row,) = page.all("//tbody/tr")
    for words in ("tea.example", "attached", "4 searchable", "1 failed", "1 page due", "English 3", "German 1"):
        assert words in row
    assert "1 not there" in row
    assert "the last attempt failed" in row
    assert page.document.xpath("//tbody//a/@href") == ["/sources/tea.example"]


def test_a_source_lists_its_pages_by_state(site: httpx2.Client) -> None:
    page = read(site, "/sources/tea.example")
    assert [
        str(link.text_content()) for link in page.document.xpath("//section[@aria-labelledby='pages']//tbody/tr/th/a")
    ][:1] == ["Black tea"]
    reached = page.all("//td[@data-name='Last reached']")[0]
    assert "years ago" in reached
    assert "the last attempt failed: not there" in reached
    assert page.links("2 versions") == [f"/history?{urlencode({'url': GREEN})}"]
    assert all(
        link.startswith("/pages/")
        for link in page.document.xpath("//section[@aria-labelledby='pages']//tbody/tr/th/a/@href")
    )
    [figure] = page.document.xpath("//section[h2='What is stored of it']/figure")
    assert {row.xpath("string(th)"): row.xpath("string(td)") for row in figure.xpath(".//tbody/tr")} == {
        "searchable": "4",
        "failed": "1",
    }
    assert figure.xpath(".//svg//a/@href")[1] == "/sources/tea.example?state=failed#pages"
    failed = read(site, "/sources/tea.example", state="failed")
    assert len(failed.all("//section[@aria-labelledby='pages']//tbody/tr")) == 1
    assert f"{LOST}" in failed.all("//section[@aria-labelledby='pages']//tbody/tr/th")[0]
    assert "not there" in failed.all("//section[@aria-labelledby='pages']//tbody/tr/td")[0]
    assert (
        len(read(site, "/sources/tea.example", words="kanne").all("//section[@aria-labelledby='pages']//tbody/tr")) == 1
    )
    assert read(site, "/sources/tea.example", state="gone").links("Show all of them")
    assert read(site, "/sources/milk.example").status == 404


def test_costs_and_confidence_say_where_there_is_nothing_to_draw(site: httpx2.Client) -> None:
    page = read(site, "/status")
    assert page.all("//h2")[0].startswith("What endpoints were asked")
    assert "Nothing was asked of an endpoint" in page.text
    assert "Nobody has judged an answer" in page.text


def test_the_versions_of_a_page_and_what_changed(site: httpx2.Client) -> None:
    page = read(site, "/history", url="tea.example/green")
    rows = page.all("//section[@aria-labelledby='versions']//tbody/tr")
    assert len(rows) == 2
    assert rows[0].startswith("Version 2")
    assert "edited" in rows[0]
    assert "changed: number" in rows[0]
    assert "first seen" in rows[1]
    [figure] = page.document.xpath("//section[h2='Its texts in time']/figure")
    assert figure.xpath(".//svg//text[@class='name']/text()") == ["version 2", "version 1"]
    assert [row.xpath("string(th)") for row in figure.xpath(".//tbody/tr")] == ["version 2", "version 1"]
    assert page.links("Compare with version 1") == [f"/history/diff?{urlencode({'url': GREEN, 'from': 1, 'to': 2})}"]
    unknown = read(site, "/history", url="https://tea.example/none")
    assert unknown.status == 404
    assert "Nothing is stored of https://tea.example/none" in unknown.all("//p[@role='alert']")[0]


def test_what_a_page_said_on_a_date(site: httpx2.Client) -> None:
    page = read(site, "/history/at", url=GREEN, at="2023-03-01")
    assert "Version 1 on 2023-03-01: certain" in page.text
    assert "80 degrees" in page.all("//article[@class='stored']")[0]
    early = read(site, "/history/at", url=GREEN, at="2001")
    assert "not seen" in early.text
    assert early.links("version 1")
    assert "is not a date" in read(site, "/history/at", url=GREEN, at="then").text


def test_a_comparison_marks_words(site: httpx2.Client) -> None:
    page = read(site, "/history/diff", url=GREEN)
    assert page.all("//del") == ["80"]
    assert page.all("//ins") == ["75"]
    assert "gaiwan" in page.all("//div[contains(@class, 'added')]")[0]
    same = read(site, "/history/diff", **{"url": GREEN, "from": "1", "to": "1"})
    assert "nothing changed" in same.text
    assert read(site, "/history/diff", url=BLACK).status == 404


def test_the_latest_changes_come_first(site: httpx2.Client) -> None:
    page = read(site, "/history/changes", source="tea.example")
    rows = page.all("//tbody/tr")
    assert [row.split()[0] for row in rows[:3]] == sorted([EVIL, GERMAN, GREEN])
    assert "changed" in next(row for row in rows[:3] if GREEN in row)
    assert len(read(site, "/history/changes", kind="changed").all("//tbody/tr")) == 1
    assert len(read(site, "/history/changes", until="2023").all("//tbody/tr")) == 2
    assert read(site, "/history/changes", since="x").status == 400
    assert read(site, "/history/changes", source="milk.example").links("Show all of them")


def test_a_neighbourhood_is_drawn_and_told_in_words(site: httpx2.Client) -> None:
    page = read(site, "/graph", key=GREEN)
    assert page.all("//h1") == ["Around Green tea"]
    lines = page.document.xpath("//svg[@role='group']//line")
    rows = page.document.xpath("//table/tbody/tr")
    assert len(lines) == len(rows) > 1
    assert {row.get("id") for row in rows} == {f"edge{number}" for number in range(1, len(rows) + 1)}
    assert any("See how black tea is brewed" in row.text_content() for row in rows)
    assert all(row.xpath(".//td[@class='says']//a/@href")[0].startswith("/pages/") for row in rows)
    assert not page.document.xpath("//svg//@style | //svg//style")
    assert "far.example" not in page.text
    assert "far.example" in read(site, "/graph", key=GREEN, outside="1").text


def test_the_graph_has_a_beginning_and_answers_what_is_no_key(site: httpx2.Client) -> None:
    begin = read(site, "/graph")
    assert "Green tea" in begin.all("//section//li")
    assert GREEN in begin.document.xpath("//datalist/option/@value")
    like = read(site, "/graph", key="gree te")
    assert like.all("//h2")[0].startswith("Nothing stored has the name gree te")
    assert like.links("Green tea")
    nothing = read(site, "/graph", key="xyzzy 100%")
    assert nothing.links("search the pages") == ["/search?q=xyzzy+100%25"]


@needs_chromium
@pytest.mark.alone
@pytest.mark.slow
def test_everybody_can_use_the_pages(site: httpx2.Client, browser: Browser) -> None:
    """On a phone, and on a wide dark screen."""
    page = new_page(browser)
    requests: list[str] = []
    messages: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    for path in AUDITED:
        page.set_viewport_size({"width": 360, "height": 740})
        page.emulate_media(color_scheme="light")
        page.goto(f"{site.base_url}{path}")
        assert problems(page) == [], path
        page.set_viewport_size({"width": 1600, "height": 900})
        page.emulate_media(color_scheme="dark")
        assert problems(page, COLOURS) == [], path
    page.close()
    assert not messages, "the content policy refuses nothing"
    assert all(url.startswith(str(site.base_url)) for url in requests), "nothing comes from elsewhere"


@needs_chromium
@pytest.mark.alone
@pytest.mark.slow
def test_a_person_goes_from_the_search_to_the_past_and_the_graph(site: httpx2.Client, browser: Browser) -> None:
    """By keyboard alone, scripts switched off."""
    page = new_page(browser, java_script_enabled=False)
    page.goto(f"{site.base_url}/search")
    page.keyboard.type("How is green tea brewed?")
    page.keyboard.press("Enter")
    expect(page.locator(".results mark").first).to_be_visible()
    page.get_by_role("link", name="History").first.press("Enter")
    expect(page.locator("h1")).to_have_text("Green tea")
    page.get_by_role("link", name="Compare with version 1").press("Enter")
    expect(page.locator("ins").first).to_have_text("75")
    page.get_by_role("link", name="All versions").press("Enter")
    page.get_by_role("link", name="What is near").press("Enter")
    expect(page.get_by_role("group", name="Drawing of")).to_be_visible()
    page.get_by_role("group", name="Drawing of").get_by_role("link", name="Black tea").press("Enter")
    expect(page.locator("h1")).to_have_text("Around Black tea")
    page.close()


def test_a_page_is_watched_from_its_history_and_no_longer_from_the_list(site: httpx2.Client) -> None:
    form = read(site, "/history", url=GREEN).document.xpath("//form[@action='/watches']")[0]
    given = {str(one.get("name")): str(one.get("value")) for one in form.xpath(".//input")}
    assert site.post("/watches", data=given).headers["location"] == "/watches"
    refused = site.post("/watches", data={"url": GREEN, "section": "No > such"}, headers={"Accept": "text/html"})
    assert (refused.status_code, "has no section" in refused.text) == (400, True)
    assert site.post("/watches", data={"url": GREEN, "section": "green tea > Storing", "pace": "daily"}).is_redirect
    page = read(site, "/watches")
    assert page.all("//tbody/tr/th/a") == [GREEN, GREEN]
    assert page.all("//tbody/tr/th/span") == ["green tea › Storing"]
    assert page.all("//tbody/tr/td[@data-name='Told']") == ["at once", "daily"]
    for action in page.document.xpath("//tbody//form/@action"):
        assert site.post(action).headers["location"] == "/watches"
    assert read(site, "/watches").all("//tbody/tr") == []
