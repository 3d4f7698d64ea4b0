"""Refreshes of attached sources as events of their assets: what their freshness in the catalog is judged by."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import dagster as dg

if TYPE_CHECKING:
    from webrag_core.corpus.refresh_store import LastRefresh

_STAMP = "%Y-%m-%d %H:%M UTC"


def read_refreshes(fields: Any) -> dict[str, int]:
    """Number of the last reported refresh by source. Of a cursor that cannot be read none: each is reported anew."""
    try:
        return {str(key): int(number) for key, number in fields.items()}
    except (ValueError, AttributeError, TypeError):
        return {}


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
