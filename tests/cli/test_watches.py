"""`webrag watch`: added, listed, looked at and removed on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import Webrag, webrag_here
from tests.dagster.small_warc import write_site

__all__ = ["webrag_here"]

PAGE = "https://tea.example/green"


def site(degrees: int) -> dict[str, str]:
    """One page."""
    said = f"<p>Green tea is brewed at {degrees} degrees.</p><h2>Storing</h2><p>Keep it dry.</p>"
    return {
        PAGE: f"<html><head><title>Green tea</title></head><body><main><h1>Green tea</h1>{said}</main></body></html>"
    }


@pytest.mark.slow
def test_a_watched_page_is_told_of_on_the_command_line(webrag_here: Webrag, tmp_path: Path) -> None:
    call = webrag_here
    first = str(write_site(tmp_path / "1.warc.gz", site(80)))
    assert call("ingest", PAGE, WEBRAG_WARC=first).returncode == 0
    assert json.loads(call("watch", "add", PAGE, "--daily", "--json").stdout)["watch_id"] == 1
    assert call("watch", "add", PAGE, "--section", "Storing").stdout == f"watch 2: “Storing” of {PAGE}\n"
    assert "has no section" in call("watch", "add", PAGE, "--section", "Serving").stderr
    assert "exactly one" in call("watch", "add").stderr
    assert "no text of this page is stored yet" in call("watch", "add", f"{PAGE}-later").stdout
    assert call("watch", "remove", "3").returncode == 0
    assert "a question goes behind --question" in call("watch", "add", "How hot is green tea brewed?").stderr
    second = str(write_site(tmp_path / "2.warc.gz", site(75)))
    assert call("ingest", PAGE, "--refresh", WEBRAG_WARC=second).returncode == 0
    dry = json.loads(call("watch", "check", "--dry-run", "--json").stdout)
    assert [one["watch"]["watch_id"] for one in dry["news"]] == [1]
    told = call("watch", "check").stdout
    assert "- Green tea is brewed at 80 degrees.\n  + Green tea is brewed at 75 degrees.\n" in told
    assert call("watch", "check").stdout == "no news: no page of 2 watches has a new text since the last look\n"
    assert [one["watch_id"] for one in json.loads(call("watch", "list", "--json").stdout)["watches"]] == [1, 2]
    assert call("watch", "remove", "1").returncode == 0
    assert call("watch", "remove", "1").returncode == 2
    assert "Storing" in call("watch", "list").stdout
