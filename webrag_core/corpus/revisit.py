"""When a page is asked again: uniform revisits as the floor, change signals above it, as far as they proved true.

On real page histories a cheap signal (a site map's or feed's date) is worth far more than a page's own change rate,
which comes in bursts; and a signal that lies must cost next to nothing. So every signal is kept a record of, per
source: how often a page had changed when the signal said so, and when it was silent. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

Why = Literal["all", "flagged", "due", "new"]

KNOWN_AFTER = 20
"""Checks after which a record is believed."""
WORTH_ASKING = 0.2
"""A flag is worth its request when at least this share of flagged pages had changed."""
SILENCE_HOLDS = 0.05
"""Silence is believed when at most this share of silent pages had changed all the same."""
STRETCH = 3
"""The revisit interval of pages whose signal's silence is believed, in intervals."""
PROBES = 5
"""Flagged pages that are asked in one refresh even though the signal is not believed: it may have been mended."""


@dataclass(frozen=True, slots=True)
class SignalRecord:
    """What one signal of one source was worth: counts of checked pages by what it said and what was found."""

    flagged_changed: int = 0
    flagged_same: int = 0
    silent_changed: int = 0
    silent_same: int = 0

    @property
    def flags_hold(self) -> bool | None:
        """Whether a flag is worth a request; None while too little is known."""
        asked = self.flagged_changed + self.flagged_same
        return None if asked < KNOWN_AFTER else self.flagged_changed >= WORTH_ASKING * asked

    @property
    def silence_holds(self) -> bool | None:
        """Whether silence means that nothing changed; None while too little is known."""
        silent = self.silent_changed + self.silent_same
        return None if silent < KNOWN_AFTER else self.silent_changed <= SILENCE_HOLDS * silent


@dataclass(frozen=True, slots=True)
class KnownPage:
    """What the plan needs to know of a page. `signal` is the one that covers it, None when none gives it a date."""

    url: str
    next_check: datetime | None
    last_checked: datetime | None
    signal: str | None = None
    last_modified: datetime | None = None
    moved_at: datetime | None = None

    @property
    def flagged(self) -> bool:
        """True when its signal says that it changed after we looked."""
        if self.signal is None or self.last_checked is None:
            return False
        dates = (self.last_modified, self.moved_at)
        return any(date is not None and date > self.last_checked for date in dates)


@dataclass(frozen=True, slots=True)
class Plan:
    """URLs to ask, the most urgent first, and why; `not_due` counts the pages that are left in peace."""

    asked: dict[str, Why]
    not_due: int


def plan_refresh(
    pages: Iterable[KnownPage],
    records: Mapping[str, SignalRecord],
    now: datetime,
    interval: timedelta,
    *,
    everything: bool = False,
    limit: int | None = None,
) -> Plan:
    """Which pages to ask at `now`: `everything`, or the flagged and those whose time has come, at most `limit`.

    A page without a date of its next check is due. Flags of a signal that is not believed (yet) are tested on a few
    pages, those that were not looked at for longest.
    """
    known = list(pages)
    if everything:
        asked: dict[str, Why] = {page.url: "all" for page in sorted(known, key=_longest_ago)}
    else:
        asked = {}
        budget = {
            signal: {True: len(known), None: KNOWN_AFTER, False: PROBES}[record.flags_hold]
            for signal, record in records.items()
        }
        for page in sorted(known, key=_longest_ago):
            if page.signal is not None and page.flagged and budget.setdefault(page.signal, KNOWN_AFTER) > 0:
                budget[page.signal] -= 1
                asked[page.url] = "flagged"
        for page in sorted(known, key=_longest_ago):
            if page.url not in asked and _is_due(page, records, now, interval):
                asked[page.url] = "due"
    if limit is not None:
        asked = dict(list(asked.items())[:limit])
    return Plan(asked, len(known) - len(asked))


def _is_due(page: KnownPage, records: Mapping[str, SignalRecord], now: datetime, interval: timedelta) -> bool:
    if page.next_check is None or page.last_checked is None:
        return True
    due = page.next_check
    record = records.get(page.signal) if page.signal is not None else None
    # only the interval is stretched: a page that failed is looked at as soon as it was said
    if record is not None and record.silence_holds and due - page.last_checked >= interval:
        due += (STRETCH - 1) * interval
    return due <= now


def _longest_ago(page: KnownPage) -> tuple[bool, float, str]:
    checked = page.last_checked
    return (checked is not None, checked.timestamp() if checked is not None else 0.0, page.url)
