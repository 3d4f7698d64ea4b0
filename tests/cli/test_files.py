"""Results written to files."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_ask import FROZEN, QUESTION, QUEUES
from tests.command_line import Webrag, webrag_here

__all__ = ["webrag_here"]


def test_evidence_is_written_to_read_when_it_is_found_and_later(webrag_here: Webrag, tmp_path: Path) -> None:
    html, markdown, past, later = (tmp_path / name for name in ("a.html", "a.md", "past.md", "later.html"))
    files = ("--html", str(html), "--markdown", str(markdown))
    done = webrag_here("answer", QUEUES, QUESTION, "--budget", "0", *files, **FROZEN)
    assert done.returncode == 0, done.stderr
    assert f"written: {html}" in done.stderr
    page = html.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert f'<a href="{QUEUES}#:~:text=' in page
    assert "<script" not in page
    assert f"](<{QUEUES}#:~:text=" in markdown.read_text(encoding="utf-8")
    assert webrag_here("answer", QUEUES, QUESTION, "--at", "now", "--markdown", str(past), **FROZEN).returncode == 0
    assert QUEUES in past.read_text(encoding="utf-8")
    assert webrag_here("answers", "show", "1", "--html", str(later), **FROZEN).returncode == 0
    assert "version 1, valid" in later.read_text(encoding="utf-8")


def test_a_file_that_cannot_be_written_is_said_before_the_work(webrag_here: Webrag, tmp_path: Path) -> None:
    done = webrag_here("answer", QUEUES, QUESTION, "--html", str(tmp_path / "none" / "a.html"), **FROZEN)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
