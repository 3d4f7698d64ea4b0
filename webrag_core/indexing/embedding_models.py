"""Table `embedding_models`, the typed vector table of each model, and the embedding cache.

The cache holds the vectors of texts between the request to the model and the transaction that stores them: what a
killed run has paid for is not lost. A vector that is stored is found by its text's digest through `chunks`. Texts that
leave the corpus go back to the cache until it is pruned, since pages often return to an earlier state.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import astuple

from pgvector import Vector
from psycopg import AsyncConnection, AsyncCursor, sql

from webrag_core.errors import InvalidInputError, StoreError
from webrag_core.indexing.unembedded import unmark
from webrag_core.providers.embedder import ModelIdentity
from webrag_core.store.database import Database
from webrag_core.store.vector_tables import vector_table

# below this many rows an exact scan is as fast as the graph and misses nothing
HNSW_MIN_ROWS = 20_000

# Links per node and candidates while building. Measured by `make bench-vectors`: pgvector's defaults
# (16, 64) lose a third of the ten best among 100,000 real vectors.
_LINKS = 20
_BUILD_CANDIDATES = 160
_BUILD_MEMORY_MB = (64, 2048)  # least, and most of a server that is set to less
_BYTES_PER_DIMENSION = 2
MAX_DIMENSIONS = 4000  # what pgvector's graph takes at half precision


async def lock_models(connection: AsyncConnection, *, shared: bool = False) -> None:
    """Until the transaction ends no model changes its state; `shared` lets others hold the same lock."""
    lock = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
    await connection.execute(f"SELECT {lock}(hashtextextended('embedding_models', 0))".encode())


async def live_model(connection: AsyncConnection, identity: ModelIdentity) -> int:
    """Id of the live model, which must be `identity`; registered (with its table) when there is none yet.

    Raises StoreError when another model is live: vectors of two models are never mixed.
    """
    async with connection.transaction():
        await lock_models(connection)
        cursor = await connection.execute(
            "SELECT id, provider, name, dimensions, normalisation, inputs FROM embedding_models WHERE state = 'live'"
        )
        row = await cursor.fetchone()
        if row is None:
            model_id = await _register(connection, identity, "live")
            await show_in_contract(connection, model_id)
            return model_id
        if ModelIdentity(*row[1:]) != identity:
            raise StoreError(
                f"the corpus is indexed with {row[2]} ({row[3]} dimensions), not with {identity.name};"
                " `webrag model build` and `webrag model switch` change that",
                code="embedding_model_mismatch",
            )
        return int(row[0])


async def live_identity(connection: AsyncConnection) -> ModelIdentity | None:
    """Which model is live; None before anything was indexed."""
    cursor = await connection.execute(
        "SELECT provider, name, dimensions, normalisation, inputs FROM embedding_models WHERE state = 'live'"
    )
    row = await cursor.fetchone()
    return ModelIdentity(*row) if row is not None else None


class LiveModel:
    """The id of the model that a corpus is indexed with, looked up once."""

    def __init__(self, database: Database, identity: ModelIdentity) -> None:
        self._database = database
        self._identity = identity
        self._id: int | None = None

    async def id(self) -> int:
        """Raises StoreError when the corpus was indexed with another one."""
        if self._id is None:
            async with self._database.connection() as connection:
                self._id = await live_model(connection, self._identity)
        return self._id


async def ask_live(connection: AsyncConnection, model_id: int) -> AsyncCursor:
    """Hold the model live until the transaction ends, if it is; see `read_live`. May be part of a pipeline."""
    await lock_models(connection, shared=True)
    return await connection.execute("SELECT state = 'live' FROM embedding_models WHERE id = %s", (model_id,))


async def read_live(cursor: AsyncCursor) -> None:
    """Raises StoreError when the model is live no longer."""
    row = await cursor.fetchone()
    if row is None or not row[0]:
        raise StoreError("the corpus was switched to another embedding model", code="embedding_model_mismatch")


async def building_model(connection: AsyncConnection, identity: ModelIdentity) -> int:
    """Id of `identity` as a model that is being built; registered when new, taken up again when retired.

    Raises InvalidInputError when it is live, or when no model is live (then there is nothing to build beside).
    """
    async with connection.transaction():
        await lock_models(connection)
        cursor = await connection.execute(
            "SELECT id, state, (provider, name, dimensions, normalisation, inputs) = (%s, %s, %s, %s, %s)"
            " FROM embedding_models ORDER BY id",
            astuple(identity),
        )
        known = await cursor.fetchall()
        if not any(state == "live" for _, state, _ in known):
            raise InvalidInputError("no page is indexed yet: the first one is indexed with the model that is set")
        for model_id, state, same in known:
            if same and state == "live":
                raise InvalidInputError(f"the model {identity.name} is live already; set EMBEDDING_* to the new one")
            if same:
                await connection.execute("UPDATE embedding_models SET state = 'building' WHERE id = %s", (model_id,))
                return int(model_id)
        return await _register(connection, identity, "building")


async def _register(connection: AsyncConnection, identity: ModelIdentity, state: str) -> int:
    cursor = await connection.execute(
        "INSERT INTO embedding_models (provider, name, dimensions, normalisation, inputs, state)"
        " VALUES (%s, %s, %s, %s, %s, %s) RETURNING id",
        (*astuple(identity), state),
    )
    row = await cursor.fetchone()
    assert row is not None
    model_id = int(row[0])
    await create_vector_table(connection, model_id, identity.dimensions)
    return model_id


async def create_vector_table(connection: AsyncConnection, model_id: int, dimensions: int) -> None:
    """Create the model's own table, without a row."""
    table = vector_table(model_id)
    await connection.execute(
        sql.SQL(
            "CREATE TABLE {} (chunk_id bigint PRIMARY KEY, document_id integer NOT NULL, embedding vector({}) NOT NULL)"
        ).format(table, sql.Literal(dimensions))
    )
    await connection.execute(
        sql.SQL("CREATE INDEX {} ON {} (document_id)").format(sql.Identifier(f"vectors_{model_id}_document_id"), table)
    )


