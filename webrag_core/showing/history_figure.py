"""When a page had which text, and when pages changed, as time lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from webrag_core.drawing.figure import DataTable, Figure
from webrag_core.drawing.spans import Span, SpanRow, time_line
from webrag_core.history.models import HistoryPeriod, PageHistory
from webrag_core.showing.past import SIGHTINGS

_ROWS = 12
"""Versions in a picture; the table has all of them."""


def history_figure(story: PageHistory, version_path: Callable[[int], str] | None = None) -> Figure | None:
    """The versions of a page, the latest first; those whose text is kept lead to `version_path` of their id. None where
    there are fewer than two periods."""
    if len(story.periods) < 2:
        return None
    rows: dict[tuple[str, int | None], list[HistoryPeriod]] = {}
    for period in sorted(story.periods, key=lambda item: item.seen_from, reverse=True):
        rows.setdefault((period.url, period.version), []).append(period)
    drawn = list(rows.values())[:_ROWS]
    left_out = f"{len(rows) - len(drawn)} more rows are in the table." if len(rows) > len(drawn) else ""
    return time_line(
        "Time line of the versions of the page",
        [_row(periods, version_path) for periods in drawn],
        _table(story.periods),
        " ".join(filter(None, (_legend(period for periods in drawn for period in periods), left_out))),
    )


def changes_figure(stories: Sequence[PageHistory], name: Callable[[str], str]) -> Figure | None:
    """Pages, each with its texts one after the other; `name` is that of an address. None for pages without any."""
    rows = [
        SpanRow(name(story.url), tuple(span for period in story.periods for span in _spans(period)))
        for story in stories
        if story.periods
    ]
    if not rows:
        return None
    periods = [period for story in stories for period in story.periods]
    return time_line("Time line of the pages that changed", rows, _table(periods), _legend(periods))


def _legend(periods: Iterable[HistoryPeriod]) -> str:
    """What the marks mean, of those that there are."""
    shown = list(periods)
    meanings = (
        ("A bar: seen with one text.", True),
        ("An empty bar: seen to be absent.", any(period.version is None for period in shown)),
        ("A broken line: something else was seen at its end.", any(period.seen_until is not None for period in shown)),
    )
    return " ".join(meaning for meaning, is_there in meanings if is_there)


def _row(periods: Sequence[HistoryPeriod], version_path: Callable[[int], str] | None) -> SpanRow:
    period = periods[0]
    href = ""
    if version_path is not None and period.kept and period.version_id is not None:
        href = version_path(period.version_id)
    return SpanRow(_name(period), tuple(span for item in periods for span in _spans(item)), href)


def _spans(period: HistoryPeriod) -> Iterable[Span]:
    seen = f"{_name(period)}, {period.seen_from:%Y-%m-%d %H:%M} to {period.seen_last:%Y-%m-%d %H:%M}"
    if period.seen_until is not None:
        between = f"not looked at from {period.seen_last:%Y-%m-%d %H:%M} to {period.seen_until:%Y-%m-%d %H:%M}"
        yield Span("broken", period.seen_last, period.seen_until, between)
    yield Span("hollow" if period.version is None else "full", period.seen_from, period.seen_last, seen)


def _name(period: HistoryPeriod) -> str:
    return "absent" if period.version is None else f"version {period.version}"


def _table(periods: Sequence[HistoryPeriod]) -> DataTable:
    latest = sorted(periods, key=lambda item: item.seen_from, reverse=True)
    return DataTable(
        ("Text", "Address", "First seen (UTC)", "Last seen (UTC)", "Something else seen (UTC)", "Known"),
        tuple(
            (
                _name(period),
                period.url,
                f"{period.seen_from:%Y-%m-%d %H:%M}",
                f"{period.seen_last:%Y-%m-%d %H:%M}",
                f"{period.seen_until:%Y-%m-%d %H:%M}" if period.seen_until else "not yet",
                SIGHTINGS.get(period.basis, period.basis),
            )
            for period in latest
        ),
    )
