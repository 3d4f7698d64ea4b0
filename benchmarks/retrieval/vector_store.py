"""The benchmarks' documents in the real tables: what dense search reads, written the fast way, or everything, written
by the product."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import AsyncConnection, sql

from benchmarks.retrieval.vector_data import CutPage
from webrag_core.config import Settings
from webrag_core.corpus.documents import StoredVersion
from webrag_core.indexing.chunker import Chunk
from webrag_core.indexing.chunks import copy_chunks, embedding_inputs
from webrag_core.indexing.embedding_models import ensure_vector_index, live_model
from webrag_core.indexing.indexer import Indexer
from webrag_core.indexing.markdown import Block
from webrag_core.indexing.pipeline import Corpus
from webrag_core.providers.embedder import identity_of
from webrag_core.providers.static_model import count_tokens
from webrag_core.store.database import Database
from webrag_core.store.embedded import embedded_url
from webrag_core.store.vector_tables import vector_table

_FAMILY = 4  # children of a parent, as many as the product's own cut has on average
_INDEXERS = 3  # documents at a time
_FETCHED = datetime(2025, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Ids:
    """Ids of the documents, and per child in order: its chunk's, its document's."""

    documents: list[int]
    children: list[tuple[int, int]]


@asynccontextmanager
async def fresh_database(settings: Settings, name: str) -> AsyncIterator[Database]:
    """An empty, migrated database of this name on the embedded server; one that is there already is dropped."""
    url = await asyncio.to_thread(embedded_url, settings.webrag_home)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))
        await connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    store_settings = settings.model_copy(update={"database_url": url.replace("/postgres?", f"/{name}?", 1)})
    async with await Database.open(store_settings) as database:
        yield database


async def load_corpus(database: Database, cuts: Sequence[CutPage]) -> Ids:
    """Sources, documents and chunks; versions without their text, postings and counted tokens."""
    ids = Ids(list(range(1, len(cuts) + 1)), [])

    def chunks() -> Iterator[tuple[object, ...]]:
        number = 0
        for document, cut in enumerate(cuts, start=1):
            for at, piece in enumerate(cut.pieces):
                body = cut.markdown[piece.start : piece.end]
                where = list(piece.heading_path), piece.start, piece.end
                if at % _FAMILY == 0:
                    number += 1
                    parent = number
                    yield number, document, document, None, "parent", at // _FAMILY, *where, 1, [], body, None, None
                number += 1
                ids.children.append((number, document))
                digest = hashlib.sha256(piece.text.encode()).hexdigest()
                yield number, document, document, parent, "child", at, *where, 1, [], None, digest, None

    async with database.transaction() as connection:
        await _write_documents(connection, cuts, texts=False)
        await copy_chunks(connection, chunks())
        await connection.execute("UPDATE documents SET current_version = id, status = 'ready'")
    async with database.connection() as connection:
        await connection.execute("ANALYZE")
    return ids


def _numbered_sources(cuts: Sequence[CutPage]) -> dict[str, int]:
    return {source: number for number, source in enumerate(dict.fromkeys(cut.source for cut in cuts), start=1)}


async def _write_documents(connection: AsyncConnection, cuts: Sequence[CutPage], *, texts: bool) -> None:
    """Sources, documents and versions; the number of a document, from 1, is its id and that of its version."""
    names = _numbered_sources(cuts)
    sources = ((number, key, f"{key.removeprefix(key.partition('/')[0])}/") for key, number in names.items())
    await _copy(connection, "sources (id, key, path_prefix)", ["int4", "text", "text"], sources)
    await _copy(
        connection,
        "documents (id, source_id, canonical_url)",
        ["int4", "int4", "text"],
        ((at, names[cut.source], cut.url) for at, cut in enumerate(cuts, start=1)),
    )
    await _copy(
        connection,
        "document_versions (id, document_id, number, markdown, sha256, title, http_status, media_type, fetched_at,"
        " extractor)",
        ["int4", "int4", "int4", "text", "text", "text", "int4", "text", "timestamptz", "text"],
        (
            (at, at, 1, cut.markdown if texts else "", digest, cut.title, 200, "text/html", _FETCHED, "bench")
            for at, cut in enumerate(cuts, start=1)
            for digest in [hashlib.sha256(cut.markdown.encode()).hexdigest()]
        ),
    )


class _CutIndexer(Indexer):
    """The product's indexer, but for where documents are cut."""

    cuts: Sequence[CutPage] = ()

    def _chunks(self, version: StoredVersion, blocks: Sequence[Block]) -> tuple[list[Chunk], list[tuple[str, str]]]:
        parents = as_chunks(self.cuts[version.id - 1])
        return parents, list(embedding_inputs(version, parents))


