"""The page of the plots says what its pictures show, and what it was not given it does not draw."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from docs_tools.plots import Plot, page, plots, walked_sites
from webrag_core.drawing.reliability import reliability_diagram
from webrag_core.reliability import reliability_of


def test_nothing_is_drawn_of_runs_that_are_not_there(tmp_path: Path) -> None:
    assert walked_sites(tmp_path) == []
    assert plots([], None) == []


def test_each_picture_has_its_table_below() -> None:
    curve = reliability_of([(0.9, True), (0.92, False), (0.1, False)])
    figure = reliability_diagram(curve, stated="confidence", observed="right", cases="answers")
    text = page([Plot("plot-x", "Is it true?", "They differ.", figure)], ["postfix-3.7"], date(2026, 1, 2))
    assert "](../images/plot-x.svg)" in text
    assert "| confidence | right | answers |\n| --- | --- | --- |\n| 10% | 0% | 1 |\n| 91% | 50% | 2 |\n" in text
    assert "Drawn on 2026-01-02." in text
