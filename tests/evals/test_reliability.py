"""Calibration of recorded probabilities."""

from __future__ import annotations

from typing import Any

import pytest

from evals.reliability import reliability_at_stop, reliability_per_round
from evals.walks.recorded import RecordedRound, RecordedRun
from tests.evals.conftest import Recordings
from tests.evals.recordings import few_goldens
from tests.evals.walks.test_replay import signals
from tests.evals.walks.test_scoring import BASE, golden, record

QUOTE = "The answer is forty-two."


def run_of(item: str, *told: float, found_in: int | None) -> RecordedRun:
    """A run of one round per probability, that reaches page and quote in round `found_in`."""
    pages = [("start.html", 0), *([] if found_in is None else [("guide/", found_in)])]
    line: dict[str, Any] = record(*pages, text=QUOTE if found_in is not None else "")
    line |= {"id": item, "confidence": told[-1], "dropped": [{"url": f"{BASE}start.html", "text": "Nothing."}]}
    rounds = tuple(
        RecordedRound(
            signals=signals(round=number),
            action="stop" if number == len(told) - 1 else "expand_breadth",
            rule="x",
            reason="",
            probability=probability,
            pages=1,
            evidence=((0 if found_in is not None and number >= found_in else 1, 0.5),),
        )
        for number, probability in enumerate(told)
    )
    return RecordedRun(item, "by-hand", {}, rounds, line)


def test_ten_equal_bins_and_their_mean_distance() -> None:
    goldens = [golden(id=str(number)) for number in range(4)]
    runs = [run_of("0", 0.95, found_in=0), run_of("1", 0.95, found_in=None), run_of("2", 0.05, found_in=None)]
    runs.append(run_of("3", 1.0, found_in=0))
    found = reliability_at_stop(goldens, runs)
    assert found.bins == [(0.05, 0.0, 1), (pytest.approx(0.967, abs=1e-3), pytest.approx(0.667, abs=1e-3), 3)]
    assert found.ece == pytest.approx((0.05 + 3 * abs(2.9 / 3 - 2 / 3)) / 4)
    assert found.brier == pytest.approx((0.05**2 + 0.95**2 + 0.05**2) / 4)
    assert found.n == 4


def test_every_round_is_held_against_its_own_evidence() -> None:
    found = reliability_per_round([golden()], [run_of("one", 0.1, 0.9, found_in=1)])
    assert found.bins == [(0.1, 0.0, 1), (0.9, 1.0, 1)]


def test_unanswerable_is_never_complete_and_nothing_gives_no_figure() -> None:
    item = golden(kind="unanswerable", gold_pages=[], gold_quotes=[])
    assert reliability_at_stop([item], [run_of("one", 0.9, found_in=0)]).bins == [(0.9, 0.0, 1)]
    nothing = reliability_at_stop([golden(id="other")], [run_of("one", 0.9, found_in=0)])
    assert (nothing.bins, nothing.ece, nothing.brier, nothing.n) == ([], None, None, 0)


@pytest.mark.slow
def test_real_runs_have_a_point_per_round(recordings: Recordings) -> None:
    found = reliability_per_round(few_goldens(), recordings.matrix)
    assert found.n == sum(len(run.rounds) for run in recordings.matrix)
    assert reliability_at_stop(few_goldens(), recordings.matrix).n == len(recordings.matrix)
