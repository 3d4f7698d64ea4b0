"""Time lines: where spans lie, and which moments are named."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from lxml import etree

from webrag_core.drawing.figure import DataTable
from webrag_core.drawing.spans import Span, SpanRow, time_line
from webrag_core.drawing.time_axis import TimeAxis

BEGIN = datetime(2024, 1, 31, 13, 45, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "length",
    [
        timedelta(0),
        timedelta(seconds=20),
        timedelta(minutes=9),
        timedelta(hours=5),
        timedelta(days=2),
        timedelta(days=40),
        timedelta(days=500),
        timedelta(days=365 * 30),
        timedelta(days=365 * 900),
    ],
)
def test_some_round_moments_are_named_whatever_the_length(length: timedelta) -> None:
    axis = TimeAxis(BEGIN, BEGIN + length, 100, 300)
    ticks = axis.ticks()
    assert 1 <= len(ticks) <= 3
    assert all(BEGIN <= moment <= BEGIN + length for moment, _ in ticks)
    assert len({name for _, name in ticks}) == len(ticks)
    assert all(100 <= axis.x(moment) <= 300 for moment, _ in ticks)


def test_the_end_of_the_calendar_ends_the_moments() -> None:
    axis = TimeAxis(datetime(9990, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC), 0, 100)
    assert axis.ticks()


def test_a_moment_is_seen_however_long_the_line_is() -> None:
    spans = (Span("full", BEGIN, BEGIN), Span("broken", BEGIN, BEGIN + timedelta(days=900)))
    svg = etree.fromstring(time_line("T", [SpanRow("<b>", spans, "/x")], DataTable((), ())).svg())
    assert [float(width) for width in svg.xpath("//rect/@width")] == [3]
    assert svg.xpath("//line[@class='broken']")
    assert svg.xpath("//a/g/text/text()") == ["<b>"]
