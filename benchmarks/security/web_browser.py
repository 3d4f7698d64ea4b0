"""A foreign page in a real browser that tries to ask, to log out and to read: see `foreign_web_page.html`."""

from __future__ import annotations

import time
from pathlib import Path

import psycopg
from playwright.sync_api import BrowserContext, sync_playwright

from benchmarks.security.foreign_site import CHROMIUM, FLAGS, PLACES, foreign_pages
from benchmarks.security.web_attacks import Attack

_PAGE = Path(__file__).with_name("foreign_web_page.html")
_SITE, _REBOUND = "foreign.test", "rebound.test"
_SETTLE_SECONDS = 2.0


def browse(port: int, database: str, *, secret: str | None = None) -> list[Attack]:
    """Every variant from every place on the server at `port`. With its token as `secret` the browser is logged in."""
    attacks = []
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser:
        context = browser.new_context()
        group = "browser" if secret is None else "browser, logged in"
        if secret is not None:
            _log_in(context, port, secret)
        with foreign_pages() as foreign:
            for place in PLACES:
                attacks += _from_place(context, place, port, foreign, database, group)
        if secret is not None:
            page = context.new_page()
            page.goto(f"http://127.0.0.1:{port}/answers")
            attacks.append(Attack(group, "the session was ended", "" if page.url.endswith("/answers") else page.url))
    return attacks


def _log_in(context: BrowserContext, port: int, secret: str) -> None:
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}/")
    page.fill("#token", secret)
    page.click("main button")
    page.wait_for_selector("#question")
    page.close()


def _from_place(
    context: BrowserContext, place: str, port: int, foreign: int, database: str, group: str
) -> list[Attack]:
    rebound = f"http://{_REBOUND}:{port}"
    address, target = {
        "other site": (f"http://{_SITE}:{foreign}/{_PAGE.name}", f"http://127.0.0.1:{port}"),
        "other site, localhost": (f"http://{_SITE}:{foreign}/{_PAGE.name}", f"http://localhost:{port}"),
        "other port": (f"http://127.0.0.1:{foreign}/{_PAGE.name}", f"http://127.0.0.1:{port}"),
        "rebound name": (f"{rebound}/{_PAGE.name}", rebound),
    }[place]
    open_before = context.pages
    page = context.new_page()
    if target == rebound:  # the name still leads to the attacker's server when the page itself is loaded
        page.route(address, lambda route: route.fulfill(path=_PAGE))
    page.goto(address)
    results = page.evaluate("([target, place]) => attack(target, place)", [target, place.replace(" ", "-")])
    framed = any("WebRAG" in frame.content() for frame in page.frames if frame.name == "framed")
    time.sleep(_SETTLE_SECONDS)
    with psycopg.connect(database) as connection:
        rows = connection.execute("SELECT query FROM answer_runs UNION ALL SELECT text FROM feedback").fetchall()
    attacks = []
    for variant, key, read in results:
        acted = any(key in (text or "") for (text,) in rows)
        seen = read or ("in a frame" if variant == "page in a frame" and framed else "")
        attacks.append(
            Attack(group, f"{place}, {variant}", f"acted {acted}, read {seen[:60]!r}" if acted or seen else "")
        )
    for opened in context.pages:
        if opened not in open_before:
            opened.close()
    return attacks
