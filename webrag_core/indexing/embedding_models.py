"""Table `embedding_models`, the typed vector table of each model, and the embedding cache."""

from __future__ import annotations

from collections.abc import Sequence

from pgvector import Vector
from psycopg import AsyncConnection, sql

from webrag_core.errors import StoreError
from webrag_core.indexing.embedder import ModelIdentity

# below this many rows an exact scan is as fast as the graph and misses nothing
HNSW_MIN_ROWS = 20_000


def vector_table(model_id: int) -> sql.Identifier:
    """Name of the model's own vector table."""
    return sql.Identifier(f"vectors_{int(model_id)}")


async def live_model(connection: AsyncConnection, identity: ModelIdentity) -> int:
    """Id of the live model, which must be `identity`; registered (with its table) when there is none yet.

    Raises StoreError when another model is live: vectors of two models are never mixed.
    """
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('embedding_models', 0))")
        cursor = await connection.execute(
            "SELECT id, provider, name, dimensions, normalisation FROM embedding_models WHERE state = 'live'"
        )
        row = await cursor.fetchone()
        if row is None:
            return await _register(connection, identity)
        if ModelIdentity(*row[1:]) != identity:
            raise StoreError(
                f"the corpus is indexed with {row[2]} ({row[3]} dimensions), not with {identity.name}",
                code="embedding_model_mismatch",
            )
        return int(row[0])


async def _register(connection: AsyncConnection, identity: ModelIdentity) -> int:
    cursor = await connection.execute(
        "INSERT INTO embedding_models (provider, name, dimensions, normalisation, state)"
        " VALUES (%s, %s, %s, %s, 'live') RETURNING id",
        (identity.provider, identity.name, identity.dimensions, identity.normalisation),
    )
    row = await cursor.fetchone()
    assert row is not None
    model_id = int(row[0])
    table = vector_table(model_id)
    await connection.execute(
        sql.SQL(
            "CREATE TABLE {} (chunk_id bigint PRIMARY KEY, document_id integer NOT NULL,"
            " source_id integer NOT NULL, embedding vector({}) NOT NULL)"
        ).format(table, sql.Literal(identity.dimensions))
    )
    for column in ("document_id", "source_id"):
        await connection.execute(
            sql.SQL("CREATE INDEX {} ON {} ({})").format(
                sql.Identifier(f"vectors_{model_id}_{column}"), table, sql.Identifier(column)
            )
        )
    await connection.execute("DROP VIEW IF EXISTS contract.v_embedding")
    await connection.execute(
        sql.SQL(
            "CREATE VIEW contract.v_embedding AS"
            " SELECT e.chunk_id, m.name AS model, m.dimensions AS dim, e.embedding AS vec"
            " FROM {} e CROSS JOIN embedding_models m WHERE m.id = {}"
        ).format(table, sql.Literal(model_id))
    )
    return model_id


async def ensure_vector_index(connection: AsyncConnection, model_id: int) -> bool:
    """Build the HNSW index once the table has outgrown exact search. True when there is one afterwards.

    Loading first and indexing then is several times cheaper than inserting into a live graph.
    """
    name = sql.Identifier(f"vectors_{int(model_id)}_hnsw")
    cursor = await connection.execute("SELECT to_regclass(%s)", (f"vectors_{int(model_id)}_hnsw",))
    row = await cursor.fetchone()
    if row is not None and row[0] is not None:
        return True
    cursor = await connection.execute(sql.SQL("SELECT count(*) FROM {}").format(vector_table(model_id)), prepare=False)
    row = await cursor.fetchone()
    if row is None or row[0] <= HNSW_MIN_ROWS:
        return False
    async with connection.transaction():  # two builders at once would both work, and one of them fail
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('vector_index', 0))")
        await connection.execute("SELECT set_config('maintenance_work_mem', '256MB', true)")
        await connection.execute(
            sql.SQL("CREATE INDEX IF NOT EXISTS {} ON {} USING hnsw (embedding vector_cosine_ops)").format(
                name, vector_table(model_id)
            )
        )
    return True


async def missing_from_cache(connection: AsyncConnection, model_id: int, digests: Sequence[str]) -> set[str]:
    """Which of these text digests have no vector of this model yet."""
    wanted = set(digests)
    cursor = await connection.execute(
        "SELECT text_sha256 FROM embedding_cache WHERE model_id = %s AND text_sha256 = ANY(%s)",
        (model_id, list(wanted)),
    )
    return wanted - {row[0] for row in await cursor.fetchall()}


async def fill_cache(connection: AsyncConnection, model_id: int, vectors: dict[str, Vector]) -> None:
    """Remember vectors by the digest of the text they were made of; what is there already stays."""
    async with connection.transaction():
        await connection.execute("CREATE TEMP TABLE incoming (text_sha256 text, embedding vector) ON COMMIT DROP")
        async with (
            connection.cursor() as cursor,
            cursor.copy("COPY incoming FROM STDIN WITH (FORMAT BINARY)") as copy,
        ):
            copy.set_types(["text", "vector"])
            for digest, vector in sorted(vectors.items()):
                await copy.write_row((digest, vector))
        await connection.execute(
            "INSERT INTO embedding_cache SELECT %s, text_sha256, embedding FROM incoming ORDER BY 2"
            " ON CONFLICT DO NOTHING",
            (model_id,),
        )
