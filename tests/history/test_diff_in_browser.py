"""A comparison as people read it, in a browser: what changed is marked, moves are joined, nothing is loaded."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browsing import needs_chromium, new_page
from tests.history.texts import FIRST, SECOND
from webrag_core.history.compare import PageComparison, VersionText
from webrag_core.history.diff import diff_texts
from webrag_core.history.diff_page import render_page

pytestmark = [pytest.mark.alone, needs_chromium]

BEFORE = "# Tea\n\nBrew it at 80 degrees.\n\nKeep it <b>dry</b> and dark, in a tin.\n\nIt has a clear cup.\n"
AFTER = "# Tea\n\nIt has a clear cup.\n\nKeep it <b>dry</b> and dark, in a tin.\n\nBrew it at 75 degrees.\n\nEnjoy.\n"


def side(number: int, day: datetime, text: str) -> VersionText:
    return VersionText(
        version_id=1,
        version=number,
        url="https://tea.example/",
        sha256="0" * 64,
        title="Tea",
        seen_from=day,
        seen_last=day,
        text=text,
    )


def test_a_person_reads_what_changed(browser: Browser, tmp_path: Path) -> None:
    comparison = PageComparison(
        url="https://tea.example/",
        before=side(1, FIRST, BEFORE),
        after=side(2, SECOND, AFTER),
        diff=diff_texts(BEFORE, AFTER),
    )
    (tmp_path / "diff.html").write_text(render_page(comparison))
    requests: list[str] = []
    problems: list[str] = []
    for scheme in ("light", "dark"):
        page = new_page(browser, color_scheme=scheme)  # type: ignore[arg-type]
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: problems.append(message.text))
        page.goto(f"file://{tmp_path}/diff.html")
        expect(page.locator("h1")).to_have_text("Tea")
        expect(page.locator("del")).to_have_text("80")
        expect(page.locator("ins")).to_have_text("75")
        expect(page.locator(".facts")).to_contain_text("number")
        assert page.locator("b", has_text="dry").count() == 0, "page text is no markup"
        page.locator(".moved .note").first.click()
        expect(page.locator(".row:target")).to_be_visible()
        page.close()
    assert len(requests) == 2, "one file for each scheme, and nothing else"
    assert not problems
