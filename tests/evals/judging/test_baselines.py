"""Baselines read off recorded runs."""

from __future__ import annotations

import pytest

from evals.judging.baselines import BASELINES, baseline_table, baselines
from evals.judging.decisions import default_settings
from evals.walks.scoring import score_item
from tests.evals.conftest import Recordings
from tests.evals.recordings import few_goldens

pytestmark = pytest.mark.slow

DEFAULTS = default_settings({})


def test_a_recording_tells_all_of_them(recordings: Recordings) -> None:
    found = {system.name: system for system in baselines(few_goldens(), recordings.until_cap, DEFAULTS)}
    assert list(found) == [*BASELINES, "oracle"]
    assert all(system.unknown == () for system in found.values())
    assert all(len(system.scores) == len(few_goldens()) for system in found.values())
    goldens = {golden.id: golden for golden in few_goldens()}
    for run in recordings.matrix:
        assert found["seed-matrix"].scores[run.id] == score_item(goldens[run.id], run.record)


def test_a_shorter_run_says_what_it_does_not_know(recordings: Recordings) -> None:
    found = {system.name: system for system in baselines(few_goldens(), recordings.matrix, DEFAULTS)}
    assert found["stop-at-once"].unknown == ()
    longest = found["fixed-k:5"]
    assert longest.unknown
    assert not set(longest.unknown) & set(longest.scores)
    table = baseline_table(few_goldens(), recordings.matrix, DEFAULTS)
    assert f"fixed-k:5 ({len(longest.scores)} of 4 known)" in table
    assert table["oracle"]["net"].mean == 1
