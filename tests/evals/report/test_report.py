"""The report page: what it holds, that hostile texts stay texts, and how it behaves in a real browser."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from evals.judging.decisions import default_settings
from evals.report.page import NamedRun, render_report, success_curve
from evals.walks.recorded import RecordedRun
from tests.browsing import needs_chromium, new_page
from tests.command_line import Webrag, webrag_here
from tests.evals.conftest import Recordings
from tests.evals.recordings import few_goldens, log_of

pytestmark = pytest.mark.slow

__all__ = ["webrag_here"]

HOSTILE = '</script><script>document.title = "owned"</script><img src="https://evil.example/x.png">'


def page_of(recordings: Recordings, *logs: NamedRun, recording: bool = True) -> str:
    return render_report(
        logs or [NamedRun("matrix", recordings.matrix)],
        goldens=few_goldens(),
        recording=recordings.until_cap if recording else None,
        links={},
        settings=default_settings({}),
    )


def hostile(runs: list[RecordedRun]) -> list[RecordedRun]:
    """The same runs over pages whose every text and address is an attack."""
    made = []
    for run in runs:
        line = json.loads(json.dumps(run.record))
        for passage in line["evidence"]:
            passage["text"] = HOSTILE
        for page in line["fetched"][1:]:
            page |= {
                "url": f"https://e.example/?{HOSTILE}",
                "anchor": HOSTILE,
                "from": f'javascript:"><b>{HOSTILE}',
                "link_score": 0.5,
            }
        line |= {"warnings": [HOSTILE], "failed": {f"https://e.example/{HOSTILE}": HOSTILE}}
        made.append(RecordedRun(run.id, run.policy, run.settings, run.rounds, line))
    return made


def test_it_is_one_file_with_everything(recordings: Recordings) -> None:
    page = page_of(recordings)
    assert not re.search(r"""(src|href)=["'](?!https://docs\.python\.org/)""", page)
    assert "@import" not in page
    assert "url(" not in page
    for text in ("stop-at-once", "fixed-k:5", "oracle", "ECE", "2-diminishing-returns", "per seed page"):
        assert text in page
    for golden in few_goldens():
        assert golden.id in page
    assert page == page_of(recordings), "the same runs give the same page"


def test_every_round_is_told_with_its_pages_and_links(recordings: Recordings) -> None:
    page = page_of(recordings)
    for run in recordings.matrix:
        for done in run.rounds:
            assert done.rule in page
        for fetched in run.record["fetched"]:
            assert fetched["url"] in page or fetched.get("aux") in ("preview", "map")
            assert fetched["round"] == 0 or {"from", "anchor", "link_score"} <= fetched.keys()


def test_without_a_recording_it_says_what_is_not_known(recordings: Recordings) -> None:
    assert "items known" in page_of(recordings, recording=False)
    assert "items known" not in page_of(recordings)


def test_the_curve_rises_to_what_the_recording_reached(recordings: Recordings) -> None:
    curve = success_curve(few_goldens(), recordings.until_cap)
    assert len(curve) == 30
    assert curve == sorted(curve)
    assert 0 < curve[-1] <= 1
    assert success_curve([], recordings.until_cap) == []


def test_texts_of_pages_are_escaped(recordings: Recordings) -> None:
    page = page_of(recordings, NamedRun(HOSTILE, hostile(recordings.matrix)))
    assert page.count("<script>") == page.count("</script>") == 1
    assert "<img" not in page
    assert 'href="javascript:' not in page


def test_the_command_writes_the_page(webrag_here: Webrag, recordings: Recordings, tmp_path: Path) -> None:
    log_of(recordings.matrix, tmp_path / "matrix.jsonl")
    log_of(recordings.two_rounds, tmp_path / "two.jsonl")
    log_of(recordings.until_cap, tmp_path / "cap.jsonl")
    done = webrag_here(
        "eval", "report", "matrix.jsonl", "two.jsonl", "--recording", "cap.jsonl", "--html", "out/r.html", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"html": "out/r.html", "items": 4, "runs": ["matrix", "two"]}
    page = (tmp_path / "out" / "r.html").read_text(encoding="utf-8")
    assert "matrix: every item" in page
    assert "two: every item" in page
    assert "The oracle's way" in page


@pytest.mark.alone
@needs_chromium
def test_a_person_unfolds_and_filters(recordings: Recordings, tmp_path: Path, browser: Browser) -> None:
    target = tmp_path / "report.html"
    target.write_text(page_of(recordings, NamedRun("hostile", hostile(recordings.matrix))), encoding="utf-8")
    page = new_page(browser)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(target.as_uri())
    item = page.locator("details.item").first
    expect(item.get_by_text("What the run did")).to_be_hidden()
    item.locator("summary").first.click()
    expect(item.get_by_text("What the run did")).to_be_visible()
    item.locator("details.inner summary").first.click()
    expect(item.get_by_text("score_variance").first).to_be_visible()
    page.get_by_role("button", name="unanswerable").click()
    expect(page.locator("details.item:visible")).to_have_count(1)
    page.get_by_role("button", name="all", exact=True).click()
    expect(page.locator("details.item:visible")).to_have_count(4)
    assert page.title() != "owned"
    page.close()
    assert asked == [target.as_uri()]
