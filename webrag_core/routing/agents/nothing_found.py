"""Why the stored pages hold no evidence: there are none, there were none at the time, or they speak of other things."""

from __future__ import annotations

from webrag_core.history.as_of import AsOf
from webrag_core.history.first_seen import first_seen
from webrag_core.retrieval.request import EVERYTHING, ScopeFilter
from webrag_core.store.database import Database


async def nothing_found(database: Database, filters: ScopeFilter, at: str | None) -> str:
    """One sentence for people about a search within `filters`, at a date if any, that found nothing."""
    async with database.connection() as connection:
        oldest = await first_seen(connection, filters)
    if oldest is None:
        return "nothing is stored yet" if filters == EVERYTHING else "nothing is stored of what was asked"
    then = None if at is None else AsOf.parse(at)
    if then is not None and oldest > then.end:
        return f"nothing was stored at that time ({then.text}); the oldest text is from {oldest:%Y-%m-%d}"
    return "nothing that is stored has to do with the question"
