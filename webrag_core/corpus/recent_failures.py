"""Negative cache: skip URLs that failed recently, unless refreshed.

Reads the coverage ledger, so it applies to all runs and processes. Only failures of the page or its server count; DNS,
connection, TLS and configuration failures are always retried.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from psycopg import AsyncConnection

from webrag_core.config.fetching import FetchingSettings
from webrag_core.errors import FetchError, Reason

_TEMPORARY = frozenset(
    {Reason.TIMEOUT, Reason.RATE_LIMITED, Reason.BAD_RESPONSE, Reason.TOO_MANY_REDIRECTS, Reason.WALL, Reason.NOTICE}
)
_LASTING = frozenset(
    {
        *(Reason.NOT_FOUND, Reason.SOFT_404, Reason.EMPTY_PAGE, Reason.NEEDS_SCRIPT, Reason.NEAR_EMPTY),
        *(Reason.HELD_BACK, Reason.ROBOTS_DISALLOWED, Reason.UNSUPPORTED_TYPE, Reason.TOO_LARGE),
    }
)


async def recent_failure(
    connection: AsyncConnection,
    url: str,
    acquirers: Collection[str],
    settings: FetchingSettings,
    max_age: float | None = None,
) -> FetchError | None:
    """Return the last failure of canonical `url` by one of `acquirers` while it is valid, at most `max_age` seconds."""
    cursor = await connection.execute(
        "SELECT outcome, reason, http_status, started_at FROM fetch_log WHERE url = %s AND outcome <> 'skipped'"
        " AND acquirer = ANY(%s) ORDER BY started_at DESC LIMIT 1",
        (url, sorted(acquirers)),
    )
    row = await cursor.fetchone()
    if row is None or row[0] != "failed":
        return None
    _, code, status, failed_at = row
    reason = Reason(code)
    validity = _validity(FetchError(reason, "", status=status), settings)
    until = failed_at + (validity if max_age is None else min(validity, timedelta(seconds=max_age)))
    if until <= datetime.now(UTC):
        return None
    answer = f"{code}, HTTP {status}" if status else code
    return FetchError(
        reason,
        f"failed earlier ({answer} at {failed_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC) and is not retried before"
        f" {until.astimezone(UTC):%Y-%m-%d %H:%M} UTC, unless refreshed",
        status=status,
        earlier=True,
    )


def _validity(error: FetchError, settings: FetchingSettings) -> timedelta:
    """Return how long a failure suppresses retries; zero for an immediate retry."""
    if error.reason is Reason.ROBOTS_DISALLOWED and not settings.webrag_obey_robots:
        return timedelta(0)
    if error.reason in _TEMPORARY or (error.reason is Reason.HTTP_STATUS and error.transient):
        return timedelta(seconds=settings.webrag_retry_errors_after)
    if error.reason in _LASTING or error.reason is Reason.HTTP_STATUS:
        return timedelta(seconds=settings.webrag_retry_missing_after)
    return timedelta(0)
