"""Table `chunks`: written once per version, as a whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection, AsyncCursor

from webrag_core.indexing.chunker import CHUNKER_VERSION, Chunk
from webrag_core.indexing.markdown import plain_text
from webrag_core.indexing.passages import PASSAGES_VERSION, extract_passages
from webrag_core.indexing.terms import TERMS_VERSION

if TYPE_CHECKING:
    from webrag_core.corpus.documents import StoredVersion

# types for the binary COPY
_COLUMNS = {
    "id": "int8",
    "version_id": "int4",
    "document_id": "int4",
    "parent_id": "int8",
    "level": "text",
    "ordinal": "int4",
    "heading_path": "text[]",
    "char_start": "int4",
    "char_end": "int4",
    "token_count": "int4",
    "flags": "text[]",
    "body": "text",
    "embed_sha256": "text",
    "passage": "bytea",
}
_COPY = f"COPY chunks ({', '.join(_COLUMNS)}) FROM STDIN WITH (FORMAT BINARY)".encode()
_MAX_HEADER = 300  # characters of title, and of heading path: they stand before every child of the page


def chunker_key(parent_max: int, child_target: int) -> str:
    """Return the key of all versions and settings that chunks and postings depend on."""
    return f"{CHUNKER_VERSION}/{parent_max}/{child_target}/terms-{TERMS_VERSION}/passages-{PASSAGES_VERSION}"


def embedding_text(title: str | None, heading_path: Sequence[str], body: str) -> str:
    """Return a child's embedding text: title, heading path and the slice as plain text."""
    header = ((title or "")[:_MAX_HEADER], " > ".join(heading_path)[:_MAX_HEADER])
    return "\n".join(part for part in (*header, plain_text(body)) if part)


def embedding_inputs(version: StoredVersion, parents: Sequence[Chunk]) -> Iterator[tuple[str, str]]:
    """Yield (sha256, embedding text) of every child in reading order."""
    for parent in parents:
        for child in parent.children:
            body = version.markdown[child.char_start : child.char_end]
            text = embedding_text(version.title, child.heading_path, body)
            yield hashlib.sha256(text.encode()).hexdigest(), text


def child_columns(
    inputs: Sequence[tuple[str, str]],
    language: str | None = None,
    ids: Sequence[NDArray[np.uint16]] | None = None,
) -> list[tuple[str, bytes]]:
    """(sha256, packed passage) of every child of a page in this language, in the order of `embedding_inputs`; `ids` as
    `extract_passages`."""
    passages = extract_passages([text for _, text in inputs], language, ids)
    return [(digest, passage.packed()) for (digest, _), passage in zip(inputs, passages, strict=True)]


async def write_chunks(
    connection: AsyncConnection,
    version: StoredVersion,
    parents: Sequence[Chunk],
    columns: Sequence[tuple[str, bytes]],
    key: str,
) -> int:
    """Replace the chunks of `version`. Call inside a transaction. Returns the number of rows written.

    `columns` are the `child_columns` of the same parents.
    """
    await connection.execute("DELETE FROM chunks WHERE version_id = %s", (version.id,))
    cursor = await ask_ids(connection, rows_of(parents))
    rows = chunk_rows(version, parents, columns, [int(row[0]) for row in await cursor.fetchall()])
    await copy_chunks(connection, rows)
    await mark_chunked(connection, {version.id: parents}, key)
    return len(rows)


def rows_of(parents: Sequence[Chunk]) -> int:
    """How many rows parents and their children take."""
    return len(parents) + sum(len(parent.children) for parent in parents)


async def ask_ids(connection: AsyncConnection, rows: int) -> AsyncCursor:
    """Ask for new ids for so many rows."""
    return await connection.execute(
        "SELECT nextval(pg_get_serial_sequence('chunks', 'id')) FROM generate_series(1, %s)", (rows,)
    )


async def mark_chunked(connection: AsyncConnection, parents: Mapping[int, Sequence[Chunk]], key: str) -> None:
    """Write to each version how it is chunked."""
    children = [sum(len(parent.children) for parent in chunks) for chunks in parents.values()]
    await connection.execute(
        "UPDATE document_versions v SET chunker = %s, parent_count = w.parents, child_count = w.children"
        " FROM unnest(%s::int[], %s::int[], %s::int[]) AS w (id, parents, children) WHERE v.id = w.id",
        (key, list(parents), [len(chunks) for chunks in parents.values()], children),
    )


def chunk_rows(
    version: StoredVersion, parents: Sequence[Chunk], columns: Sequence[tuple[str, bytes]], ids: Sequence[int]
) -> list[tuple[object, ...]]:
    """Rows of `chunks`, their values in the order of `_COLUMNS`, with the ids of parents and then of children."""
    text = version.markdown
    rows: list[tuple[object, ...]] = []
    position = 0
    column = iter(columns)

    def row(
        chunk: Chunk, chunk_id: int, parent_id: int | None, ordinal: int, text_and_key: tuple[str | None, bytes | None]
    ) -> tuple[object, ...]:
        return (
            chunk_id,
            version.id,
            version.document_id,
            parent_id,
            "parent" if parent_id is None else "child",
            ordinal,
            list(chunk.heading_path),
            chunk.char_start,
            chunk.char_end,
            chunk.token_count,
            list(chunk.flags),
            text[chunk.char_start : chunk.char_end] if parent_id is None else None,  # a child is a slice of it
            *text_and_key,
        )

    for ordinal, parent in enumerate(parents):
        parent_id = ids[ordinal]
        rows.append(row(parent, parent_id, None, ordinal, (None, None)))
        for child in parent.children:
            rows.append(row(child, ids[len(parents) + position], parent_id, position, next(column)))
            position += 1
    return rows


async def copy_chunks(connection: AsyncConnection, rows: Iterable[tuple[object, ...]]) -> None:
    """Add rows to `chunks`, their values in the order of `_COLUMNS`."""
    async with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        copy.set_types(list(_COLUMNS.values()))
        for row in rows:
            await copy.write_row(row)


async def has_chunks(connection: AsyncConnection, version_id: int, key: str) -> bool:
    """True when the version is chunked by this chunker with these limits."""
    cursor = await connection.execute("SELECT chunker = %s FROM document_versions WHERE id = %s", (key, version_id))
    row = await cursor.fetchone()
    return bool(row and row[0])


async def parent_ids(connection: AsyncConnection, version_id: int) -> list[int]:
    """Ids of a version's parents in reading order."""
    cursor = await connection.execute(
        "SELECT id FROM chunks WHERE version_id = %s AND level = 'parent' ORDER BY ordinal", (version_id,)
    )
    return [int(row[0]) for row in await cursor.fetchall()]