async def show_in_contract(connection: AsyncConnection, model_id: int) -> None:
    """Point the contract view at the model that is live now."""
    await connection.execute("DROP VIEW IF EXISTS contract.v_embedding")
    await connection.execute(
        sql.SQL(
            "CREATE VIEW contract.v_embedding AS"
            " SELECT e.chunk_id, m.name AS model, m.dimensions AS dim, e.embedding AS vec"
            " FROM {} e CROSS JOIN embedding_models m WHERE m.id = {}"
        ).format(vector_table(model_id), sql.Literal(model_id))
    )


def graph_key(dimensions: int) -> sql.Composed:
    """What the graph is built over, and what a query must be ordered by to use it: the vector at half precision.

    The graph is 40 % smaller for it and read in 40 % less time; whoever searches puts its finds in order by the whole
    vectors.
    """
    return sql.SQL("(embedding::halfvec({}))").format(sql.Literal(dimensions))


async def ensure_vector_index(database: Database, model_id: int) -> bool:
    """Build the HNSW index once the table has outgrown exact search. True when there is one afterwards; models of more
    than 4,000 dimensions never get one.

    Loading first and indexing then is several times cheaper than inserting into a live graph. Writers go on meanwhile;
    a second builder waits for the first. An index that a killed builder left behind is dropped and built again.
    """
    name = sql.Identifier(f"vectors_{int(model_id)}_hnsw")
    async with database.claims.hold(f"vector index {model_id}"):
        async with database.connection() as connection:
            cursor = await connection.execute(
                "SELECT m.dimensions, i.indisvalid,"
                " pg_size_bytes(current_setting('maintenance_work_mem')) / 1048576 FROM embedding_models m"
                " LEFT JOIN pg_index i ON i.indexrelid = to_regclass(%s) WHERE m.id = %s",
                (f"vectors_{int(model_id)}_hnsw", model_id),
            )
            row = await cursor.fetchone()
            if row is None or row[1]:
                return row is not None
            dimensions, valid, own_memory = int(row[0]), row[1], int(row[2])
            cursor = await connection.execute(
                sql.SQL("SELECT count(*) FROM {}").format(vector_table(model_id)), prepare=False
            )
            count = await cursor.fetchone()
        rows = int(count[0]) if count else 0
        needs_index = rows > HNSW_MIN_ROWS and dimensions <= MAX_DIMENSIONS
        if valid is None and not needs_index:
            return False
        # a graph that does not fit while it is built is finished row by row, ten times slower
        node = dimensions * _BYTES_PER_DIMENSION + _LINKS * 32
        most = max(own_memory, _BUILD_MEMORY_MB[1])
        memory = min(max(rows * node * 2 // 2**20, _BUILD_MEMORY_MB[0]), most)
        settings = {
            "maintenance_work_mem": f"{memory}MB",
            "lock_timeout": "0",  # CONCURRENTLY waits for every older transaction, and nobody waits for it
        }
        async with database.long_job() as connection:
            for setting, value in settings.items():  # of the session: CONCURRENTLY is refused inside a transaction
                await connection.execute("SELECT set_config(%s, %s, false)", (setting, value))
            if valid is not None:
                await connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(name))
            if needs_index:
                await connection.execute(
                    sql.SQL(
                        "CREATE INDEX CONCURRENTLY {} ON {} USING hnsw ({} halfvec_cosine_ops)"
                        " WITH (m = {}, ef_construction = {})"
                    ).format(
                        name,
                        vector_table(model_id),
                        graph_key(dimensions),
                        sql.Literal(_LINKS),
                        sql.Literal(_BUILD_CANDIDATES),
                    )
                )
    return needs_index


async def missing_vectors(connection: AsyncConnection, model_id: int, digests: Collection[str]) -> set[str]:
    """Return the digests of texts that have no vector of this model, neither in its table nor in the cache, and that
    the model does not refuse."""
    cursor = await connection.execute(
        sql.SQL(
            "SELECT d.digest FROM unnest(%(digests)s::text[]) AS d (digest) WHERE NOT EXISTS"
            " (SELECT FROM embedding_cache k WHERE k.model_id = %(model)s AND k.text_sha256 = d.digest) AND NOT EXISTS"
            " (SELECT FROM texts_without_vector t"
            "  WHERE t.model_id = %(model)s AND t.text_sha256 = d.digest AND t.refused)"
            " AND NOT EXISTS (SELECT FROM chunks c JOIN {} e ON e.chunk_id = c.id WHERE c.embed_sha256 = d.digest)"
        ).format(vector_table(model_id)),
        {"digests": list(set(digests)), "model": model_id},
    )
    return {row[0] for row in await cursor.fetchall()}


async def copy_vectors(
    connection: AsyncConnection, model_id: int, chunks: sql.Composable, values: Mapping[str, object]
) -> int:
    """Give vectors to the children that `chunks` selects, as (id, document_id, embed_sha256); return how many got one.

    A vector comes from another chunk with the same text, else from the cache, which then forgets it: the table serves
    that text from now on. Call inside a transaction.
    """
    cursor = await connection.execute(
        sql.SQL(
            "INSERT INTO {table} (chunk_id, document_id, embedding)"
            " SELECT u.id, u.document_id, coalesce(s.embedding, k.embedding)"
            # looked up once for a text, which a page may repeat a thousand times; a join of the repetitions would have
            # to guess their number
            " FROM (SELECT embed_sha256, array_agg(id) AS ids, array_agg(document_id) AS documents FROM ({chunks}) n"
            "  GROUP BY embed_sha256) d"
            " LEFT JOIN LATERAL (SELECT e.embedding FROM chunks c JOIN {table} e ON e.chunk_id = c.id"
            "  WHERE c.embed_sha256 = d.embed_sha256 LIMIT 1) s ON true"
            " LEFT JOIN embedding_cache k ON k.model_id = %(model)s AND k.text_sha256 = d.embed_sha256"
            " CROSS JOIN LATERAL unnest(d.ids, d.documents) AS u (id, document_id)"
            " WHERE coalesce(s.embedding, k.embedding) IS NOT NULL ON CONFLICT DO NOTHING"
        ).format(table=vector_table(model_id), chunks=chunks),
        {**values, "model": model_id},
    )
    await connection.execute(
        sql.SQL(
            "DELETE FROM embedding_cache WHERE (model_id, text_sha256) IN (SELECT k.model_id, k.text_sha256"
            " FROM embedding_cache k WHERE k.model_id = %(model)s AND k.text_sha256 IN"
            "  (SELECT n.embed_sha256 FROM ({chunks}) n) FOR UPDATE SKIP LOCKED)"  # another writer deletes those
        ).format(chunks=chunks),
        {**values, "model": model_id},
    )
    return cursor.rowcount


async def copy_in(connection: AsyncConnection, model_id: int, rows: Iterable[tuple[int, int, Vector]]) -> None:
    """Add vectors of children that have none: (id, document_id, vector)."""
    command = sql.SQL("COPY {} (chunk_id, document_id, embedding) FROM STDIN WITH (FORMAT BINARY)")
    async with connection.cursor() as cursor, cursor.copy(command.format(vector_table(model_id))) as copy:
        copy.set_types(["int8", "int4", "vector"])
        for row in rows:
            await copy.write_row(row)


async def leave_cache(connection: AsyncConnection, model_id: int, digests: Collection[str]) -> None:
    """Remove texts from the cache which the table serves from now on. Call inside a transaction."""
    await connection.execute(
        "DELETE FROM embedding_cache WHERE (model_id, text_sha256) IN (SELECT k.model_id, k.text_sha256"
        " FROM embedding_cache k WHERE k.model_id = %s AND k.text_sha256 = ANY(%s)"
        " FOR UPDATE SKIP LOCKED)",  # another writer deletes those
        (model_id, list(digests)),
    )


async def fill_cache(connection: AsyncConnection, model_id: int, vectors: Mapping[str, Vector]) -> None:
    """Store vectors by the digest of their text; rows that exist stay."""
    async with connection.transaction(), connection.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO embedding_cache (model_id, text_sha256, embedding) VALUES (%s, %s, %b) ON CONFLICT DO NOTHING",
            [(model_id, digest, vector) for digest, vector in sorted(vectors.items())],
        )
        await unmark(connection, model_id, vectors.keys())


