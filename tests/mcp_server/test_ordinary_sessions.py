"""People who use the tools as usual: no address that they type is refused."""

from __future__ import annotations

import asyncio

from benchmarks.security.ordinary_sessions import ordinary
from tests.mcp_server.tea_site import tea_settings


def test_no_address_that_a_person_types_is_refused(database_url: str) -> None:
    """One session of each kind; `make bench-security` plays 200."""
    figures = asyncio.run(ordinary(tea_settings(database_url, webrag_previews=2), 6))
    assert figures["which_refused"] == {}
    assert figures["calls"] >= 6 * 4
    assert figures["questions"] >= 2  # new sites later on: the person was asked
