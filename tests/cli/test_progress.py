"""What a command says of a run while it goes on."""

from __future__ import annotations

import asyncio
import logging

import pytest

from tests.orchestration.test_calibrated import POOR, signals
from webrag_core.cli import progress
from webrag_core.orchestration.models import PreviewScore, Round, ScoredCandidate
from webrag_core.orchestration.policies.calibrated import Calibrated
from webrag_core.result_warnings import log_warning


def finished(previews: list[str], links: list[str]) -> Round:
    """A round that goes on, with these pages looked at and these links, best first."""
    found = signals(POOR)
    return Round(
        round=0,
        action_taken=None,
        signals=found,
        decision=Calibrated().decide([found]),
        top_chunks=[],
        candidates=[
            ScoredCandidate(url=url, score=0.5, score_breakdown={}, anchor_text="", from_url="/", link_depth=1)
            for url in links
        ],
        previews=[PreviewScore(url=url, score=0.5) for url in previews],
        documents_total=1,
        elapsed_ms=1.0,
    )


@pytest.mark.parametrize(
    ("previews", "links", "page"),
    [(["/lifetimes", "/audit"], ["/pricing"], "/lifetimes"), ([], ["/pricing", "/audit"], "/pricing"), ([], [], "")],
)
def test_progress_names_the_page_that_is_read_next(
    previews: list[str], links: list[str], page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    progress.set_style("plain")
    try:
        with progress.show_progress() as show:
            show("round", finished(previews, links))
    finally:
        progress.set_style("auto")
    shown = capsys.readouterr().err.strip()
    assert shown.endswith(f": {page}" if page else "(incomplete)")


def test_a_log_that_somebody_else_set_up_keeps_the_warnings_of_a_result(caplog: pytest.LogCaptureFixture) -> None:
    with progress.show_progress():
        log_warning(logging.getLogger("webrag_core.test"), "ranked locally instead")
    assert caplog.messages == ["ranked locally instead"]


def test_interrupted_work_says_what_it_keeps(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> None:
        with progress.progress(None, "refresh", kept="pages are stored") as advance:
            advance.begin("https://tea.example/green")
            advance("https://tea.example/green")
            advance("https://tea.example/black")
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        interrupted()
    assert "stopped; 2 pages are stored" in capsys.readouterr().err
