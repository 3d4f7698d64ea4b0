"""What the past of a page looks like: its periods, what its versions state, what it said on a date."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from pydantic import BaseModel

from webrag_core.readable import Readable, counted

Certainty = Literal["certain", "between", "not_seen", "not_in_force", "not_stated"]
TimeAxis = Literal["seen", "valid"]
"""Two times that are never mixed: when a text was seen, and when it holds by what it says of itself."""
Cause = Literal["page", "extractor", "unsure"]


class HistoryPeriod(BaseModel):
    """A time in which a page had one text; `version` None = it was confirmed absent.

    `seen_from` and `seen_last` are the first and the last sighting, `seen_until` the first sighting of something else
    (None = none yet). `basis` says how it is known (`corpus.periods.Basis`), `cause` why the text differs from the one
    before: the `page` changed, another `extractor` read the same bytes, or (`unsure`) both differ. `kept` is False when
    the text was pruned. `url` is the address at which it was seen.
    """

    url: str
    version_id: int | None
    version: int | None
    sha256: str | None
    title: str | None
    seen_from: datetime
    seen_last: datetime
    seen_until: datetime | None
    basis: str
    cause: Cause | None
    kept: bool


class StatedTime(BaseModel):
    """What a version says of its own time: from `start` to the day before `end`, None where no bound is stated.

    `kind` and `basis` as in `version_validity`; of a text `char_start`, `char_end` say where.
    """

    version: int
    kind: str
    start: date | None
    end: date | None
    basis: str
    char_start: int | None
    char_end: int | None


class OtherVersion(BaseModel):
    """A page that is another version of the same work: `label` as its address has it (3.11, stable)."""

    url: str
    label: str
    title: str | None
    stored: bool


class PageHistory(Readable, BaseModel):
    """All periods of a page, in order. An address that became another page's is followed to that page.

    `stated` is what its versions say of their own time, `works` the versions of each work that it belongs to.
    """

    url: str
    periods: list[HistoryPeriod]
    stated: list[StatedTime] = []
    works: dict[str, list[OtherVersion]] = {}

    def summary(self) -> str:
        """The page and how often its text changed."""
        return f"{self.url}: {counted(len(self.periods), 'period')}"

    def last_two(self) -> tuple[str, str] | None:
        """Numbers of the last two different texts that are kept, the earlier one first; None for fewer."""
        texts = (str(period.version) for period in reversed(self.periods) if period.version is not None and period.kept)
        numbers = list(dict.fromkeys(texts))
        return (numbers[1], numbers[0]) if len(numbers) > 1 else None


class PageAt(Readable, BaseModel):
    """What a page said at a time: by default when it was seen so, with `time` valid when it holds by its own words.

    `certain`: it was seen with this text (or confirmed absent: no version) at that time or both before and after it.
    `between`: it last had this text at `seen_last`; `next_version` was seen at `seen_until`, None where nothing was.
    `not_seen`: nothing is known of that time. `note` says so in one sentence. `text` is None where there was none, or
    where it is no longer kept; `nearest` is then the period that comes closest, one with a text where there is one.

    Of valid time: `certain`: a version states a time that holds the day, from `valid_from` to the day before
    `valid_until`. `not_in_force`: all versions state their times, and none holds it; `previous_version` and
    `next_version` are those before and after. `not_stated`: everything else.
    """

    url: str
    at: str
    time: TimeAxis = "seen"
    certainty: Certainty
    version: int | None = None
    version_id: int | None = None
    sha256: str | None = None
    title: str | None = None
    text: str | None = None
    seen_from: datetime | None = None
    seen_last: datetime | None = None
    seen_until: datetime | None = None
    next_version: int | None = None
    previous_version: int | None = None
    valid_from: date | None = None
    valid_until: date | None = None
    kind: str | None = None
    nearest: HistoryPeriod | None = None
    note: str

    def summary(self) -> str:
        """The page, the time, and how sure it is what it said."""
        version = "no text" if self.version is None else f"version {self.version}"
        return f"{self.url} at {self.at}: {self.certainty}, {version}"


class PageChange(BaseModel):
    """One change: between the last sighting `after` and the first sighting `by` a page went from one version to
    another (None = absent, or before its first sighting). `title` is that of the later version that there is."""

    url: str
    title: str | None
    kind: Literal["new", "changed", "gone", "back"]
    from_version: int | None
    to_version: int | None
    after: datetime | None
    by: datetime
    cause: Cause | None
