"""Schedule page revisits: a uniform interval as the floor, change signals on top as far as they proved reliable.

On real page histories a cheap signal (a date in a sitemap or feed) predicts changes far better than a page's own
change rate, which is bursty. Reliability is measured per source and signal: how often a page had changed when the
signal flagged it, and when it did not. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

Why = Literal["all", "flagged", "due", "new"]

MIN_CHECKS = 20
"""Checks required before a signal's reliability is used."""
MIN_FLAG_PRECISION = 0.2
"""Flags count as reliable when at least this share of flagged pages had changed."""
MAX_MISSED_CHANGES = 0.05
"""Silence counts as reliable when at most this share of unflagged pages had changed."""
SILENT_INTERVALS = 3
"""Revisit interval of pages whose signal is silent and reliable, in intervals."""
PROBES = 5
"""Flagged pages fetched per refresh for an unreliable signal: it may have improved."""


@dataclass(frozen=True, slots=True)
class SignalRecord:
    """Reliability of one signal of one source: counts of checked pages by signal and outcome."""

    flagged_changed: int = 0
    flagged_same: int = 0
    silent_changed: int = 0
    silent_same: int = 0

    @property
    def flags_reliable(self) -> bool | None:
        """True when flags predict changes; None with too few checks."""
        flagged = self.flagged_changed + self.flagged_same
        return None if flagged < MIN_CHECKS else self.flagged_changed >= MIN_FLAG_PRECISION * flagged

    @property
    def misses_changes(self) -> bool:
        """True when it was silent at more than `MAX_MISSED_CHANGES` of the changes that are known.

        A single page that changed in silence says so of its signal only where no change was flagged yet.
        """
        if self.silent_changed < 2 and self.flagged_changed:
            return False
        return self.silent_changed > MAX_MISSED_CHANGES * (self.silent_changed + self.flagged_changed)

    @property
    def silence_reliable(self) -> bool | None:
        """True when silence means unchanged; None with too few checks."""
        silent = self.silent_changed + self.silent_same
        return None if silent < MIN_CHECKS else self.silent_changed <= MAX_MISSED_CHANGES * silent


@dataclass(frozen=True, slots=True)
class KnownPage:
    """State of a stored page for planning. `signal` is the list that dates it, or None."""

    url: str
    next_check: datetime | None
    last_checked: datetime | None
    signal: str | None = None
    last_modified: datetime | None = None
    moved_at: datetime | None = None

    @property
    def flagged(self) -> bool:
        """True when its signal reports a change after the last check."""
        if self.signal is None or self.last_checked is None:
            return False
        dates = (self.last_modified, self.moved_at)
        return any(date is not None and date > self.last_checked for date in dates)


def plan_refresh(
    pages: Iterable[KnownPage],
    records: Mapping[str, SignalRecord],
    now: datetime,
    interval: timedelta,
    *,
    everything: bool = False,
) -> dict[str, Why]:
    """URLs of the pages to fetch at `now` with the reason, most urgent first: `everything`, or the flagged and the due
    ones.

    A page without a next check is due. Flags of a signal that is not (yet) reliable are tested on a few pages, the
    longest unchecked first.
    """
    known = list(pages)
    if everything:
        urls: dict[str, Why] = {page.url: "all" for page in sorted(known, key=_longest_ago)}
    else:
        urls = {}
        budget = {
            signal: {True: len(known), None: MIN_CHECKS, False: PROBES}[record.flags_reliable]
            for signal, record in records.items()
        }
        for page in sorted(known, key=_longest_ago):
            if page.signal is not None and page.flagged and budget.setdefault(page.signal, MIN_CHECKS) > 0:
                budget[page.signal] -= 1
                urls[page.url] = "flagged"
        for page in sorted(known, key=_longest_ago):
            if page.url not in urls and _is_due(page, records, now, interval):
                urls[page.url] = "due"
    return urls


def _is_due(page: KnownPage, records: Mapping[str, SignalRecord], now: datetime, interval: timedelta) -> bool:
    if page.next_check is None or page.last_checked is None:
        return True
    due = page.next_check
    record = records.get(page.signal) if page.signal is not None else None
    # only the regular interval is extended: failed pages are retried on time
    if record is not None and record.silence_reliable and due - page.last_checked >= interval:
        due += (SILENT_INTERVALS - 1) * interval
    return due <= now


def _longest_ago(page: KnownPage) -> tuple[bool, float, str]:
    checked = page.last_checked
    return (checked is not None, checked.timestamp() if checked is not None else 0.0, page.url)
