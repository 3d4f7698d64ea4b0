"""What `webrag status` says of window vectors."""

from __future__ import annotations

import pytest

from webrag_core.cli.status_report import print_status
from webrag_core.corpus.status import CorpusStatus
from webrag_core.indexing.window_vectors import WindowCoverage, WindowStatus


def said(capsys: pytest.CaptureFixture[str], windows: WindowStatus | None) -> str:
    corpus = CorpusStatus(sources=[], embedding_model=None, answers=0, failures={}, database_bytes=0)
    print_status(corpus, windows, "here", {})
    return " ".join(capsys.readouterr().out.split())


def test_coverage_and_the_time_still_to_spend_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    begun = WindowCoverage(source="tea.example", passages=1200, with_vector=200, missing=900)
    done = WindowCoverage(source="coffee.example", passages=10, with_vector=10, missing=0)
    words = said(capsys, WindowStatus(sources=[begun, done], cpu_seconds_left=81.2))
    assert "tea.example: 200 of 1,200 child passages have a window vector" in words
    assert "900 window vectors to make, about 82 seconds of processor time: `webrag model windows` makes them" in words
    assert "coffee.example" not in words
    unknown = said(capsys, WindowStatus(sources=[begun], cpu_seconds_left=None))
    assert "900 window vectors to make: `webrag model windows`" in unknown
    assert "Every child passage in English" in said(capsys, WindowStatus(sources=[done], cpu_seconds_left=0.0))
    assert "Window vectors are off" in said(capsys, None)
