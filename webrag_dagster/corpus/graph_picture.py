"""A picture of a source's graph: what is near the page that most others link to."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import AsyncConnection

_NEAR = 30  # nodes that are drawn


async def draw_source(connection: AsyncConnection, urls: Sequence[str]) -> str | None:
    """Draw the neighbourhood of the most linked of a source's pages as one HTML page; None without any edges."""
    from webrag_core.indexing.graph.totals import most_linked_page
    from webrag_core.retrieval.graph.picture import render_picture
    from webrag_core.retrieval.graph.tasks import expand_related

    page = await most_linked_page(connection, urls)
    if page is None:
        return None
    return render_picture(await expand_related(connection, [page], k=_NEAR))
