"""A picture of a source's graph: what is near the page that most others link to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from psycopg import AsyncConnection

from webrag_dagster.private_files import write_private

FOLDER = "graphs"
"""Folder in WEBRAG_HOME that holds the pictures."""
_NEAR = 30  # nodes that are drawn


async def draw_source(connection: AsyncConnection, source: str, urls: Sequence[str], home: Path) -> Path | None:
    """Draw the neighbourhood of the most linked of a source's pages as one HTML file; None without any edges."""
    from webrag_core.indexing.graph.totals import most_linked_page
    from webrag_core.retrieval.graph.picture import render_picture
    from webrag_core.retrieval.graph.tasks import expand_related

    page = await most_linked_page(connection, urls)
    if page is None:
        return None
    related = await expand_related(connection, [page], k=_NEAR)
    name = re.sub(r"[^\w.-]+", "-", source).strip(".-")
    return write_private(home / FOLDER, f"{name}.html", render_picture(related))
