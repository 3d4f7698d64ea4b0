"""The plan of a refresh: floor, flags, what liars cost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from webrag_core.corpus.revisit import MIN_CHECKS, PROBES, KnownPage, SignalRecord, plan_refresh

NOW = datetime(2026, 5, 1, tzinfo=UTC)
INTERVAL = timedelta(days=30)
TRUE = SignalRecord(flagged_changed=40, flagged_same=2, silent_changed=1, silent_same=400)
ALWAYS_MOVES = SignalRecord(flagged_changed=2, flagged_same=300)
NEVER_MOVES = SignalRecord(silent_changed=50, silent_same=300)


def page(number: int, *, checked: float = 1, signal: str | None = None, modified: float | None = None) -> KnownPage:
    """A page that was looked at `checked` days ago and says that it changed `modified` days ago."""
    last = NOW - timedelta(days=checked)
    date = None if modified is None else NOW - timedelta(days=modified)
    return KnownPage(f"https://example.org/{number}", last + INTERVAL, last, signal, date)


def test_without_signals_every_page_is_asked_once_in_an_interval() -> None:
    pages = [page(number, checked=number) for number in range(60)]
    plan = plan_refresh(pages, {}, NOW, INTERVAL)
    assert set(plan) == {f"https://example.org/{number}" for number in range(30, 60)}
    assert next(iter(plan)) == "https://example.org/59"  # the longest ago first
    assert set(plan.values()) == {"due"}


def test_a_page_that_never_answered_is_due() -> None:
    assert plan_refresh([KnownPage("https://example.org/", None, None)], {}, NOW, INTERVAL)


def test_everything() -> None:
    assert len(plan_refresh([page(number) for number in range(9)], {}, NOW, INTERVAL, everything=True)) == 9


def test_a_flag_is_worth_a_request_at_once() -> None:
    pages = [page(1, signal="sitemap", modified=0.5), page(2, signal="sitemap", modified=50)]
    plan = plan_refresh(pages, {"sitemap": TRUE}, NOW, INTERVAL)
    assert plan == {"https://example.org/1": "flagged"}
    moved = KnownPage("https://example.org/3", NOW + INTERVAL, NOW - INTERVAL, "feed", None, NOW - timedelta(hours=1))
    assert plan_refresh([moved], {}, NOW, INTERVAL) == {moved.url: "flagged"}


@pytest.mark.parametrize(
    ("record", "asked"),
    [(SignalRecord(), MIN_CHECKS), (ALWAYS_MOVES, PROBES), (TRUE, 100)],
    ids=["new", "liar", "true"],
)
def test_what_the_flags_of_a_signal_may_cost(record: SignalRecord, asked: int) -> None:
    pages = [page(number, signal="sitemap", modified=0.5) for number in range(100)]
    assert len(plan_refresh(pages, {"sitemap": record}, NOW, INTERVAL)) == asked


@pytest.mark.parametrize(("record", "asked"), [(TRUE, 0), (NEVER_MOVES, 50), (SignalRecord(), 50)])
def test_only_silence_that_proved_true_stretches_the_interval(record: SignalRecord, asked: int) -> None:
    pages = [page(number, checked=40, signal="sitemap", modified=400) for number in range(50)]
    assert len(plan_refresh(pages, {"sitemap": record}, NOW, INTERVAL)) == asked
    old = [page(number, checked=91, signal="sitemap", modified=400) for number in range(50)]
    assert len(plan_refresh(old, {"sitemap": record}, NOW, INTERVAL)) == 50


def test_a_page_that_failed_is_not_stretched() -> None:
    checked = NOW - timedelta(days=2)
    failed = KnownPage("https://example.org/", checked + timedelta(days=1), checked, "sitemap", checked - INTERVAL)
    assert plan_refresh([failed], {"sitemap": TRUE}, NOW, INTERVAL) == {failed.url: "due"}
