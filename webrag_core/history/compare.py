"""Two versions of a page beside each other."""

from __future__ import annotations

from datetime import datetime

from psycopg import AsyncConnection
from pydantic import BaseModel

from webrag_core.errors import InvalidInputError
from webrag_core.history.as_of import AsOf
from webrag_core.history.diff import PageDiff, recent_diff, unified
from webrag_core.history.models import HistoryPeriod
from webrag_core.history.pages import seen_at, seen_history
from webrag_core.readable import Readable, counted
from webrag_core.text_work import beside_loop


class VersionText(Readable, BaseModel):
    """A version with its text, and when it was seen for the first and the last time."""

    version_id: int
    version: int
    url: str
    sha256: str
    title: str | None
    seen_from: datetime
    seen_last: datetime
    text: str

    @property
    def name(self) -> str:
        """Its number and the day from which it was seen."""
        return f"version {self.version}, {self.seen_from:%Y-%m-%d}"

    def summary(self) -> str:
        """Its name, page and length."""
        return f"{self.name} of {self.url}: {len(self.text):,} characters"


class PageComparison(Readable, BaseModel):
    """What changed between two versions. `note` says in one sentence what is special about the pair, if anything."""

    url: str
    before: VersionText
    after: VersionText
    diff: PageDiff
    note: str | None = None

    def unified(self) -> str:
        """The changes as text (`diff.unified`)."""
        return unified(self.before.text, self.after.text, self.diff, names=(self.before.name, self.after.name))

    def summary(self) -> str:
        """The page and the number of its changes."""
        return f"{self.url}: {self.before.name} and {self.after.name}, {counted(len(self.diff.changes), 'change')}"


async def compare(connection: AsyncConnection, url: str, before: str, after: str) -> PageComparison:
    """Compare two versions, each given by its number or by a date at which the page had it.

    Raises InvalidInputError for a page or version that is not stored, and for a text that is no longer kept.
    """
    history = await seen_history(connection, url)
    item = await _version(connection, url, history.periods, before)
    other = await _version(connection, url, history.periods, after)
    same = item.sha256 == other.sha256
    note = f"both are version {item.version}: nothing changed" if same else None
    diff = await beside_loop(recent_diff, item.text, other.text)
    return PageComparison(url=history.url, before=item, after=other, diff=diff, note=note)


def _kept(periods: list[HistoryPeriod]) -> str:
    numbers = sorted({period.version for period in periods if period.version is not None and period.kept})
    return f"those of versions {', '.join(map(str, numbers))} are" if numbers else "nor is any other"


async def _version(connection: AsyncConnection, url: str, periods: list[HistoryPeriod], wanted: str) -> VersionText:
    text = wanted.strip().removeprefix("v")
    if text.isdecimal() and len(text) < 4:  # four digits are a year
        matches = [period for period in periods if period.version == int(text)]
    else:
        result = await seen_at(connection, url, AsOf.parse(wanted, "version or date"))
        matches = [
            period for period in periods if period.version_id is not None and period.version_id == result.version_id
        ]
        if not matches:
            raise InvalidInputError(f"no text of {url} at {wanted.strip()}: {result.note}")
    if not matches:
        known = ", ".join(
            str(period) for period in sorted({period.version for period in periods if period.version is not None})
        )
        raise InvalidInputError(f"{url} has no version {text}; it has {known or 'none'}")
    if not matches[0].kept:
        raise InvalidInputError(
            f"there was a version {matches[0].version} of {url} from {matches[0].seen_from:%Y-%m-%d} to"
            f" {matches[-1].seen_last:%Y-%m-%d}; its text is no longer kept, {_kept(periods)}"
        )
    cursor = await connection.execute("SELECT markdown FROM document_versions WHERE id = %s", (matches[0].version_id,))
    (markdown,) = await cursor.fetchone() or ("",)
    return VersionText(
        version_id=matches[0].version_id or 0,
        version=matches[0].version or 0,
        url=matches[0].url,
        sha256=matches[0].sha256 or "",
        title=matches[0].title,
        seen_from=matches[0].seen_from,
        seen_last=matches[-1].seen_last,
        text=markdown,
    )
