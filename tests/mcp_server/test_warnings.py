"""Warnings of a run as a model reads them: each once, without the address, which the trace fences."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from tests.local_site import SITE, LocalSite
from tests.mcp_server.clients import called, connected, sections_of, text_of
from tests.mcp_server.tea_site import PAGES, QUESTION, SEED, tea_settings
from webrag_core.acquisition.sitemaps.models import MapEntry, MapFile, SiteMap
from webrag_core.errors import Reason
from webrag_core.result_warnings import Caution

MAP = "http://site.example/map.xml"
COUNTED = "sitemap: 3 URLs of other hosts were dropped (far.example)"


@dataclass(slots=True)
class MappedSite(LocalSite):
    """One file of its map is broken, on the other scheme than its pages; entries of another are left out."""

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """As the protocol says."""
        files = (MapFile(MAP, "sitemap", "failed", Reason.PARSE_FAILURE, bytes_raw=1),)
        entries = (MapEntry(f"{SITE}/green-tea", "Green tea"),)
        return SiteMap(entries, files, (Caution.on(MAP, "no XML"), Caution(COUNTED)))


def test_what_failed_is_said_once_and_by_what_it_is_about(database_url: str) -> None:
    lost = f"{SITE}/lost"

    async def work() -> tuple[str, list[str]]:
        settings = tea_settings(database_url, webrag_previews=2)
        async with connected(settings, MappedSite(dict(PAGES))) as client:
            text = text_of(await called(client, "answer", urls=[SEED, lost], question=QUESTION, expansion_budget=1))
            data = await called(client, "answer", urls=[SEED, lost], question=QUESTION, output="data")
        assert data.structured_content is not None
        return sections_of(text)["STATS"], data.structured_content["warnings"]

    stats, warnings = asyncio.run(work())
    assert "Warning: no XML" in stats.splitlines()
    assert [line for line in stats.splitlines() if "is not there" in line or MAP in line or COUNTED in line] == []
    assert f"{lost}: {lost} is not there (HTTP 404)" in warnings
