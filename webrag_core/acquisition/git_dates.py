"""Days of commits and of what they changed, where a commit is dated by the day on which its text came into force. Pure.

Git has no day before 1970: older laws are committed on 1 January 1970, and the message names the day. It may name
others (of the law's first creation), so a day from a message is believed only if it agrees with the order of the
history. Of a commit without a credible day only bounds are known: those of its neighbours.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Generic, TypeVar

from webrag_core.acquisition.git_folder import Commit
from webrag_core.acquisition.written_dates import find_dates

FIRST_DAY = date(1970, 1, 1)
Text = TypeVar("Text")


@dataclass(frozen=True, slots=True)
class CommitDay:
    """The day of a commit: between `earliest` (None = no bound) and `latest`, equal where it is known."""

    earliest: date | None
    latest: date

    @property
    def known(self) -> bool:
        """Whether the day itself is known."""
        return self.earliest == self.latest


@dataclass(frozen=True, slots=True)
class Segment(Generic[Text]):
    """A text from `start` (None = no bound) to the day before `end` (None = still). Of one that is not `dated` it is
    known only that it began in between."""

    text: Text
    start: date | None
    end: date | None
    dated: bool = True


def commit_days(commits: Sequence[Commit]) -> list[CommitDay]:
    """The day of each commit, in the order of the history."""
    days: list[date | None] = []
    for commit in commits:
        date_of_author = commit.authored.date()
        days.append(_in_message(commit.message) if date_of_author <= FIRST_DAY else date_of_author)
    first = [place for place, commit in enumerate(commits) if commit.authored.date() <= FIRST_DAY]
    believed = _in_every_longest_run([(place, day) for place in first if (day := days[place]) is not None])
    for place in first:
        if place not in believed:
            days[place] = None
    return [CommitDay(day, day) if day is not None else _bounds(days, place) for place, day in enumerate(days)]


def segments(states: Sequence[tuple[CommitDay, Text]]) -> list[Segment[Text]]:
    """When each text held, in order of time: on a day, the last state of the history that is dated then or before.

    So a later commit with an earlier day corrects what was said before it.
    """
    listed: list[Segment[Text]] = []
    for day, text in states:
        start = day.earliest
        earlier = [row for row in listed if start is not None and (row.start is None or row.start < start)]
        listed = [
            item if item.end is not None and start is not None and item.end <= start
            else Segment(item.text, item.start, start, item.dated)
            for item in earlier
        ]  # fmt: skip
        if not day.known:
            listed.append(Segment(text, start, day.latest, dated=False))
        listed.append(Segment(text, day.latest, None))
    return listed


def _in_message(message: str) -> date | None:
    """The last day that a message names, among those that git cannot date a commit by."""
    days = [date.day for date in find_dates(message, "day_first") if date.day <= FIRST_DAY]
    return max(days, default=None)


def _in_every_longest_run(dated: Sequence[tuple[int, date]]) -> set[int]:
    """Places that every longest run of days that never go backwards has. Two that exclude each other are both out."""
    days = [day.toordinal() for _, day in dated]
    ending = _lengths(days)
    beginning = _lengths([-day for day in reversed(days)])[::-1]
    longest = max(ending, default=0)
    on_a_run = [place for place in range(len(days)) if ending[place] + beginning[place] == longest + 1]
    at_rank = Counter(ending[place] for place in on_a_run)
    return {dated[place][0] for place in on_a_run if at_rank[ending[place]] == 1}


def _lengths(days: Sequence[int]) -> list[int]:
    """Length of the longest run without a step back that ends at each place."""
    smallest: list[int] = []  # last day of a run of each length
    lengths = []
    for day in days:
        length = bisect_right(smallest, day)
        smallest[length : length + 1] = [day]
        lengths.append(length + 1)
    return lengths


def _bounds(days: Sequence[date | None], place: int) -> CommitDay:
    earlier = next((day for day in reversed(days[:place]) if day is not None), None)
    later = next((day for day in days[place + 1 :] if day is not None), FIRST_DAY)
    return CommitDay(earlier, max(later, earlier or later))
