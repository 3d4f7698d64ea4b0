"""What the versions of a page leave out of what the page showed, by reason.

The pages themselves are not kept, so that there are counts alone: fetch the page again with `--all-text` to see it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.rows import class_row
from pydantic import BaseModel

from webrag_core.conversion.converted_page import LeftOut
from webrag_core.corpus.documents import find_document


class VersionLeftOut(BaseModel):
    """Characters that one version leaves out, by reason, and `bare_headings`, which lost all that stood below them.

    `left_out` is None for a version that was stored before this was counted. `all_text`: everything that the page shows
    was kept.
    """

    version: int
    fetched_at: datetime
    all_text: bool
    left_out: dict[str, int] | None


async def left_out_of(connection: AsyncConnection, url: str) -> list[VersionLeftOut]:
    """All versions of the page that canonical `url` names, the newest first; none for a page that is not stored."""
    document = await find_document(connection, url)
    if document is None:
        return []
    async with connection.cursor(row_factory=class_row(VersionLeftOut)) as cursor:
        await cursor.execute(
            "SELECT number AS version, fetched_at, all_text, left_out FROM document_versions WHERE document_id = %s"
            " ORDER BY fetched_at DESC, number DESC",
            (document.id,),
        )
        return await cursor.fetchall()


def left_out_words(stored: dict[str, Any] | None) -> str:
    """The counts of a version as people read them: `boilerplate 1,240 characters, hidden 310`; "" for none."""
    counts = LeftOut(**stored).counts() if stored else []
    texts = [(name, number) for name, number in counts if number and name != "bare headings"]
    words = [f"{name} {number:,}{'' if i else ' characters'}" for i, (name, number) in enumerate(texts)]
    words += [
        f"{number} heading{'s' if number > 1 else ''} with nothing below"
        for name, number in counts
        if number and name == "bare headings"
    ]
    return ", ".join(words)
