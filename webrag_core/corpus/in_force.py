"""Which version holds on a day, by what the versions say of themselves. Pure.

Of the statements that hold a day, the one that begins last counts: a text that is in force from May takes the place of
one from January. Times of being in force and of being applicable are two questions; the second is asked only of pages
that state nothing of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from webrag_core.corpus.stated_dates import Statement
from webrag_core.corpus.validity import StatedVersion
from webrag_core.corpus.validity_phrases import ValidityKind

ValidCertainty = Literal["certain", "not_in_force", "not_stated"]
KINDS: tuple[ValidityKind, ...] = ("in_force", "applicable")
"""The kinds that say when a text holds. When it was published or released says nothing of that."""
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class SeenVersion:
    """A version of a page: the day of its first sighting (None = never seen as the page, such as the past of a
    history)."""

    version_id: int
    number: int
    first_seen: date | None


@dataclass(frozen=True, slots=True)
class ValidAnswer:
    """What holds on a day.

    `certain`: `chosen` states a time that holds it. `not_in_force`: all versions state their times, and none holds it.
    `not_stated`: everything else; `reason` says why. `previous` and `following` are the statements that end before the
    day and that begin after it, where there are any; of `not_stated` the text that came into force some time around it.
    """

    certainty: ValidCertainty
    chosen: StatedVersion | None = None
    previous: StatedVersion | None = None
    following: StatedVersion | None = None
    reason: str = ""


def holding(day: date, versions: Sequence[SeenVersion], stated: Sequence[StatedVersion]) -> ValidAnswer:
    """What holds of a page on a day: `versions` are all that it has, `stated` all statements of theirs."""
    kind = next((kind for kind in KINDS if any(one.statement.kind == kind for one in stated)), None)
    if kind is None:
        return ValidAnswer("not_stated", reason="no version of the page says when it holds")
    numbers = {one.version_id: one for one in versions}
    listed = [one for one in stated if one.statement.kind == kind and one.version_id in numbers]
    previous = _last([one for one in listed if one.statement.end is not None and one.statement.end <= day])
    following = _first([one for one in listed if one.statement.start is not None and one.statement.start > day])
    holders = [one for one in listed if _holds(one.statement, day)]
    undated = next((one for one in holders if one.statement.basis == "undated"), None)
    dated = [one for one in holders if one.statement.basis != "undated"]
    if not dated and undated is not None:
        reason = "it came into force at some time around then that the history does not say"
        return ValidAnswer("not_stated", None, previous, undated, reason)
    stating = {one.version_id for one in listed if not _is_point(one.statement)}
    silent = [one for one in versions if one.version_id not in stating]
    if not dated:
        if silent:
            reason = f"version {silent[-1].number} does not say when it holds"
            return ValidAnswer("not_stated", None, previous, following, reason)
        return ValidAnswer("not_in_force", None, previous, following)
    chosen = max(dated, key=lambda one: (one.statement.start or date.min, numbers[one.version_id].number))
    if chosen.statement.end is None:
        own = numbers[chosen.version_id].first_seen
        for one in silent:  # an open end reaches to the text that took its place
            if one.first_seen is not None and (own is None or one.first_seen > own) and one.first_seen <= day:
                reason = f"version {one.number}, seen from {one.first_seen}, does not say when it holds"
                return ValidAnswer("not_stated", None, chosen, following, reason)
    return ValidAnswer("certain", chosen, previous, following)


def _holds(statement: Statement, day: date) -> bool:
    begun = statement.start is None or statement.start <= day
    return begun and (statement.end is None or day < statement.end)


def _is_point(statement: Statement) -> bool:
    """Whether it names a single day on which the text holds, and says nothing of other days."""
    return statement.start is not None and statement.end == statement.start + _DAY and statement.basis == "metadata"


def _last(ended: Sequence[StatedVersion]) -> StatedVersion | None:
    return max(ended, key=lambda one: one.statement.end or date.min, default=None)


def _first(coming: Sequence[StatedVersion]) -> StatedVersion | None:
    return min(coming, key=lambda one: one.statement.start or date.max, default=None)
