"""Which failures may go away by themselves: those are asked again soon, the others wait for the next refresh."""

from __future__ import annotations

import pytest

from webrag_core.errors import FetchError, Reason


@pytest.mark.parametrize(
    ("reason", "status", "transient"),
    [
        (Reason.HTTP_STATUS, 503, True),
        (Reason.HTTP_STATUS, 429, True),
        (Reason.HTTP_STATUS, 408, True),
        (Reason.HTTP_STATUS, 403, False),
        (Reason.HTTP_STATUS, None, False),
        (Reason.NOT_FOUND, 404, False),
        (Reason.ROBOTS_DISALLOWED, None, False),
        (Reason.BLOCKED_ADDRESS, None, False),
        (Reason.SOFT_404, 200, False),
        (Reason.TIMEOUT, None, True),
        (Reason.DNS_FAILURE, None, True),
        (Reason.RATE_LIMITED, 429, True),
    ],
)
def test_transient(reason: Reason, status: int | None, transient: bool) -> None:
    assert FetchError(reason, "it failed", status=status).transient is transient
