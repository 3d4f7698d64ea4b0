"""`make pages`: write the generated pages of the documentation again. `tests/documentation` tells when to."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

from documentation import commands, settings, views
from webrag_core.config import Settings
from webrag_core.store.database import Database
from webrag_core.store.embedded import embedded_url
from webrag_core.store.server_resources import ServerResources

REPOSITORY = Path(__file__).parent.parent
REFERENCE = REPOSITORY / "docs" / "reference"

PAGES: dict[str, Callable[[], str]] = {"all-settings.md": settings.page, "commands.md": commands.page}
"""Pages by file, and what makes them; the page of the views needs a database too."""
VIEWS = "views.md"


async def migrated(url: str) -> None:
    """Bring the schema of this database up to date."""
    async with await Database.open(Settings(database_url=url)):
        pass


def main() -> None:
    """Write every page."""
    for name, make in PAGES.items():
        (REFERENCE / name).write_text(make())
    with tempfile.TemporaryDirectory() as folder:
        url = embedded_url(Path(folder), ServerResources(128, 128, 1024, 1))
        asyncio.run(migrated(url))
        (REFERENCE / VIEWS).write_text(views.page(url))


if __name__ == "__main__":
    main()
