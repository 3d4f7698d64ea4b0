"""`make pages`: write the generated pages of the documentation again. `tests/docs_tools` fails when it is due."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

from docs_tools import architecture, commands, settings, views
from webrag_core.config import Settings
from webrag_core.store.database import Database
from webrag_core.store.embedded import embedded_url
from webrag_core.store.server_resources import ServerResources

REPOSITORY = Path(__file__).parent.parent
DOCS = REPOSITORY / "docs"

FILES: dict[str, Callable[[], str]] = {
    "images/architecture.svg": architecture.drawing,
    "reference/all-settings.md": settings.page,
    "reference/commands.md": commands.page,
}
"""Files below docs/, and what makes them; the page of the views needs a database too."""
VIEWS = "reference/views.md"


async def migrated(url: str) -> None:
    """Bring the schema of this database up to date."""
    async with await Database.open(Settings(database_url=url)):
        pass


def main() -> None:
    """Write every file."""
    for name, make in FILES.items():
        (DOCS / name).write_text(make())
    with tempfile.TemporaryDirectory() as folder:
        url = embedded_url(Path(folder), ServerResources(128, 128, 1024, 1))
        asyncio.run(migrated(url))
        (DOCS / VIEWS).write_text(views.page(url))


if __name__ == "__main__":
    main()