async def record_tokens(connection: AsyncConnection, model_id: int, tokens: int) -> None:
    """Add what the model's endpoint charged."""
    if tokens:
        await connection.execute("UPDATE embedding_models SET tokens = tokens + %s WHERE id = %s", (tokens, model_id))


async def cache_version(connection: AsyncConnection, model_id: int, version_id: int) -> None:
    """Put the vectors of a version's chunks into the cache, before those chunks are replaced."""
    await connection.execute(
        sql.SQL(
            "INSERT INTO embedding_cache (model_id, text_sha256, embedding)"
            " SELECT DISTINCT ON (c.embed_sha256) %s::integer, c.embed_sha256, e.embedding"
            " FROM chunks c JOIN {} e ON e.chunk_id = c.id WHERE c.version_id = %s"
            " ORDER BY c.embed_sha256 ON CONFLICT DO NOTHING"
        ).format(vector_table(model_id)),
        (model_id, version_id),
    )


async def cache_superseded(
    connection: AsyncConnection, model_id: int, document_id: int, version_id: int | None
) -> None:
    """Put vectors into the cache that only versions of the document other than this one (None = all) hold.

    Call before they are deleted.
    """
    await connection.execute(
        sql.SQL(
            "INSERT INTO embedding_cache (model_id, text_sha256, embedding)"
            " SELECT DISTINCT ON (c.embed_sha256) %(model)s::integer, c.embed_sha256, e.embedding"
            " FROM chunks c JOIN {} e ON e.chunk_id = c.id"
            " WHERE c.document_id = %(document)s AND c.version_id IS DISTINCT FROM %(version)s AND NOT EXISTS"
            " (SELECT FROM chunks o WHERE o.embed_sha256 = c.embed_sha256"
            "  AND (o.document_id <> c.document_id OR o.version_id = %(version)s))"
            " ORDER BY c.embed_sha256 ON CONFLICT DO NOTHING"
        ).format(vector_table(model_id)),
        {"model": model_id, "document": document_id, "version": version_id},
    )
