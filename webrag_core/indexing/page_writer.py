"""Write what a version becomes into the index in place of what is there, within one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from psycopg import AsyncConnection, sql

from webrag_core.corpus import documents
from webrag_core.corpus.documents import StoredVersion
from webrag_core.errors import IntegrityError
from webrag_core.indexing import chunks as chunk_table
from webrag_core.indexing import embedding_models as models
from webrag_core.indexing.graph.edges import EdgeChange
from webrag_core.indexing.graph.model import Node
from webrag_core.indexing.lexical import replace_postings
from webrag_core.indexing.prepared import PreparedPage
from webrag_core.indexing.retirement import retire_moved
from webrag_core.store.vector_tables import vector_table


@dataclass(frozen=True, slots=True)
class PageIds:
    """Ids of the terms and nodes of pages."""

    terms: Mapping[str, int]
    nodes: dict[Node, int]


@dataclass(frozen=True, slots=True)
class PageWriter:
    """One version to write: `key` is that of its chunker, `change` its edges, `ids` were looked up beforehand."""

    version: StoredVersion
    page: PreparedPage
    ids: PageIds
    change: EdgeChange
    model_id: int
    key: str

    async def replace(self, connection: AsyncConnection) -> bool | None:
        """Write everything of a version in place of what the index has of its document, or of the same version.

        Returns whether it became current; None when vectors that it shares were removed meanwhile.
        """
        if not await chunk_table.has_chunks(connection, self.version.id, self.key):
            await models.cache_version(connection, self.model_id, self.version.id)
            await chunk_table.write_chunks(connection, self.version, self.page.parents, self.page.columns, self.key)
        if not await self._write_vectors(connection):
            return None
        async with connection.pipeline():
            await self.change.write(connection)
        await EdgeChange.copy([self.change], connection)
        parents = await chunk_table.parent_ids(connection, self.version.id)
        counts = dict(zip(parents, self.page.counts, strict=True))
        await replace_postings(connection, self.version.document_id, counts, self.ids.terms)
        changed = await self._make_current(connection)
        if changed:
            await documents.log_change(connection, self.version.document_id, self.version.id, "version")
        await retire_moved(connection, self.version.document_id, self.model_id)
        return changed

    async def _write_vectors(self, connection: AsyncConnection) -> bool:
        """Replace the document's vectors by those of this version. Return False when another document's change removed
        shared vectors meanwhile. Texts that wait for the model or that it refuses have none."""
        children = sql.SQL(
            "SELECT id, document_id, embed_sha256 FROM chunks WHERE version_id = %(version)s AND level = 'child'"
        )
        await models.copy_vectors(connection, self.model_id, children, {"version": self.version.id})
        await models.cache_superseded(connection, self.model_id, self.version.document_id, self.version.id)
        await connection.execute(
            sql.SQL(
                "DELETE FROM {} e WHERE e.document_id = %s AND NOT EXISTS"
                " (SELECT FROM chunks c WHERE c.id = e.chunk_id AND c.version_id = %s)"
            ).format(vector_table(self.model_id)),
            (self.version.document_id, self.version.id),
        )
        cursor = await connection.execute(
            sql.SQL(
                "SELECT child_count, (SELECT count(*) FROM {table} e WHERE e.document_id = v.document_id),"
                " EXISTS (SELECT FROM chunks c WHERE c.version_id = v.id AND c.level = 'child'"
                "  AND NOT EXISTS (SELECT FROM {table} e WHERE e.chunk_id = c.id) AND NOT EXISTS"
                "  (SELECT FROM texts_without_vector t WHERE t.model_id = %s AND t.text_sha256 = c.embed_sha256))"
                " FROM document_versions v WHERE id = %s"
            ).format(table=vector_table(self.model_id)),
            (self.model_id, self.version.id),
        )
        row = await cursor.fetchone()
        if row is None or row[1] > row[0]:
            raise IntegrityError(
                f"{row and row[1]} vectors for {row and row[0]} children of {self.version.canonical_url}"
            )
        return not row[2]

    async def _make_current(self, connection: AsyncConnection) -> bool:
        """Make the version current and drop derived rows of older versions; their texts stay."""
        others = (self.version.document_id, self.version.id)
        cursor = await documents.make_current(connection, dict([others]))
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
