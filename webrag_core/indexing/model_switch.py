"""Embedding models side by side: build another one beside the live one, switch in one transaction, switch back.

A search uses one model from its query to its hits, so none ever mixes two. While a model is built, and until the
switch, readers and writers go on with the live one; pages that change meanwhile are caught up by the switch's check.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pgvector import Vector
from psycopg import AsyncConnection, sql

from webrag_core.errors import InvalidInputError, StoreError
from webrag_core.indexing import embedding_models as models
from webrag_core.indexing.chunks import embedding_text
from webrag_core.providers.embedder import Embedder, ModelIdentity
from webrag_core.store.database import Database
from webrag_core.store.vector_tables import vector_table


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """A model and how many current children it has a vector for."""

    id: int
    identity: ModelIdentity
    state: str
    vectors: int
    missing: int


@dataclass(frozen=True, slots=True)
class BuildReport:
    """`embedded` counts texts that were not in the cache, `vectors` the rows that the model has now."""

    model_id: int
    embedded: int
    vectors: int


async def list_models(database: Database) -> list[ModelStatus]:
    """Every registered model, oldest first."""
    async with database.snapshot() as connection:
        cursor = await connection.execute(
            "SELECT id, provider, name, dimensions, normalisation, state FROM embedding_models ORDER BY id"
        )
        found = []
        for model_id, provider, name, dimensions, normalisation, state in await cursor.fetchall():
            counts = await connection.execute(
                sql.SQL("SELECT count(*) FROM {}").format(vector_table(model_id)), prepare=False
            )
            row = await counts.fetchone()
            missing = await _count_missing(connection, model_id)
            identity = ModelIdentity(provider, name, dimensions, normalisation)
            found.append(ModelStatus(model_id, identity, state, int(row[0]) if row else 0, missing))
        return found


async def build_model(
    database: Database, embedder: Embedder, *, batch_size: int, advance: Callable[[int], None] | None = None
) -> BuildReport:
    """Give `embedder`'s model a vector for every current child, beside the live model, then index them.

    Can be stopped at any time and run again: what is embedded stays. `advance(n)` is told of n texts done.
    Raises InvalidInputError when this model is live already or no page is indexed yet, EmbeddingError.
    """
    async with database.connection() as connection:
        model_id = await models.building_model(connection, embedder.identity)
    embedded = 0
    while True:
        async with database.connection() as connection:
            batch = await _missing_texts(connection, model_id, batch_size)
            unknown = await models.missing_from_cache(connection, model_id, list(batch))
        if not batch:
            break
        wanted = sorted(unknown)
        vectors = await embedder.embed([batch[digest] for digest in wanted])
        async with database.transaction() as connection:
            found = {digest: Vector(vector) for digest, vector in zip(wanted, vectors, strict=True)}
            await models.fill_cache(connection, model_id, found)
            await _insert_cached(connection, model_id, list(batch))
        embedded += len(wanted)
        if advance is not None:
            advance(len(batch))
    async with database.connection() as connection:
        await models.ensure_vector_index(connection, model_id)
        cursor = await connection.execute(
            sql.SQL("SELECT count(*) FROM {}").format(vector_table(model_id)), prepare=False
        )
        row = await cursor.fetchone()
    return BuildReport(model_id, embedded, int(row[0]) if row else 0)


async def switch_model(database: Database, identity: ModelIdentity) -> int:
    """Make a complete model live and retire the one that was, in one transaction. Returns its id.

    Writers wait for it and then find that their model is retired. Raises InvalidInputError for a model that was
    never built, StoreError(model_incomplete) when children lack a vector: build it again, then switch.
    """
    async with database.transaction() as connection:
        await models.lock_models(connection)
        cursor = await connection.execute(
            "SELECT id, state FROM embedding_models WHERE (provider, name, dimensions, normalisation)"
            " = (%s, %s, %s, %s)",
            (identity.provider, identity.name, identity.dimensions, identity.normalisation),
        )
        row = await cursor.fetchone()
        if row is None:
            raise InvalidInputError(f"the model {identity.name} was never built")
        model_id = int(row[0])
        if row[1] == "live":
            return model_id
        missing = await _count_missing(connection, model_id)
        if missing:
            raise StoreError(
                f"the model {identity.name} lacks {missing} vectors: build it again", code="model_incomplete"
            )
        # vectors of chunks that were replaced since they were embedded
        await connection.execute(
            sql.SQL("DELETE FROM {} e WHERE NOT EXISTS (SELECT FROM chunks c WHERE c.id = e.chunk_id)").format(
                vector_table(model_id)
            )
        )
        await connection.execute("UPDATE embedding_models SET state = 'retired' WHERE state = 'live'")
        await connection.execute("UPDATE embedding_models SET state = 'live' WHERE id = %s", (model_id,))
        await models.show_in_contract(connection, model_id)
        return model_id


async def adopt_model(
    database: Database, embedder: Embedder, *, batch_size: int, advance: Callable[[int], None] | None = None
) -> BuildReport | None:
    """Build and switch to the model of `embedder` where another one is live; None where it is live already.

    One worker of all processes does it; the others wait and find it done. Pages that change meanwhile are caught up.
    Raises EmbeddingError, StoreError(model_incomplete) when writers were faster every time.
    """
    async with database.claims.hold("adopt an embedding model"):
        async with database.connection() as connection:
            live = await models.live_identity(connection)
        if live is None or live == embedder.identity:
            return None
        embedded = 0
        for last in (False, False, True):
            report = await build_model(database, embedder, batch_size=batch_size, advance=advance)
            embedded += report.embedded
            try:
                await switch_model(database, embedder.identity)
                break
            except StoreError as error:
                if last or error.code != "model_incomplete":
                    raise
        return BuildReport(report.model_id, embedded, report.vectors)


_MISSING = sql.SQL(
    " FROM chunks c JOIN documents d ON d.current_version = c.version_id"
    " JOIN document_versions v ON v.id = c.version_id"
    " WHERE c.level = 'child' AND NOT EXISTS (SELECT FROM {} e WHERE e.chunk_id = c.id)"
)


async def _count_missing(connection: AsyncConnection, model_id: int) -> int:
    query = sql.SQL("SELECT count(*)") + _MISSING.format(vector_table(model_id))
    cursor = await connection.execute(query, prepare=False)
    row = await cursor.fetchone()
    return int(row[0]) if row else 0


async def _missing_texts(connection: AsyncConnection, model_id: int, limit: int) -> dict[str, str]:
    """Digest -> text of up to `limit` children without a vector of this model."""
    query = (
        sql.SQL("SELECT c.embed_sha256, v.title, c.heading_path, c.body")
        + _MISSING.format(vector_table(model_id))
        + sql.SQL(" ORDER BY c.id LIMIT %s")
    )
    cursor = await connection.execute(query, (limit,), prepare=False)
    return {digest: embedding_text(title, path, body) for digest, title, path, body in await cursor.fetchall()}


async def _insert_cached(connection: AsyncConnection, model_id: int, digests: list[str]) -> None:
    """Rows for every current child whose text is one of these."""
    await connection.execute(
        sql.SQL(
            "INSERT INTO {} (chunk_id, document_id, source_id, embedding)"
            " SELECT c.id, c.document_id, d.source_id, k.embedding FROM chunks c"
            " JOIN documents d ON d.current_version = c.version_id"
            " JOIN embedding_cache k ON k.model_id = %s AND k.text_sha256 = c.embed_sha256"
            " WHERE c.level = 'child' AND c.embed_sha256 = ANY(%s) ON CONFLICT DO NOTHING"
        ).format(vector_table(model_id)),
        (model_id, digests),
    )
