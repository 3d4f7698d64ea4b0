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
    kind = next((kind for kind in KINDS if any(statement.statement.kind == kind for statement in stated)), None)
    if kind is None:
        return ValidAnswer("not_stated", reason="no version of the page says when it holds")
    numbers = {version.version_id: version for version in versions}
    listed = [statement for statement in stated if statement.statement.kind == kind and statement.version_id in numbers]
    previous = _last([row for row in listed if row.statement.end is not None and row.statement.end <= day])
    following = _first([row for row in listed if row.statement.start is not None and row.statement.start > day])
    holders = [row for row in listed if _holds(row.statement, day)]
    undated = next((holder for holder in holders if holder.statement.basis == "undated"), None)
    dated = [holder for holder in holders if holder.statement.basis != "undated"]
    if not dated and undated is not None:
        reason = "it came into force at some time around then that the history does not say"
        return ValidAnswer("not_stated", None, previous, undated, reason)
    stating = {row.version_id for row in listed if not _is_point(row.statement)}
    silent = [version for version in versions if version.version_id not in stating]
    if not dated:
        if silent:
            reason = f"version {silent[-1].number} does not say when it holds"
            return ValidAnswer("not_stated", None, previous, following, reason)
        return ValidAnswer("not_in_force", None, previous, following)
    chosen = max(dated, key=lambda item: (item.statement.start or date.min, numbers[item.version_id].number))
    if chosen.statement.end is None:
        first_seen = numbers[chosen.version_id].first_seen
        for item in silent:  # an open end reaches to the text that took its place
            if (
                item.first_seen is not None
                and (first_seen is None or item.first_seen > first_seen)
                and item.first_seen <= day
            ):
                reason = f"version {item.number}, seen from {item.first_seen}, does not say when it holds"
                return ValidAnswer("not_stated", None, chosen, following, reason)
    return ValidAnswer("certain", chosen, previous, following)


def _holds(statement: Statement, day: date) -> bool:
    begun = statement.start is None or statement.start <= day
    return begun and (statement.end is None or day < statement.end)


def _is_point(statement: Statement) -> bool:
    """Whether it names a single day on which the text holds, and says nothing of other days."""
    return statement.start is not None and statement.end == statement.start + _DAY and statement.basis == "metadata"


def _last(ended: Sequence[StatedVersion]) -> StatedVersion | None:
    return max(ended, key=lambda item: item.statement.end or date.min, default=None)


def _first(coming: Sequence[StatedVersion]) -> StatedVersion | None:
    return min(coming, key=lambda item: item.statement.start or date.max, default=None)
