"""Table `window_vectors`: the small encoder's meaning of every stored passage, a second dense channel for search.

A window is the embedding text of a child chunk (title, headings and about 180 words), and its key the digest of that
text: pages and versions that share a text share its vector, and a page that changes needs new ones for its new texts
alone. They are made in the background, for pages in the language that the encoder knows: indexing neither waits for
them nor touches them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import LiteralString

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import AsyncConnection
from pydantic import BaseModel

from webrag_core.indexing.chunks import embedding_text
from webrag_core.providers.reading_model import window_vector
from webrag_core.store.database import Database

LANGUAGE = "en"
"""The one that the encoder was trained on."""

KNOWN_LANGUAGE: LiteralString = "coalesce(language_group(language_of(v.language, v.detected_language)), 'en') = 'en'"
"""Condition on versions `v`: in that language, or in none that is clear."""

_BATCH = 16  # windows of one transaction: a second or two of work, which is all that a kill costs

_WINDOWS: LiteralString = f"""
FROM sources s JOIN documents d ON d.source_id = s.id JOIN document_versions v ON v.id = d.current_version
JOIN chunks c ON c.version_id = v.id AND c.level = 'child'
LEFT JOIN window_vectors w ON w.text_sha256 = c.embed_sha256
WHERE {KNOWN_LANGUAGE} AND (%(keys)s::text[] IS NULL OR s.key = ANY(%(keys)s))
"""
_COVERAGE = f"""
SELECT s.key, count(*), count(w.text_sha256), count(DISTINCT c.embed_sha256) FILTER (WHERE w.text_sha256 IS NULL)
{_WINDOWS} GROUP BY s.key ORDER BY s.key
"""
# the texts are those of a few rows: a join would read every parent
_NEXT = f"""
SELECT c.id, c.embed_sha256, v.title, c.heading_path, (
    SELECT substr(p.body, c.char_start - p.char_start + 1, c.char_end - c.char_start) FROM chunks p
    WHERE p.id = c.parent_id
) {_WINDOWS} AND w.text_sha256 IS NULL AND c.id > %(after)s ORDER BY c.id LIMIT %(batch)s
"""  # noqa: S608


class WindowCoverage(BaseModel):
    """A source's passages in the language that the encoder knows, and how many have a window vector; `missing` counts
    texts, which several passages may share."""

    source: str
    passages: int
    with_vector: int
    missing: int


class WindowStatus(BaseModel):
    """Coverage of the sources that have passages to read. `cpu_seconds_left` is what the missing vectors will take, by
    the mean of those that are there; None as long as there are none."""

    sources: list[WindowCoverage]
    cpu_seconds_left: float | None

    @property
    def missing(self) -> int:
        """Texts without a vector, counted once for each source."""
        return sum(source.missing for source in self.sources)


@dataclass(frozen=True, slots=True)
class WindowReport:
    """`made` vectors in `cpu_seconds` of processor time; `missing` are still to make, as pages changed meanwhile."""

    made: int
    cpu_seconds: float
    missing: int


async def window_status(connection: AsyncConnection, keys: Sequence[str] | None = None) -> WindowStatus:
    """Coverage of the sources with these keys (None = all)."""
    cursor = await connection.execute(_COVERAGE, {"keys": _list(keys)}, prepare=False)
    sources = [
        WindowCoverage(source=key, passages=passages, with_vector=made, missing=missing)
        for key, passages, made, missing in await cursor.fetchall()
    ]
    cursor = await connection.execute("SELECT avg(cpu_ms) FROM window_vectors")
    row = await cursor.fetchone()
    mean = None if row is None or row[0] is None else float(row[0])
    status = WindowStatus(sources=sources, cpu_seconds_left=None)
    status.cpu_seconds_left = None if mean is None else status.missing * mean / 1000
    return status


async def make_windows(
    database: Database, keys: Sequence[str] | None = None, *, advance: Callable[[int], None] | None = None
) -> WindowReport:
    """Make the missing vectors of the sources with these keys (None = all), on one core.

    Each batch is stored by itself, so that work that was stopped goes on where it was; one process makes them, others
    wait. `advance(n)` is called after every n vectors. Raises ReadingModelError.
    """
    made, cpu_ms, after = 0, 0.0, 0
    async with database.claims.hold("window vectors"):
        while True:
            async with database.connection() as connection:
                values = {"keys": _list(keys), "after": after, "batch": _BATCH}
                rows = await (await connection.execute(_NEXT, values, prepare=False)).fetchall()
            if not rows:
                break
            after = int(rows[-1][0])
            texts = {digest: embedding_text(title, path, body) for _, digest, title, path, body in rows}
            vectors = await asyncio.to_thread(_read, texts)
            async with database.transaction() as connection, connection.cursor() as cursor:
                await cursor.executemany(
                    "INSERT INTO window_vectors (text_sha256, embedding, cpu_ms) VALUES (%s, %s::halfvec, %s)"
                    " ON CONFLICT DO NOTHING",
                    [(digest, Vector(vector), spent) for digest, (vector, spent) in sorted(vectors.items())],
                )
            made += len(vectors)
            cpu_ms += sum(spent for _, spent in vectors.values())
            if advance is not None:
                advance(len(vectors))
    async with database.connection() as connection:
        status = await window_status(connection, keys)
    return WindowReport(made, cpu_ms / 1000, status.missing)


def _read(texts: Mapping[str, str]) -> dict[str, tuple[NDArray[np.float32], float]]:
    """Vector of each text and the milliseconds of processor time that it took, by digest."""
    vectors = {}
    for digest, text in texts.items():
        started = time.thread_time()
        vector = window_vector(text)
        vectors[digest] = (vector, (time.thread_time() - started) * 1000)
    return vectors


def _list(keys: Sequence[str] | None) -> list[str] | None:
    return None if keys is None else list(keys)
