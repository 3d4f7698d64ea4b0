"""Index stored versions: chunk, embed, then make current.

Each stage commits by itself and is idempotent; only the last one is visible to readers, in one transaction.
A kill at any instant leaves the previous version whole.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal

from pgvector import Vector
from psycopg import AsyncConnection, Rollback, sql

from webrag_core.config.indexing import IndexingSettings
from webrag_core.corpus import documents
from webrag_core.corpus.documents import StoredVersion
from webrag_core.corpus.page_batches import gather_bounded
from webrag_core.corpus.works import update_works
from webrag_core.errors import EmbeddingError, FetchError, IntegrityError, Reason
from webrag_core.indexing import chunks as chunk_table
from webrag_core.indexing import embedding_models as models
from webrag_core.indexing.chunker import Chunk, chunk_markdown
from webrag_core.indexing.chunks import chunker_key
from webrag_core.indexing.embedding_queue import EmbeddingQueue
from webrag_core.indexing.graph.edges import (
    UP_TO_DATE,
    EdgeChange,
    NodeLookup,
    PageInputs,
    ask_inputs,
    ask_missing_edges,
    count_degrees,
    page_inputs,
    read_inputs,
    rebuild_edges,
)
from webrag_core.indexing.lexical import (
    TermIds,
    count_frequent_terms,
    note_rules,
)
from webrag_core.indexing.markdown import Block, parse_blocks
from webrag_core.indexing.model_switch import fill_missing
from webrag_core.indexing.new_pages import NewPage, write_new
from webrag_core.indexing.page_writer import PageIds, PageWriter
from webrag_core.indexing.prepared import PreparedPage, prepare
from webrag_core.indexing.retirement import ask_moved, retire_absent, retire_gone
from webrag_core.indexing.state import ask_states, read_state, read_states
from webrag_core.indexing.unembedded import WITHOUT_VECTOR, any_waits, unembedded
from webrag_core.language.detection import UNCLEAR, detected_page
from webrag_core.language.words import rules_of
from webrag_core.providers.embedder import Embedder, WordLlamaEmbedder
from webrag_core.store.database import Database
from webrag_core.store.vacuum import vacuum_grown
from webrag_core.store.vector_tables import vector_table
from webrag_core.text_work import beside_loop

logger = logging.getLogger(__name__)

_LOADED = (
    *("chunks", "documents", "document_versions", "document_sizes", "lexical_documents", "lexical_postings"),
    *("lexical_terms", "link_candidates", "graph_edges", "graph_nodes"),
)
"""Tables that bulk loads fill, beside those of the vectors."""
_PAGES_AHEAD = 24  # more of small pages than fill one request, and memory for as many large ones
NEW_TOGETHER = 8
"""New pages that one transaction writes: more save little and wait longer."""
_MOST_CHARACTERS = 200_000  # of pages that are written together
_Readable = tuple[StoredVersion, PageInputs]
_ATTEMPTS = 5  # to store vectors that another writer deletes meanwhile


@dataclass(frozen=True, slots=True)
class IndexOutcome:
    """Result of indexing one version. `embedded` counts texts sent to the model; `waiting` and `refused` those of its
    texts that were written without a vector, `reason` says why."""

    document_id: int
    version_id: int
    embedded: int
    became_current: bool
    waiting: int = 0
    refused: int = 0
    reason: str = ""


class Indexer:
    """Chunk, embed and activate versions. Safe to call concurrently, also for one document. `model` is the live model
    as others have looked it up, who go on with it when it is retired."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        settings: IndexingSettings,
        model: models.LiveModel | None = None,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._settings = settings
        self._model = model or models.LiveModel(database, embedder.identity)
        self._term_ids = TermIds()
        self._noted_rules: set[str] = set()
        self._key = chunker_key(settings.parent_max_tokens, settings.child_target_tokens)
        self._queue = EmbeddingQueue(database, embedder, settings.embedding_batch_size)

    @property
    def embedder(self) -> Embedder:
        """The embedding model for queries."""
        return self._embedder

    async def model_id(self) -> int:
        """Id of the live embedding model. Raises StoreError when the corpus was indexed with another one."""
        return await self._model.id()

    @property
    def pages_at_once(self) -> int:
        """Pages in progress for which the requests to the model are full, or the transactions that write new pages."""
        return 2 * NEW_TOGETHER if type(self._embedder) is WordLlamaEmbedder else _PAGES_AHEAD

    def in_progress(self) -> AbstractContextManager[None]:
        """Count a page as in progress, whose texts may share a request with those of others (`patient`)."""
        return self._queue.page()

    async def index(self, version_id: int, *, patient: bool = False) -> IndexOutcome:
        """Run all pending stages for one version.

        `activate` writes missing chunks in its own transaction.
        """
        return await self.activate(version_id, patient=patient)

    async def activate_all(self, version_ids: Sequence[int]) -> dict[int, IndexOutcome]:
        """`activate` each of the versions, several at a time. Versions that were removed meanwhile are left out."""
        outcomes: dict[int, IndexOutcome] = {}

        async def work(version_id: int) -> IndexOutcome:
            with self.in_progress():
                return await self.activate(version_id, patient=True)

        def done(version_id: int, outcome: IndexOutcome | FetchError) -> None:
            if isinstance(outcome, IndexOutcome):
                outcomes[version_id] = outcome

        await gather_bounded(version_ids, work, done, pages=self.pages_at_once)
        return outcomes

    async def pending(self, version_ids: Sequence[int], stage: Literal["chunk", "activate"]) -> list[int]:
        """Return the versions with pending work in `stage`, in order, by one query."""
        model = None  # chunks are made for any
        if stage == "chunk":
            condition = sql.SQL(
                "v.chunker IS DISTINCT FROM %(chunker)s AND d.current_version IS DISTINCT FROM v.id"
            ).format()
        else:  # as `_is_settled`, except for outdated versions, which `activate` detects
            model = await self.model_id()
            condition = sql.SQL(
                "(d.current_version = v.id AND d.status = 'ready' AND v.chunker = %(chunker)s AND v.child_count ="
                " (SELECT count(*) FROM {vectors} e WHERE e.document_id = d.id) + {without} AND NOT EXISTS (SELECT FROM"
                "  url_aliases a JOIN documents o ON o.canonical_url = a.url WHERE a.document_id = d.id"
                "  AND o.id <> d.id AND o.status <> 'gone') AND {edges}) IS NOT TRUE"
            ).format(
                vectors=vector_table(model),
                without=sql.SQL(WITHOUT_VECTOR),
                edges=sql.SQL(UP_TO_DATE),
            )
        query = sql.SQL(
            "SELECT v.id FROM unnest(%(versions)s::integer[]) WITH ORDINALITY AS w (id, place)"
            " JOIN document_versions v ON v.id = w.id JOIN documents d ON d.id = v.document_id"
            " WHERE d.status <> 'gone' AND {} ORDER BY w.place"
        )
        async with self._database.connection() as connection:
            cursor = await connection.execute(
                query.format(condition),
                {"versions": list(version_ids), "chunker": self._key, "model": model},
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

    async def activate(self, version_id: int, *, patient: bool = False) -> IndexOutcome:
        """Embed missing texts, then make the version current together with its vectors and postings. Texts whose
        vectors cannot be had are found by words.

        A version older than the current one, of a gone document, or of a URL that became an alias does not become
        current: a slow writer must not restore removed content. `patient` pages wait for the texts of others.
        """
        model_id = await self.model_id()
        async with self._database.claims.hold(_claim(version_id)):  # later callers see the result
            return await self._activate(version_id, model_id, patient)

    async def settled(self, versions: Sequence[int]) -> dict[int, IndexOutcome]:
        """The outcome of `activate` for those of the versions that need nothing, as most pages that are asked again:
        their texts are not read, and nobody waits."""
        model_id = await self.model_id()
        async with self._database.connection() as connection:
            async with connection.pipeline():
                reading = await ask_states(connection, versions, self._key, model_id)
                missing_edges = await ask_missing_edges(connection, versions)
            states = await read_states(reading)
            without = {int(row[0]) for row in await missing_edges.fetchall()}
        return {
            version: IndexOutcome(state.document_id, version, 0, False)
            for version, state in states.items()
            if state.settled and state.has_language and state.document_id is not None and version not in without
        }

    async def index_new(self, versions: Sequence[int]) -> list[IndexOutcome | None]:
        """Index those of the versions of whose documents the index has nothing, in one transaction, or in several where
        they are large: an outcome for each, None for those that `index` has to look at. Raises as `index`; then the
        pages of that transaction are not written."""
        model_id = await self.model_id()
        names = {_claim(version): version for version in versions}
        async with self._database.claims.hold_free(list(names)) as held:
            mine = [version for name, version in names.items() if name in held]
            written: dict[int, IndexOutcome] = {}
            for pages in _of_bounded_size(await self._read_new(mine, model_id)):
                written |= await self._write_new(pages, model_id)
        return [written.get(version) for version in versions]

    async def _read_new(self, versions: Sequence[int], model_id: int) -> list[_Readable]:
        """What pages of which the index has nothing are made of."""
        if not versions or type(self._embedder) is not WordLlamaEmbedder:
            return []
        async with self._database.connection() as connection, connection.pipeline():
            reading = await ask_states(connection, versions, self._key, model_id)
            inputs = await ask_inputs(connection, versions)
            loaded = await documents.load_versions(connection, versions)
            states, of = await read_states(reading), await read_inputs(inputs)
        new = {version for version, state in states.items() if state.is_empty and not state.settled} & of.keys()
        return [(page, of[page.id]) for page in loaded if page.id in new and page.detected_language is not None]

    async def _write_new(self, pages: Sequence[_Readable], model_id: int) -> dict[int, IndexOutcome]:
        """Write pages of which the index has nothing; outcomes by version of those that could be written."""
        prepared = await asyncio.to_thread(lambda: [self._prepare(*page) for page in pages])
        ids = await self._resolve(prepared, {rules_of(version.language) for version, _ in pages})
        vectors = await asyncio.to_thread(self._own_vectors, prepared)
        new = [
            NewPage(version, inputs, page, of_page)
            for (version, inputs), page, of_page in zip(pages, prepared, vectors, strict=True)
        ]
        async with self._database.transaction() as connection:
            written = await write_new(connection, new, ids, model_id, self._key)
        return {
            each.version.id: IndexOutcome(each.version.document_id, each.version.id, len(each.vectors), True)
            for each in written
        }

    async def _activate(self, version_id: int, model_id: int, patient: bool) -> IndexOutcome:
        async with self._database.connection() as connection:
            async with connection.pipeline():
                reading = await ask_states(connection, [version_id], self._key, model_id)
                missing_edges = await ask_missing_edges(connection, [version_id])
                version = await self._load(connection, version_id)
            state = await read_state(reading)
            if state.settled and await missing_edges.fetchone() is None:
                return IndexOutcome(version.document_id, version_id, 0, False)
            inputs = None if state.settled else await page_inputs(connection, version)
        if inputs is None:
            await rebuild_edges(self._database, version)
            return IndexOutcome(version.document_id, version_id, 0, False)
        if state.is_empty and type(self._embedder) is WordLlamaEmbedder:
            written = await self._write_new([(version, inputs)], model_id)
            if version_id in written:
                return written[version_id]
        page = await asyncio.to_thread(self._prepare, version, inputs)
        embedded = 0
        for _ in range(_ATTEMPTS):
            ids = await self._resolve([page], {rules_of(version.language)})
            embedded += await self._queue.embed(model_id, page.texts, patient=patient)
            async with self._database.transaction() as connection:
                change = EdgeChange(version, inputs, page.extraction, ids.nodes)
                writer = PageWriter(version, page, ids, change, model_id, self._key)
                async with connection.pipeline():
                    live = await models.ask_live(connection, model_id)
                    moved = await ask_moved(connection, version.document_id)
                    urls = [str(row[1]) for row in await moved.fetchall()]
                    await documents.lock_urls(connection, version.canonical_url, *urls)
                    reading = await ask_states(connection, [version_id], self._key, model_id)
                    await change.ask(connection)
                await models.read_live(live)
                now = await read_state(reading)
                if now.settled:  # another writer was faster
                    return IndexOutcome(version.document_id, version_id, embedded, False)
                if not await change.read():
                    raise Rollback
                changed = await writer.replace(connection)
                if changed is None:
                    raise Rollback
                without = await unembedded(connection, model_id, page.texts.keys())
                return IndexOutcome(
                    version.document_id,
                    version_id,
                    embedded,
                    changed,
                    len(without.waiting),
                    len(without.refused),
                    "; ".join(without.reasons),
                )
        raise IntegrityError(f"vectors or nodes of {version.canonical_url} disappeared {_ATTEMPTS} times")

    async def _resolve(self, pages: Sequence[PreparedPage], rules: set[str]) -> PageIds:
        """Ids of terms (made by these rules) and nodes, new ones among them."""
        terms = self._term_ids.of(term for page in pages for count in page.counts for term in count)
        nodes = NodeLookup(*(page.extraction for page in pages))
        async with self._database.connection() as connection:
            for _ in range(2):
                async with connection.pipeline():  # one way to the server and back
                    for new in sorted(rules - self._noted_rules):
                        await note_rules(connection, new)
                    await terms.ask(connection)
                    await nodes.ask(connection)
                self._noted_rules |= rules
                await terms.read()
                await nodes.read(connection)
                if not terms.unknown and not nodes.unknown:
                    break
        return PageIds(terms.ids, nodes.ids)

    def _own_vectors(self, pages: Sequence[PreparedPage]) -> list[dict[str, Vector]]:
        """Vectors of each page by digest, of a model in this process: to make them costs less than to ask for them."""
        embedder = self._embedder
        assert isinstance(embedder, WordLlamaEmbedder)
        return [
            dict(zip(page.tokens, map(Vector, embedder.vectors(list(page.tokens.values()))), strict=True))
            for page in pages
        ]

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
        """Do what is due after bulk writes: embed the texts that waited for the model; build the vector index, if the
        corpus has outgrown exact search; count incoming edges and frequent terms; find pages that are versions of each
        other; vacuum. True with a vector index."""
        model_id = await self.model_id()
        await self._embed_waiting(model_id)
        await count_degrees(self._database)
        await update_works(self._database)
        await count_frequent_terms(self._database)
        indexed = await models.ensure_vector_index(self._database, model_id)
        await vacuum_grown(self._database, _LOADED)
        return indexed

    async def _embed_waiting(self, model_id: int) -> None:
        """Embed the texts that waited for the model, unless it is still down: then they wait on."""
        async with self._database.connection() as connection:
            if not await any_waits(connection, model_id):
                return
        try:
            await fill_missing(self._database, self._embedder, model_id, batch_size=self._settings.embedding_batch_size)
        except EmbeddingError as error:
            logger.warning("texts wait for their vectors, and are searched by words only: %s", error.message)

    async def _version(self, version_id: int) -> StoredVersion:
        async with self._database.connection() as connection:
            return await self._load(connection, version_id)

    async def _load(self, connection: AsyncConnection, version_id: int) -> StoredVersion:
        version = await documents.load_version(connection, version_id)
        if version is not None and version.detected_language is None:  # of an earlier version of the software
            language = await beside_loop(detected_page, version.markdown) or UNCLEAR
            await connection.execute(  # locked in the order in which versions become current
                "WITH page AS (SELECT id FROM documents WHERE id = %s FOR NO KEY UPDATE)"
                " UPDATE document_versions SET detected_language = %s WHERE id = %s"
                " AND document_id = (SELECT id FROM page)",
                (version.document_id, language, version_id),
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

    def _prepare(self, version: StoredVersion, inputs: PageInputs) -> PreparedPage:
        blocks = parse_blocks(version.markdown)
        parents, texts = self._chunks(version, blocks)
        return prepare(version, inputs, blocks, parents, texts)


def _of_bounded_size(pages: Sequence[_Readable]) -> Iterator[list[_Readable]]:
    """The pages in lists of `_MOST_CHARACTERS`, or of one page: what is made of a text takes many times its memory."""
    together: list[_Readable] = []
    for page in pages:
        if together and sum(len(version.markdown) for version, _ in (*together, page)) > _MOST_CHARACTERS:
            yield together
            together = []
        together.append(page)
    if together:
        yield together


def _claim(version_id: int) -> str:
    return f"index version {version_id}"
