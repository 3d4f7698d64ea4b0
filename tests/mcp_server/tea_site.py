"""A small site about tea: a seed that does not know, pages that do, one that fails, one of its own words."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.local_site import SITE, LocalSite, page
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.config import Settings

SEED = f"{SITE}/"
QUESTION = "At how many degrees is green tea brewed, and for how long?"
GREEN = (
    "Green tea is brewed at eighty degrees. It is left for two minutes, never longer: bitter substances dissolve after"
    " that. The leaves can be used again, up to three times, each time for half a minute more than before."
)
PAGES: Mapping[str, str] = {
    "/": page(
        "All about drinks",
        "This site collects what people drink, from water to wine, and how each of them came into the world.",
        {"/green-tea": "How green tea is brewed", "/coffee": "Coffee", "/gone": "Old tea page", "/history": "History"},
    ),
    "/green-tea": page("Green tea", GREEN, {"/": "Start", "/cups": "Tea cups"}),
    "/coffee": page("Coffee", "Coffee is brewed at ninety-three degrees, with fresh water and ground beans."),
    "/history": page("History", "Monks brought the plant over the sea. Later, merchants sold it in every harbour."),
    "/cups": page("Tea cups", "Cups are warmed before the tea is poured, so that it keeps its temperature longer."),
}


def tea_site(**more: str) -> LocalSite:
    """The site, with further pages by path."""
    return LocalSite({**PAGES, **{f"/{name}": text for name, text in more.items()}})


def tea_settings(database_url: str, **more: object) -> Settings:
    """Defaults on this database, without the reading model, which takes most of an answer's time."""
    return Settings(database_url=database_url, **{"webrag_reader": "none", **more})  # type: ignore[arg-type]


@dataclass(slots=True)
class HeldSite(LocalSite):
    """Keeps requests for `held` paths waiting until `released`."""

    held: frozenset[str] = frozenset()
    waiting: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """As the protocol says, but late."""
        if url.removeprefix(SITE) in self.held:
            self.waiting.set()
            await self.released.wait()
        return await LocalSite.fetch(self, url, etag=etag, last_modified=last_modified)
