"""Index stored versions: chunk, embed, then make current.

Each stage commits by itself and is idempotent; only the last one is visible to readers, in one transaction.
A kill at any instant leaves the previous version whole.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pgvector import Vector
from psycopg import AsyncConnection, Rollback, sql

from webrag_core.config import Settings
from webrag_core.corpus import documents
from webrag_core.corpus.documents import StoredVersion
from webrag_core.corpus.works import update_works
from webrag_core.errors import FetchError, IntegrityError, Reason
from webrag_core.indexing import chunks as chunk_table
from webrag_core.indexing import embedding_models as models
from webrag_core.indexing.chunker import Chunk, chunk_markdown
from webrag_core.indexing.chunks import chunker_key
from webrag_core.indexing.graph.edges import (
    UP_TO_DATE,
    count_degrees,
    edges_are_missing,
    edges_of,
    page_inputs,
    rebuild_edges,
    replace_edges,
    resolve_nodes,
)
from webrag_core.indexing.lexical import TermIds, note_rules, replace_postings, term_counts
from webrag_core.indexing.markdown import Block, parse_blocks
from webrag_core.indexing.retirement import moved_urls, retire_absent, retire_gone, retire_moved
from webrag_core.language.detection import UNCLEAR, detected_page
from webrag_core.language.words import rules_of
from webrag_core.providers.embedder import Embedder
from webrag_core.store.database import Database
from webrag_core.store.vector_tables import vector_table

_ATTEMPTS = 5  # to store vectors that another writer deletes meanwhile


@dataclass(frozen=True, slots=True)
class IndexOutcome:
    """Result of indexing one version. `embedded` counts texts sent to the model."""

    document_id: int
    version_id: int
    embedded: int
    became_current: bool


class Indexer:
    """Chunk, embed and activate versions. Safe to call concurrently, also for one document."""

    def __init__(self, database: Database, embedder: Embedder, settings: Settings) -> None:
        self._database = database
        self._embedder = embedder
        self._settings = settings
        self._model_id: int | None = None
        self._term_ids = TermIds()
        self._key = chunker_key(settings.parent_max_tokens, settings.child_target_tokens)

    @property
    def embedder(self) -> Embedder:
        """The embedding model for queries."""
        return self._embedder

    async def model_id(self) -> int:
        """Id of the live embedding model. Raises StoreError when the corpus was indexed with another one."""
        if self._model_id is None:
            async with self._database.connection() as connection:
                self._model_id = await models.live_model(connection, self._embedder.identity)
        return self._model_id

    async def index(self, version_id: int) -> IndexOutcome:
        """Run all pending stages for one version.

        `activate` writes missing chunks in its own transaction.
        """
        return await self.activate(version_id)

    async def pending(self, version_ids: Sequence[int], stage: Literal["chunk", "activate"]) -> list[int]:
        """Return the versions with pending work in `stage`, in order, by one query."""
        if stage == "chunk":
            condition = sql.SQL(
                "v.chunker IS DISTINCT FROM %(chunker)s AND d.current_version IS DISTINCT FROM v.id"
            ).format()
        else:  # as `_is_settled`, except for outdated versions, which `activate` detects
            condition = sql.SQL(
                "(d.current_version = v.id AND d.status = 'ready' AND v.chunker = %(chunker)s AND v.child_count ="
                " (SELECT count(*) FROM {vectors} e WHERE e.document_id = d.id) AND NOT EXISTS (SELECT FROM"
                "  url_aliases a JOIN documents o ON o.canonical_url = a.url WHERE a.document_id = d.id"
                "  AND o.id <> d.id AND o.status <> 'gone') AND {edges}) IS NOT TRUE"
            ).format(vectors=vector_table(await self.model_id()), edges=sql.SQL(UP_TO_DATE))
        query = sql.SQL(
            "SELECT v.id FROM unnest(%(versions)s::integer[]) WITH ORDINALITY AS w (id, place)"
            " JOIN document_versions v ON v.id = w.id JOIN documents d ON d.id = v.document_id"
            " WHERE d.status <> 'gone' AND {} ORDER BY w.place"
        )
        async with self._database.connection() as connection:
            cursor = await connection.execute(
                query.format(condition), {"versions": list(version_ids), "chunker": self._key}
            )
            return [int(row[0]) for row in await cursor.fetchall()]

    async def chunk(self, version_id: int) -> int:
        """Stage the chunks of a version that is not current. Return the rows written (0 = nothing to do).

        A version that is current keeps its chunks until `activate` replaces them together with their vectors.
        """
        version = await self._version(version_id)
        if version.chunker == self._key:
            return 0
        parents, texts = await asyncio.to_thread(lambda: self._chunks(version, parse_blocks(version.markdown)))
        columns = await asyncio.to_thread(chunk_table.child_columns, texts, version.language)
        async with self._database.transaction() as connection:
            await documents.lock_urls(connection, version.canonical_url)
            cursor = await connection.execute(
                "SELECT v.chunker IS DISTINCT FROM %s AND d.current_version IS DISTINCT FROM v.id"
                " AND NOT EXISTS (SELECT FROM url_aliases a WHERE a.url = d.canonical_url)"
                " FROM document_versions v JOIN documents d ON d.id = v.document_id WHERE v.id = %s",
                (self._key, version_id),
            )
            row = await cursor.fetchone()
            if row is None or not row[0]:
                return 0  # current, moved away, or another writer was faster
            return await chunk_table.write_chunks(connection, version, parents, columns, self._key)

    async def rechunk(self, version_id: int) -> None:
        """Replace the chunks of a version. A current version switches together with its vectors and postings."""
        async with self._database.transaction() as connection:
            await connection.execute("UPDATE document_versions SET chunker = NULL WHERE id = %s", (version_id,))
        if not await self.chunk(version_id):
            await self.activate(version_id)

    async def activate(self, version_id: int) -> IndexOutcome:
        """Embed missing texts, then make the version current together with its vectors and postings.

        A version older than the current one, of a gone document, or of a URL that became an alias does not become
        current: a slow writer must not restore removed content.
        """
        model_id = await self.model_id()
        version = await self._version(version_id)
        async with self._database.claims.hold(f"index version {version_id}"):  # later callers see the result
            return await self._activate(version, model_id)

    async def _activate(self, version: StoredVersion, model_id: int) -> IndexOutcome:
        version_id = version.id
        async with self._database.connection() as connection:
            settled = await self._is_settled(connection, version, model_id)
            if settled and not await edges_are_missing(connection, version):
                return IndexOutcome(version.document_id, version_id, 0, False)
        if settled:
            await rebuild_edges(self._database, version)
            return IndexOutcome(version.document_id, version_id, 0, False)
        async with self._database.connection() as connection:
            inputs = await page_inputs(connection, version)
        blocks = await asyncio.to_thread(parse_blocks, version.markdown)
        parents, texts = await asyncio.to_thread(self._chunks, version, blocks)
        extraction = await asyncio.to_thread(edges_of, version, inputs, blocks)
        counts = await asyncio.to_thread(_count_terms, version, parents)
        columns = await asyncio.to_thread(chunk_table.child_columns, texts, version.language)
        async with self._database.connection() as connection:
            await note_rules(connection, rules_of(version.language))
            term_ids = await self._term_ids.resolve(connection, {term for count in counts for term in count})
        embedded = 0
        for _ in range(_ATTEMPTS):
            embedded += await self._embed(dict(texts), model_id)
            async with self._database.connection() as connection:
                node_ids = await resolve_nodes(connection, extraction)
            async with self._database.transaction() as connection:
                await models.require_live(connection, model_id)
                await documents.lock_urls(
                    connection, version.canonical_url, *await moved_urls(connection, version.document_id)
                )
                if await self._is_settled(connection, version, model_id):  # another writer was faster
                    return IndexOutcome(version.document_id, version_id, embedded, False)
                if not await chunk_table.has_chunks(connection, version_id, self._key):
                    await models.cache_version(connection, model_id, version_id)
                    await chunk_table.write_chunks(connection, version, parents, columns, self._key)
                if not await self._write_vectors(connection, version, model_id):
                    raise Rollback
                if not await replace_edges(connection, version, inputs, extraction, node_ids):
                    raise Rollback
                ids = await chunk_table.parent_ids(connection, version_id)
                await replace_postings(connection, version.document_id, dict(zip(ids, counts, strict=True)), term_ids)
                changed = await self._make_current(connection, version)
                if changed:
                    await documents.log_change(connection, version.document_id, version_id, "version")
                await retire_moved(connection, version.document_id, model_id)
                return IndexOutcome(version.document_id, version_id, embedded, changed)
        raise IntegrityError(f"vectors or nodes of {version.canonical_url} disappeared {_ATTEMPTS} times")

    async def retire(self, url: str) -> bool:
        """Remove the document at `url` from the index if it is confirmed gone. Return True if removed."""
        model_id = await self.model_id()
        async with self._database.transaction() as connection:
            return await retire_gone(connection, url, model_id)

    async def retire_ended(self, url: str, document_id: int) -> bool:
        """Remove a document from the index that ended in the history it was read from. Return True if removed."""
        model_id = await self.model_id()
        async with self._database.transaction() as connection:
            await documents.lock_urls(connection, url)
            cursor = await connection.execute("SELECT status = 'gone' FROM documents WHERE id = %s", (document_id,))
            if await cursor.fetchone() != (False,):
                return False
            await retire_absent(connection, document_id, model_id)
        return True

    async def finish_bulk(self) -> bool:
        """Build the vector index after bulk writes, if the corpus has outgrown exact search; count incoming edges,
        and find pages that are versions of each other."""
        model_id = await self.model_id()
        await count_degrees(self._database)
        await update_works(self._database)
        return await models.ensure_vector_index(self._database, model_id)

    async def _version(self, version_id: int) -> StoredVersion:
        async with self._database.connection() as connection:
            version = await documents.load_version(connection, version_id)
            if version is not None and version.detected_language is None:  # of an earlier version of the software
                language = await asyncio.to_thread(detected_page, version.markdown) or UNCLEAR
                await connection.execute(
                    "UPDATE document_versions SET detected_language = %s WHERE id = %s", (language, version_id)
                )
                version = await documents.load_version(connection, version_id)
        if version is None:
            raise FetchError(Reason.FORGOTTEN, f"version {version_id} was removed while it was indexed")
        return version

    def _chunks(self, version: StoredVersion, blocks: Sequence[Block]) -> tuple[list[Chunk], list[tuple[str, str]]]:
        """Return parents, and (sha256, embedding text) of every child in order; for a thread."""
        parents = chunk_markdown(
            version.markdown,
            parent_max=self._settings.parent_max_tokens,
            child_target=self._settings.child_target_tokens,
            blocks=blocks,
        )
        return parents, list(chunk_table.embedding_inputs(version, parents))

    async def _is_settled(self, connection: AsyncConnection, version: StoredVersion, model_id: int) -> bool:
        """True when the version is current and complete, or must not become current."""
        cursor = await connection.execute(
            sql.SQL(
                "SELECT coalesce(c.fetched_at > v.fetched_at, false) OR d.status = 'gone'"
                " OR EXISTS (SELECT FROM url_aliases a WHERE a.url = d.canonical_url),"
                " coalesce(d.current_version = v.id AND d.status = 'ready' AND v.chunker = %(chunker)s"
                "  AND v.child_count = (SELECT count(*) FROM {} e WHERE e.document_id = d.id), false)"
                " FROM document_versions v JOIN documents d ON d.id = v.document_id"
                " LEFT JOIN document_versions c ON c.id = d.current_version WHERE v.id = %(version)s"
            ).format(vector_table(model_id)),
            {"version": version.id, "chunker": self._key},
        )
        row = await cursor.fetchone()
        if row is None:  # removed on request meanwhile
            return True
        overtaken, complete = row
        return bool(overtaken) or (bool(complete) and not await moved_urls(connection, version.document_id))

    async def _embed(self, texts: dict[str, str], model_id: int) -> int:
        """Embed texts (by digest) that have no vector; hold no connection during model requests."""
        async with self._database.connection() as connection:
            missing = sorted(await models.missing_vectors(connection, model_id, texts))
        size = self._settings.embedding_batch_size
        for start in range(0, len(missing), size):
            batch = missing[start : start + size]
            vectors = await self._embedder.embed([texts[digest] for digest in batch])
            async with self._database.connection() as connection:
                rows = {digest: Vector(vector) for digest, vector in zip(batch, vectors, strict=True)}
                await models.fill_cache(connection, model_id, rows)
        return len(missing)

    async def _write_vectors(self, connection: AsyncConnection, version: StoredVersion, model_id: int) -> bool:
        """Replace the document's vectors by those of this version. Return False when another document's change removed
        shared vectors meanwhile."""
        children = sql.SQL(
            "SELECT id, document_id, embed_sha256 FROM chunks WHERE version_id = %(version)s AND level = 'child'"
        )
        await models.copy_vectors(connection, model_id, children, {"version": version.id})
        await models.cache_superseded(connection, model_id, version.document_id, version.id)
        await connection.execute(
            sql.SQL(
                "DELETE FROM {} e WHERE e.document_id = %s AND NOT EXISTS"
                " (SELECT FROM chunks c WHERE c.id = e.chunk_id AND c.version_id = %s)"
            ).format(vector_table(model_id)),
            (version.document_id, version.id),
        )
        cursor = await connection.execute(
            sql.SQL(
                "SELECT child_count, (SELECT count(*) FROM {} e WHERE e.document_id = v.document_id)"
                " FROM document_versions v WHERE id = %s"
            ).format(vector_table(model_id)),
            (version.id,),
        )
        row = await cursor.fetchone()
        if row is None or row[1] > row[0]:
            raise IntegrityError(f"{row and row[1]} vectors for {row and row[0]} children of {version.canonical_url}")
        return bool(row[0] == row[1])

    async def _make_current(self, connection: AsyncConnection, version: StoredVersion) -> bool:
        """Make the version current and drop derived rows of older versions; their texts stay."""
        cursor = await connection.execute(
            "UPDATE documents SET current_version = %(version)s, status = 'ready', reason = NULL, updated_at = now()"
            " WHERE id = %(document)s AND (current_version IS DISTINCT FROM %(version)s OR status <> 'ready')",
            {"version": version.id, "document": version.document_id},
        )
        others = (version.document_id, version.id)
        await connection.execute("DELETE FROM chunks WHERE document_id = %s AND version_id <> %s", others)
        await connection.execute(
            "DELETE FROM link_candidates WHERE version_id IN"
            " (SELECT id FROM document_versions WHERE document_id = %s AND id <> %s)",
            others,
        )
        await connection.execute(
            "UPDATE document_versions SET chunker = NULL, parent_count = NULL, child_count = NULL"
            " WHERE document_id = %s AND id <> %s AND chunker IS NOT NULL",
            others,
        )
        return cursor.rowcount > 0


def _count_terms(version: StoredVersion, parents: list[Chunk]) -> list[Counter[str]]:
    return [
        term_counts(parent.heading_path, version.markdown[parent.char_start : parent.char_end], version.language)
        for parent in parents
    ]