def as_chunks(cut: CutPage) -> list[Chunk]:
    """The pieces of `cut` as children of parents, four to each; neighbours may overlap."""
    counts = count_tokens([cut.markdown[piece.start : piece.end] for piece in cut.pieces])
    children = [
        Chunk(piece.start, piece.end, piece.heading_path, count, ())
        for piece, count in zip(cut.pieces, counts, strict=True)
    ]
    families = [children[at : at + _FAMILY] for at in range(0, len(children), _FAMILY)]
    spans = [(family[0].char_start, max(child.char_end for child in family)) for family in families]
    sizes = count_tokens([cut.markdown[start:end] for start, end in spans])
    return [
        Chunk(start, end, family[0].heading_path, size, (), tuple(family))
        for family, (start, end), size in zip(families, spans, sizes, strict=True)
    ]


async def index_cuts(corpus: Corpus, cuts: Sequence[CutPage]) -> None:
    """Everything that a search reads, by the product's own writers. The corpus must be empty."""
    async with corpus.database.transaction() as connection:
        await _write_documents(connection, cuts, texts=True)
    indexer = _CutIndexer(corpus.database, corpus.embedder, corpus.settings)
    indexer.cuts = cuts
    waiting = iter(range(1, len(cuts) + 1))

    async def work() -> None:
        for version_id in waiting:
            await indexer.index(version_id)

    await asyncio.gather(*(work() for _ in range(_INDEXERS)))
    await indexer.finish_bulk()
    async with corpus.database.connection() as connection:
        await connection.execute("VACUUM ANALYZE")


async def load_vectors(
    database: Database, settings: Settings, ids: Ids, vectors: NDArray[np.float32]
) -> tuple[int, dict[str, object]]:
    """Write the vectors and index them. Returns the model's id, and seconds, rows per second and megabytes."""
    async with database.connection() as connection:
        model_id = await live_model(connection, identity_of(settings))
        started = time.perf_counter()
        rows = ((*owner, vector) for owner, vector in zip(ids.children, vectors, strict=True))
        table = vector_table(model_id)
        target = sql.SQL("{} (chunk_id, document_id, embedding)").format(table).as_string(connection)
        await _copy(connection, target, ["int8", "int4", "vector"], rows)
        copied = time.perf_counter()
        indexed = await ensure_vector_index(database, model_id)
        ended = time.perf_counter()
        await connection.execute(sql.SQL("ANALYZE {}").format(table))
        cursor = await connection.execute(
            "SELECT pg_table_size(t), pg_indexes_size(t) FROM to_regclass(%s) AS t", (f"vectors_{model_id}",)
        )
        sizes = await cursor.fetchone()
    assert sizes is not None
    return model_id, {
        "graph": indexed,
        "copy_s": round(copied - started, 1),
        "index_s": round(ended - copied, 1),
        "rows_per_s": round(len(vectors) / (ended - started)),
        "table_mb": round(sizes[0] / 2**20),
        "indexes_mb": round(sizes[1] / 2**20),
    }


async def _copy(
    connection: AsyncConnection, target: str, types: Sequence[str], rows: Iterator[tuple[object, ...]]
) -> None:
    async with connection.cursor() as cursor, cursor.copy(f"COPY {target} FROM STDIN (FORMAT BINARY)".encode()) as copy:
        copy.set_types(types)
        for row in rows:
            await copy.write_row(row)
