"""`webrag forget` asks before it removes; `webrag prune` and `webrag status` say what they counted."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.command_line import Webrag, webrag, webrag_here
from tests.conftest import FROZEN_SITE

__all__ = ["webrag", "webrag_here"]

PAGE = "https://docs.python.org/3.11/library/asyncio.html"
MISSING = "https://docs.python.org/3.11/no-such-page.html"


@pytest.mark.slow
def test_a_page_is_removed_when_that_was_confirmed_and_comes_back_by_name(webrag_here: Webrag) -> None:
    call = partial(webrag_here, WEBRAG_WARC=str(FROZEN_SITE))
    assert call("ingest", PAGE).returncode == 0
    assert call("ingest", MISSING).returncode == 1
    status = call("status").stdout
    assert f"1 page failed:\n  1 × not there [not_found]\n  {MISSING}: not there [not_found]\n" in status
    assert "Conversion workers do without: " in status

    refused = call("forget", PAGE, "--json")
    assert refused.returncode == 2
    assert "--yes" in json.loads(refused.stdout)["error"]["message"]
    dry = json.loads(call("forget", PAGE, "--dry-run", "--json").stdout)
    assert dry["dry_run"] is True
    done = json.loads(call("forget", PAGE, "--yes", "--json").stdout)
    assert done["counts"] == dry["counts"]
    assert done["counts"]["documents"] == 1
    assert call("forget", PAGE, "--yes").returncode == 2

    answer = json.loads(call("answer", PAGE, "What is asyncio?", "--json").stdout)
    assert answer["error"]["code"] == "forgotten"
    assert call("ingest", PAGE).returncode == 0
    assert call("verify").returncode == 0


def test_pruning_reports_every_category(webrag_here: Webrag) -> None:
    call = webrag_here
    report = json.loads(call("prune", "--dry-run", "--json").stdout)
    assert report["dry_run"] is True
    assert set(report["deleted"].values()) == {0}
    assert "ledger_lines" in call("prune").stdout


@pytest.mark.parametrize("arguments", ["forget 7 --yes", "source remove tea.example --forget --yes", "prune"])
def test_files_that_an_earlier_version_left_go_with_every_removal(
    webrag_here: Webrag, tmp_path: Path, arguments: str
) -> None:
    home = tmp_path / "home"
    kept = {home / "answers" / "notes.txt", home / "feedback" / "weights.json"}
    old = {home / "answers" / "answer-7.html", home / "graphs" / "tea.example.html"}
    goldens = {home / "feedback" / "questions.jsonl", home / "feedback" / "documents.jsonl"}
    for file in kept | old | goldens:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("Black tea is brewed at ninety-five degrees.")
    call = partial(webrag_here, WEBRAG_HOME=str(home))
    call(*arguments.replace("--yes", "--json").split() if "--yes" in arguments else ["prune", "--dry-run"])
    assert all(file.exists() for file in old)  # nothing was removed yet
    call(*arguments.split())
    assert {file for file in old | goldens | kept if file.exists() and file.stat().st_size} == (
        kept | goldens if arguments == "prune" else kept
    )
