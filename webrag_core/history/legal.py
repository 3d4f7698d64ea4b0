"""Laws by their identifiers: the stored page that states one, and the part of its text that is meant."""

from __future__ import annotations

import re
from itertools import pairwise

from psycopg import AsyncConnection

from webrag_core.acquisition.legal_identifiers import LegalIdentifier
from webrag_core.acquisition.legal_xml import LANGUAGES
from webrag_core.corpus.markup import decode
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.markdown import parse_blocks

_STATING = """
SELECT DISTINCT d.canonical_url, v.language FROM graph_nodes i
JOIN graph_edges e ON e.dst = i.id AND e.kind = 'typed' AND e.label = 'legislationIdentifier' AND e.seen_until IS NULL
JOIN documents d ON d.id = e.document_id JOIN document_versions v ON v.id = e.version_id
WHERE i.kind = 'entity' AND i.key = %s ORDER BY 1 LIMIT 2
"""


_LEVEL = re.compile(r"#{1,6}(?=\s)")
_LETTERS = re.compile(r"[\W_]+")


class LawNotStoredError(InvalidInputError):
    """No stored page states the identifier of a law."""


async def page_of_law(connection: AsyncConnection, identifier: LegalIdentifier) -> str:
    """The address of the stored page whose mark-up states the work's identifier.

    Raises LawNotStoredError when no page does, InvalidInputError when several do and when it is in another language
    than is meant.
    """
    cursor = await connection.execute(_STATING, (f"legislationIdentifier:{identifier.work}",))
    rows = await cursor.fetchall()
    pages = [str(row[0]) for row in rows]
    if not pages:
        raise LawNotStoredError(f"no stored page says that it is {identifier.work}")
    if len(pages) > 1:
        raise InvalidInputError(f"several pages say that they are {identifier.work}: {' and '.join(pages)}, …")
    language, expected = rows[0][1], LANGUAGES.get(identifier.language or "", identifier.language)
    if language is not None and expected is not None and language.partition("-")[0] != expected:
        raise InvalidInputError(
            f"{identifier.work} is stored in another language ({language}) than {identifier.language}"
        )
    return pages[0]


async def part_of(connection: AsyncConnection, version_id: int, text: str, part: str) -> tuple[int, int]:
    """Where a part of a version stands, from its heading to the next of its level, as offsets in `text`.

    A part is the id of a heading of the page, dashes and underscores aside (`art2` is `art_2`). Raises
    InvalidInputError for one that the page does not have.
    """
    cursor = await connection.execute("SELECT content FROM version_markup WHERE version_id = %s", (version_id,))
    row = await cursor.fetchone()
    anchors = decode(None if row is None else row[0]).anchors
    end_of_heading = next((offset for name, offset in anchors if _plain(name) == _plain(part)), None)
    if end_of_heading is None:
        raise InvalidInputError(f"the page has no part {part}")
    headings = [block for block in parse_blocks(text) if block.kind == "heading"]
    starts = [(block.start, _level(text, block.start)) for block in headings]
    start, level = next(
        (start for start, after in pairwise([*starts, (len(text) + 1, 0)]) if after[0] >= end_of_heading)
    )
    return start, next((at for at, other in starts if at > start and other <= level), len(text))


def _plain(name: str) -> str:
    return _LETTERS.sub("", name).casefold()


def _level(text: str, start: int) -> int:
    mark = _LEVEL.match(text, start)
    return len(mark[0]) if mark else 1
