"""The first visit of a person: from the empty start page to the first right answer on a site of their choosing.

A frozen site is served over HTTP on this machine; the server is the installed `webrag serve` with an empty corpus, the
browser Chromium. The script does what a person does: opens the start page, attaches the site, waits until its pages are
read, asks, and looks for the fact in the answer's sentences. Clicks and texts that are typed are counted; seconds are
those from the first click until each step is seen, without the time in which a person would read or type. Prints one
JSON line. Exit code 1 when the answer lacks the fact, or a target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Page, sync_playwright
from warcio.archiveiterator import ArchiveIterator

from benchmarks.local_server import LocalHandler, local_server
from benchmarks.security.foreign_site import CHROMIUM, FLAGS
from benchmarks.web.pages import wait_until_healthy

SITE = Path("evals/sites/demo.warc.gz")
START = "/3.11/"
QUESTION = "How do I run a blocking function in a separate thread?"
FACT = "to_thread"
MOST_CLICKS = 4
MOST_SECONDS = 30.0
_PATIENCE_MS = 300_000


@dataclass(slots=True)
class Visit:
    """What a person did on a page, and when each step was seen."""

    page: Page
    clicks: int = 0
    typed: int = 0
    began: float = 0.0
    steps: dict[str, float] = field(default_factory=dict)

    def click(self, selector: str) -> None:
        """Click an element."""
        self.began = self.began or time.perf_counter()
        self.clicks += 1
        self.page.click(selector)

    def type(self, selector: str, text: str) -> None:
        """Type a text into a field."""
        self.typed += 1
        self.page.fill(selector, text)

    def seen(self, step: str, selector: str) -> None:
        """Wait until an element of a step is on the screen."""
        self.page.wait_for_selector(selector, timeout=_PATIENCE_MS)
        self.steps[step] = round(time.perf_counter() - self.began, 2)


@contextmanager
def serving(site: Path) -> Iterator[str]:
    """The address at which the pages of a WARC file are served, each under its path."""
    pages: dict[str, tuple[str, bytes]] = {}
    with site.open("rb") as stream:
        for record in ArchiveIterator(stream):
            if record.rec_type == "response" and record.http_headers.get_statuscode() == "200":
                address = urlsplit(record.rec_headers.get_header("WARC-Target-URI"))
                kind = record.http_headers.get_header("content-type") or "text/html"
                pages[address.path or "/"] = (kind, record.content_stream().read())

    class Handler(LocalHandler):
        def do_GET(self) -> None:
            kind, body = pages.get(urlsplit(self.path).path, ("text/html", b""))
            self.reply(200 if body else 404, kind, body)

    with local_server(Handler) as base:
        yield base


def visit(base: str, site: str, question: str, fact: str) -> dict[str, object]:
    """Clicks, texts and seconds until the answer is seen, and whether it says the fact."""
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser:
        page = browser.new_page(base_url=base)
        page.goto("/")
        person = Visit(page)
        person.click("text=Attach a site")
        person.type("#url", site)
        person.click("text=Look >> nth=-1")
        person.seen("looked", "#there")
        person.click("text=Attach >> nth=-1")
        person.seen("read", "#reading [role=status]:has-text('Read:')")
        pages = page.inner_text("#reading [role=status]")
        person.type("#question", question)
        person.click("text=Ask >> nth=-1")
        person.seen("answered", ".beside")
        sentences = " ".join(page.locator("ol.answer li").all_inner_texts())
    return {
        "right": fact in sentences,
        "clicks": person.clicks,
        "typed": person.typed,
        "seconds": person.steps["answered"],
        "steps": person.steps,
        "pages": pages,
        "answer": sentences[:300],
    }


def main() -> None:
    """Print what the visit took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", type=Path, default=SITE, help="a WARC file")
    parser.add_argument("--start", default=START, help="path of its start page")
    parser.add_argument("--question", default=QUESTION)
    parser.add_argument("--fact", default=FACT, help="what the sentences of a right answer hold")
    arguments = parser.parse_args()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as home, serving(arguments.site) as site:
        place = site.removeprefix("http://")
        ours = {"WEBRAG_HOME": home, "WEBRAG_SERVE_OPEN": "1", "WEBRAG_ALLOW_HOSTS": place}
        command = [str(Path(sys.executable).with_name("webrag")), "serve", "--port", str(port)]
        server = subprocess.Popen(command, env={**os.environ, **ours})
        try:
            base = f"http://127.0.0.1:{port}"
            wait_until_healthy(base)
            figures = visit(base, place + arguments.start, arguments.question, arguments.fact)
        finally:
            server.terminate()
            server.wait()
    print(json.dumps(figures | {"load": os.getloadavg()[0]}))
    is_reached = figures["right"] and is_in_bounds(figures)
    raise SystemExit(0 if is_reached else 1)


def is_in_bounds(figures: dict[str, object]) -> bool:
    """Whether clicks and seconds are within their targets."""
    clicks, seconds = figures["clicks"], figures["seconds"]
    assert isinstance(clicks, int)
    assert isinstance(seconds, float)
    return clicks <= MOST_CLICKS and seconds <= MOST_SECONDS


if __name__ == "__main__":
    main()
