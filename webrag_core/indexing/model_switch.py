"""Build an embedding model beside the live one; switch, or switch back, in one transaction.

Each search uses one model. Until the switch, readers and writers use the live model; the switch checks that pages
changed meanwhile have vectors.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import astuple, dataclass, field

from pgvector import Vector
from psycopg import AsyncConnection, sql

from webrag_core.errors import EmbeddingError, InvalidInputError, StoreError
from webrag_core.indexing import embedding_models as models
from webrag_core.indexing.chunks import embedding_text
from webrag_core.indexing.unembedded import mark
from webrag_core.providers.embedder import Embedder, ModelIdentity, RefusedTextsError, embedding_tokens, take_tokens
from webrag_core.store.database import Database
from webrag_core.store.vector_tables import vector_table


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """A model with its vector counts over current children."""

    id: int
    identity: ModelIdentity
    state: str
    vectors: int
    missing: int
    tokens: int
    """Charged by its endpoint for this corpus, as it counts them."""


@dataclass(frozen=True, slots=True)
class BuildReport:
    """`embedded` counts texts sent to the model, `tokens` what its endpoint charged for them, `vectors` its rows."""

    model_id: int
    embedded: int
    vectors: int
    tokens: int


async def list_models(database: Database) -> list[ModelStatus]:
    """List registered models, oldest first."""
    async with database.snapshot() as connection:
        cursor = await connection.execute(
            "SELECT id, provider, name, dimensions, normalisation, inputs, state, tokens FROM embedding_models"
            " ORDER BY id"
        )
        statuses = []
        for model_id, *identity, state, tokens in await cursor.fetchall():
            counts = await connection.execute(
                sql.SQL("SELECT count(*) FROM {}").format(vector_table(model_id)), prepare=False
            )
            row = await counts.fetchone()
            missing = await _count_missing(connection, model_id)
            vectors = int(row[0]) if row else 0
            statuses.append(ModelStatus(model_id, ModelIdentity(*identity), state, vectors, missing, tokens))
        return statuses


async def build_model(
    database: Database,
    embedder: Embedder,
    *,
    batch_size: int,
    workers: int = 1,
    advance: Callable[[int], None] | None = None,
) -> BuildReport:
    """Store a vector of `embedder`'s model for every current child, then build the vector index.

    Sends up to `workers` batches at a time and stores each by itself, so that a stopped build continues where it was.
    `advance(n)` is called after every n texts. Raises InvalidInputError when this model is live already or no page is
    indexed yet, EmbeddingError.
    """
    async with database.connection() as connection:
        model_id = await models.building_model(connection, embedder.identity)
    before = embedding_tokens(embedder)
    embedded = await fill_missing(database, embedder, model_id, batch_size=batch_size, workers=workers, advance=advance)
    await models.ensure_vector_index(database, model_id)
    async with database.connection() as connection:
        cursor = await connection.execute(
            sql.SQL("SELECT count(*) FROM {}").format(vector_table(model_id)), prepare=False
        )
        row = await cursor.fetchone()
    tokens = embedding_tokens(embedder) - before
    return BuildReport(model_id, embedded, int(row[0]) if row else 0, tokens)


async def fill_missing(
    database: Database,
    embedder: Embedder,
    model_id: int,
    *,
    batch_size: int,
    workers: int = 1,
    advance: Callable[[int], None] | None = None,
) -> int:
    """Store a vector of the model for every current child that has none; return how many texts were sent. Texts that
    the model refuses are noted. Parameters as `build_model`. Raises EmbeddingError, StoreError."""
    build = _Build(database, embedder, model_id, batch_size, advance)
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(build.work())
    except* (EmbeddingError, StoreError) as errors:
        build.error = next(iter(errors.exceptions))
    if build.error is not None:
        raise build.error
    return build.embedded


@dataclass(slots=True)
class _Build:
    """Batches of one build, in a single pass by chunk id."""

    database: Database
    embedder: Embedder
    model_id: int
    batch_size: int
    advance: Callable[[int], None] | None
    embedded: int = 0
    error: BaseException | None = None
    _last: int = 0
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def work(self) -> None:
        """Embed and store all batches."""
        while True:
            ids, texts = await self._next()
            if not ids:
                return
            digests = sorted(texts)
            refused: dict[str, str] = {}
            try:
                vectors = await self.embedder.embed([texts[digest] for digest in digests])
            except RefusedTextsError as error:
                vectors = error.vectors
                refused = {digests[place]: reason for place, reason in error.refused.items()}
            async with self.database.transaction() as connection:
                rows = {digest: Vector(vector) for digest, vector in zip(digests, vectors, strict=True)}
                good = {digest: row for digest, row in rows.items() if digest not in refused}
                await models.fill_cache(connection, self.model_id, good)
                await mark(connection, self.model_id, refused, refused=True)
                await models.copy_vectors(connection, self.model_id, _CHILDREN_OF, {"ids": ids})
                await models.record_tokens(connection, self.model_id, take_tokens(self.embedder))
            self.embedded += len(digests)
            if self.advance is not None:
                self.advance(len(ids))

    async def _next(self) -> tuple[list[int], dict[str, str]]:
        """Return ids of the next children without a vector, and texts to embed by digest."""
        async with self._turn, self.database.connection() as connection:
            query = _NEXT_TEXTS.format(vector_table(self.model_id), sql.Literal(self.model_id))
            cursor = await connection.execute(query, (self._last, self.batch_size), prepare=False)
            rows = await cursor.fetchall()
            self._last = rows[-1][0] if rows else self._last
            texts = {digest: embedding_text(title, path, body) for _, digest, title, path, body in rows}
            missing = await models.missing_vectors(connection, self.model_id, texts)
            return [row[0] for row in rows], {digest: texts[digest] for digest in missing}


async def switch_model(database: Database, identity: ModelIdentity) -> int:
    """Make a complete model live and retire the previous one, in one transaction. Return its id.

    Writers wait for the switch, then fail with a retired model. Raises InvalidInputError for a model that was
    never built, StoreError(model_incomplete) when children lack a vector: build it again, then switch.
    """
    async with database.long_job() as connection, connection.transaction():
        await models.lock_models(connection)
        cursor = await connection.execute(
            "SELECT id, state FROM embedding_models WHERE (provider, name, dimensions, normalisation, inputs)"
            " = (%s, %s, %s, %s, %s)",
            astuple(identity),
        )
        row = await cursor.fetchone()
        if row is None:
            raise InvalidInputError(f"the model {identity.name} was never built; `webrag model build` builds it")
        model_id = int(row[0])
        if row[1] == "live":
            return model_id
        missing = await _count_missing(connection, model_id)
        if missing:
            raise StoreError(
                f"the model {identity.name} lacks {missing} vectors: `webrag model build` adds them",
                code="model_incomplete",
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
    database: Database,
    embedder: Embedder,
    *,
    batch_size: int,
    workers: int = 1,
    advance: Callable[[int], None] | None = None,
) -> BuildReport | None:
    """Build and switch to the model of `embedder`; return None if it is live already.

    One worker among all processes does it; the others wait. Pages changed meanwhile are embedded too.
    Raises EmbeddingError, StoreError(model_incomplete) when writers were faster every time.
    """
    async with database.claims.hold("adopt an embedding model"):
        async with database.connection() as connection:
            live = await models.live_identity(connection)
        if live is None or live == embedder.identity:
            return None
        embedded = tokens = 0
        for last in (False, False, True):
            report = await build_model(database, embedder, batch_size=batch_size, workers=workers, advance=advance)
            embedded += report.embedded
            tokens += report.tokens
            try:
                await switch_model(database, embedder.identity)
                break
            except StoreError as error:
                if last or error.code != "model_incomplete":
                    raise
        return BuildReport(report.model_id, embedded, report.vectors, tokens)


_MISSING = (
    " FROM chunks c JOIN documents d ON d.current_version = c.version_id"
    " JOIN document_versions v ON v.id = c.version_id JOIN chunks p ON p.id = c.parent_id"
    " WHERE c.level = 'child' AND NOT EXISTS (SELECT FROM {} e WHERE e.chunk_id = c.id) AND NOT EXISTS"
    " (SELECT FROM texts_without_vector t WHERE t.model_id = {} AND t.text_sha256 = c.embed_sha256 AND t.refused)"
)
_COUNT_MISSING = sql.SQL("SELECT count(*)" + _MISSING)
_NEXT_TEXTS = sql.SQL(
    "SELECT c.id, c.embed_sha256, v.title, c.heading_path,"
    " substr(p.body, c.char_start - p.char_start + 1, c.char_end - c.char_start)"
    + _MISSING
    + " AND c.id > %s ORDER BY c.id LIMIT %s"
)
_CHILDREN_OF = sql.SQL(
    "SELECT c.id, c.document_id, c.embed_sha256 FROM chunks c"
    " JOIN documents d ON d.current_version = c.version_id WHERE c.id = ANY(%(ids)s)"
)


async def _count_missing(connection: AsyncConnection, model_id: int) -> int:
    cursor = await connection.execute(
        _COUNT_MISSING.format(vector_table(model_id), sql.Literal(model_id)), prepare=False
    )
    row = await cursor.fetchone()
    return int(row[0]) if row else 0
