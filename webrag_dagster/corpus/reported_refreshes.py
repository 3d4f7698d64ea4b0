"""Refreshes of attached sources as events of their assets: what their freshness in the catalog is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import dagster as dg

if TYPE_CHECKING:
    from psycopg import AsyncConnection

    from webrag_core.corpus.refresh_store import LastRefresh

_OVERLAP = 100
_STAMP = "%Y-%m-%d %H:%M UTC"


@dataclass(frozen=True, slots=True)
class RefreshPlace:
    """Number of the last reported refresh, and those of the ones before it that were reported: a refresh is visible
    when its transaction ends, which may be after a later one's."""

    last: int
    reported: frozenset[int]

    @classmethod
    def read(cls, fields: Any) -> RefreshPlace:
        """The place that a cursor names; those of earlier versions have the last number of each source. Without one
        that can be read the beginning: each source is reported anew."""
        try:
            if "last" in fields:
                return cls(int(fields["last"]), frozenset(map(int, fields["reported"])))
            numbers = frozenset(map(int, fields.values()))
            return cls(max(numbers, default=0), numbers)
        except (ValueError, AttributeError, TypeError, KeyError):
            return cls(0, frozenset())

    def fields(self) -> dict[str, Any]:
        """For a cursor."""
        return {"last": self.last, "reported": sorted(self.reported)}

    async def news(self, connection: AsyncConnection, limit: int) -> list[LastRefresh]:
        """The last refreshes of sources that are not reported yet, at most `limit`."""
        from webrag_core.corpus.refresh_store import last_refreshes

        return await last_refreshes(connection, after=self.last - _OVERLAP, but=self.reported, limit=limit)

    def after(self, refreshes: Sequence[LastRefresh]) -> RefreshPlace:
        """The place behind these refreshes."""
        last = max([self.last, *(refresh.id for refresh in refreshes)])
        numbers = self.reported.union(refresh.id for refresh in refreshes)
        return RefreshPlace(last, frozenset(number for number in numbers if number > last - _OVERLAP))


def refresh_event(key: dg.AssetKey, last: LastRefresh) -> dg.AssetMaterialization:
    hours = last.refresh_hours
    pause = "paused by the operator" if last.paused else None
    due = None if hours is None else f"{last.ended_at + timedelta(hours=hours):{_STAMP}}"
    return dg.AssetMaterialization(
        asset_key=key,
        description=f"Refreshed {last.ended_at:{_STAMP}}.",
        metadata={
            "refreshed_at": dg.MetadataValue.timestamp(last.ended_at),
            "next_refresh": dg.MetadataValue.text(pause or due or "as the settings say"),
            "last_look": dg.MetadataValue.text(f"{last.watched_at:{_STAMP}}" if last.watched_at else "never"),
            "pages_searchable": dg.MetadataValue.int(last.pages),
            "pages_with_a_new_text": dg.MetadataValue.int(last.fetched),
            "pages_unchanged": dg.MetadataValue.int(last.unchanged),
            "pages_failed": dg.MetadataValue.int(last.failed),
            "pages_not_due": dg.MetadataValue.int(last.not_due),
        },
    )
