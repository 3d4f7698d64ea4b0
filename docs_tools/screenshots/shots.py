"""The list of pictures. To add one: a function that brings the page to what is to be seen, and a line in SHOTS."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from docs_tools.screenshots.instance import SUITE, await_run, three_nights
from docs_tools.screenshots.stage import DEMO, SITES, Stage

MILLISECONDS = 180_000
MANUAL = "https://docs.python.org/3.11/library"
QUESTION = "How do I compute the greatest common divisor of several integers?"
_ASYNCIO = ("asyncio-queue", "asyncio-api-index", "asyncio", "asyncio-task", "asyncio-runner", "asyncio-dev", "queue")


@dataclass(frozen=True, slots=True)
class Shot:
    """docs/images/NAME.png: a page of `width` × `height` CSS pixels, as a picture of `pixels` in width."""

    name: str
    reach: Callable[[Stage], None]
    width: int = 1400
    height: int = 1200
    pixels: int = 1000
    scheme: Literal["light", "dark"] = "light"


def prose(stage: Stage) -> None:
    """The page that `webrag ask --html` writes, after the question was asked for evidence, as `make demo` does."""
    stage.webrag("answer", f"{MANUAL}/numeric.html", QUESTION, warc=DEMO)
    stage.webrag("ask", QUESTION, "--url", f"{MANUAL}/numeric.html", "--html", "prose.html", warc=DEMO)
    stage.show("prose.html")


def history(stage: Stage) -> None:
    """Two versions of a page side by side."""
    address = "https://docs.python.org/3/library/asyncio-queue.html"
    for release in ("3.11", "3.13"):
        stage.webrag("ingest", "--warc", str(SITES / "versions" / f"python-{release}-thin.warc.gz"))
    stage.webrag("history", address, "--html", "diff.html")
    stage.show("diff.html")


def graph(stage: Stage) -> None:
    """The neighbourhood of a symbol."""
    stage.webrag("ingest", *(f"{MANUAL}/{name}.html" for name in _ASYNCIO))
    stage.webrag("graph", "related", "docs.python.org:asyncio.Queue", "--html", "graph.html", "-k", "23")
    stage.show("graph.html")


def launchpad(stage: Stage) -> None:
    """The launchpad of job `answer`, as it opens."""
    stage.page.goto(f"{stage.ui}/locations/webrag/jobs/answer/playground")
    expect(stage.page.locator(".CodeMirror-code")).to_contain_text("url: https://", timeout=MILLISECONDS)


def run(stage: Stage) -> None:
    """A run of it that ended."""
    launchpad(stage)
    _launch(stage.page)
    address = stage.page.url
    stage.page.goto("about:blank")  # what moves on the page of a run that is at work takes a core
    await_run(stage.home_of_up, address.rpartition("/")[2], MILLISECONDS / 1000)
    stage.page.goto(address)
    expect(stage.page.get_by_text("Success", exact=True).first).to_be_visible(timeout=MILLISECONDS)
    expect(stage.page.get_by_text("Loading run logs")).to_have_count(0, timeout=MILLISECONDS)


def answer(stage: Stage) -> None:
    """The answer of that run."""
    stage.page.goto(f"{stage.ui}/assets/answers")
    stage.page.get_by_text("[Show Markdown]").first.click(timeout=MILLISECONDS)
    text = stage.page.locator(".dagster-markdown").filter(has_text="Why it stopped")
    expect(text.locator("img")).to_have_count(1)
    text.locator("h3").first.scroll_into_view_if_needed()


def partitions(stage: Stage) -> None:
    """The sources that asset `documents` has."""
    stage.page.goto(f"{stage.ui}/assets/documents?partition=docs.python.org&view=partitions")
    expect(stage.page.get_by_text("Materialized", exact=True).first).to_be_visible(timeout=MILLISECONDS)


def failure(stage: Stage) -> None:
    """A run that failed over a bad address."""
    launchpad(stage)
    editor = stage.page.locator(".CodeMirror").first
    editor.evaluate("it => it.CodeMirror.setValue('question: what?\\nurls: [not a url]')")
    _launch(stage.page)
    expect(stage.page.get_by_text("[invalid_url]").first).to_be_visible(timeout=MILLISECONDS)


def scores(stage: Stage) -> None:
    """Scores of three nights as plots."""
    address = stage.ui
    three_nights(stage.home_of_up)
    stage.page.goto(f"{address}/assets/{SUITE}")
    expect(stage.page.get_by_text("success", exact=True).first).to_be_visible(timeout=MILLISECONDS)
    _plots(stage.page)


def check(stage: Stage) -> None:
    """The check that fails after the third night."""
    stage.page.goto(f"{stage.ui}/assets/{SUITE}?view=checks&checkDetail=no_regression")
    expect(stage.page.get_by_text(re.compile("^Fell: success")).first).to_be_visible(timeout=MILLISECONDS)


def web_answer(stage: Stage) -> None:
    """An answer on the page to ask on, beside the stored page that proves it."""
    stage.page.goto(stage.web)
    stage.page.fill("#question", QUESTION)
    stage.page.click("button:text-is('Ask')")
    stage.page.wait_for_url("**/answers/*")
    expect(stage.page.locator("aside mark").first).to_be_visible()


def web_phone(stage: Stage) -> None:
    """The same on a phone, dark."""
    stage.page.goto(f"{stage.web}/answers")
    stage.page.get_by_role("link", name=QUESTION).first.click()


def web_walk(stage: Stage) -> None:
    """How an answer was found from a start page on."""
    fields = urlencode({"question": QUESTION, "url": f"{MANUAL}/numeric.html"})
    stage.page.goto(f"{stage.web}/?{fields}")
    stage.page.click("button:text-is('Ask')")
    stage.page.wait_for_url("**/answers/*")
    stage.page.evaluate("document.getElementById('walk').scrollIntoView()")


def web_search(stage: Stage) -> None:
    """A search in the browser."""
    stage.page.goto(f"{stage.web}/search?q=round+to+the+nearest+integer")


def web_graph(stage: Stage) -> None:
    """The neighbourhood of a page in the browser."""
    stage.page.goto(f"{stage.web}/graph?key=math.gcd")


def _launch(page: Page) -> None:
    page.get_by_role("button", name="Launch run").click()
    page.wait_for_url("**/runs/**", timeout=MILLISECONDS)


def _plots(page: Page) -> None:
    page.get_by_role("button", name="Plots").click()
    expect(page.locator("canvas").first).to_be_visible(timeout=MILLISECONDS)


SHOTS = (
    Shot("web-answer", web_answer, width=1280, height=760, pixels=1280),
    Shot("web-phone", web_phone, width=390, height=760, pixels=390, scheme="dark"),
    Shot("web-walk", web_walk, width=520, height=400, pixels=520),
    Shot("web-search", web_search, width=1280, height=900, pixels=1000),
    Shot("web-graph", web_graph, width=1280, height=900, pixels=1000),
    Shot("prose", prose, width=1000, height=900),
    Shot("graph", graph, width=1280, height=900, pixels=1280),
    Shot("history", history, width=1000, height=964),
    Shot("launchpad", launchpad),
    Shot("run", run),
    Shot("answer", answer),
    Shot("partitions", partitions),
    Shot("failure", failure),
    Shot("scores", scores),
    Shot("check", check),
)
"""In the order in which they are taken: `answer`, `partitions` and `rounds` show what `run` did, `check` what `scores`
stored."""
NEEDS = {"web-phone": "web-answer", "answer": "run", "partitions": "run", "check": "scores"}
"""Shots that show what another one did."""
