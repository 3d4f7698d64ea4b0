"""Write pages of which the index has nothing yet: several in one transaction, with one COPY for each table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pgvector import Vector
from psycopg import AsyncConnection

from webrag_core.corpus import documents
from webrag_core.corpus.documents import StoredVersion
from webrag_core.indexing import chunks as chunk_table
from webrag_core.indexing import embedding_models as models
from webrag_core.indexing.graph.edges import EdgeChange, PageInputs, are_present, ask_begins, ask_present
from webrag_core.indexing.lexical import copy_postings, write_sizes
from webrag_core.indexing.page_writer import PageIds
from webrag_core.indexing.prepared import PreparedPage
from webrag_core.indexing.state import ask_states, read_states


@dataclass(frozen=True, slots=True)
class NewPage:
    """A version of a document of which the index has nothing, and the vectors of its texts by digest."""

    version: StoredVersion
    inputs: PageInputs
    page: PreparedPage
    vectors: Mapping[str, Vector]


async def write_new(
    connection: AsyncConnection, pages: Sequence[NewPage], ids: PageIds, model_id: int, key: str
) -> list[NewPage]:
    """Make pages current, chunked by the chunker of this key; return those that were written. Within a transaction.

    The others have something in the index by now. Nothing is written when a node was removed meanwhile. Raises
    StoreError when the model is live no longer.
    """
    versions = [new.version for new in pages]
    async with connection.pipeline():
        live = await models.ask_live(connection, model_id)
        await documents.lock_urls(connection, *(version.canonical_url for version in versions))
        reading = await ask_states(connection, [version.id for version in versions], key, model_id)
        present = await ask_present(connection, ids.nodes)
        begins = await ask_begins(connection, versions)
        new_ids = await chunk_table.ask_ids(connection, sum(chunk_table.rows_of(new.page.parents) for new in pages))
    await models.read_live(live)
    states = await read_states(reading)
    if not await are_present(present, ids.nodes):
        return []
    chunk_ids = iter([int(row[0]) for row in await new_ids.fetchall()])
    chunks: list[tuple[object, ...]] = []
    vectors: list[tuple[int, int, Vector]] = []
    counts, changes, written = {}, [], []
    for new, (begin,) in zip(pages, await begins.fetchall(), strict=True):
        version, page = new.version, new.page
        state = states.get(version.id)
        if state is None or state.settled or not state.is_empty:
            continue
        mine = [next(chunk_ids) for _ in range(chunk_table.rows_of(page.parents))]
        parents, children = mine[: len(page.parents)], mine[len(page.parents) :]
        chunks += chunk_table.chunk_rows(version, page.parents, page.columns, mine)
        vectors += [
            (child, version.document_id, new.vectors[digest])
            for child, digest in zip(children, page.digests, strict=True)
        ]
        counts[version.document_id] = dict(zip(parents, page.counts, strict=True))
        change = EdgeChange(version, new.inputs, page.extraction, ids.nodes)
        change.begin_at(begin)
        changes.append(change)
        written.append(new)
    if not written:
        return []
    await chunk_table.copy_chunks(connection, chunks)
    await models.copy_in(connection, model_id, vectors)
    await EdgeChange.copy(changes, connection)
    await copy_postings(connection, counts, ids.terms)
    current = {new.version.document_id: new.version.id for new in written}
    async with connection.pipeline():
        await models.leave_cache(connection, model_id, {digest for new in written for digest in new.vectors})
        await EdgeChange.note(changes, connection)
        await chunk_table.mark_chunked(connection, {new.version.id: new.page.parents for new in written}, key)
        await documents.make_current(connection, current)
        await write_sizes(connection, {document: parents.values() for document, parents in counts.items()})
        await documents.log_changes(connection, current, "version")
    return written
