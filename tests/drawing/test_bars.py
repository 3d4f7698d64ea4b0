"""Bars are as long as their counts, and what is there can be seen."""

from __future__ import annotations

from lxml import etree

from webrag_core.drawing.bars import Bar, bars
from webrag_core.drawing.figure import DataTable
from webrag_core.showing.coverage_figure import coverage_figure


def test_bars_are_as_long_as_their_counts() -> None:
    rows = [Bar("all", 1_000_000), Bar("half", 500_000), Bar("few", 1), Bar("none", 0)]
    svg = etree.fromstring(bars("T", rows, DataTable((), ())).svg())
    widths = [float(width) for width in svg.xpath("//rect/@width")]
    assert abs(widths[0] / 2 - widths[1]) <= 0.1
    assert widths[2] > 0
    assert widths[3] == 0
    assert "1,000,000" in svg.xpath("//text/text()")
    assert max(float(x) for x in svg.xpath("//text/@x")) < 320


def test_nothing_is_said_of_a_site_map_that_nobody_knows() -> None:
    assert coverage_figure({}, 5) is None
    for map_entries in (None, 0):
        without = coverage_figure({"ready": 3, "failed": 0}, map_entries)
        assert without is not None
        assert without.table.rows == (("searchable", "3", "100.0%"),)
    beside = coverage_figure({"ready": 3}, 5)
    assert beside is not None
    assert beside.table.rows[1] == ("on its site map", "5", "–")
