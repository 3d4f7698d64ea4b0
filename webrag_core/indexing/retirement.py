"""Remove moved and confirmed-gone documents from the index. Their versions stay."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from psycopg import AsyncConnection, AsyncCursor, sql

from webrag_core.corpus import documents
from webrag_core.corpus.periods import Sighting, basis_of, record_sighting
from webrag_core.errors import Reason
from webrag_core.indexing.embedding_models import cache_superseded
from webrag_core.indexing.graph.edges import close_edges
from webrag_core.store.vector_tables import vector_table

_MOVED = (
    "SELECT o.id, o.canonical_url FROM url_aliases a JOIN documents o ON o.canonical_url = a.url"
    " WHERE a.document_id = %s AND o.id <> a.document_id AND o.status <> 'gone' ORDER BY o.id"
)


async def ask_moved(connection: AsyncConnection, document_id: int) -> AsyncCursor:
    """Ask for ids and URLs of separate documents that became aliases of this one."""
    return await connection.execute(_MOVED, (document_id,))


async def retire_moved(connection: AsyncConnection, document_id: int, model_id: int) -> None:
    """Remove documents that moved to this one from the index.

    Call inside a transaction that holds the locks of their URLs.
    """
    cursor = await connection.execute(_MOVED, (document_id,))
    moved = [int(row[0]) for row in await cursor.fetchall()]
    if not moved:
        return
    cursor = await connection.execute(
        "SELECT v.fetched_at FROM documents d JOIN document_versions v ON v.id = d.current_version WHERE d.id = %s",
        (document_id,),
    )
    seen_at = [row[0] for row in await cursor.fetchall()]
    for former in moved:
        await _retire(connection, former, "moved", model_id, seen_at)


async def retire_gone(connection: AsyncConnection, url: str, model_id: int) -> bool:
    """Remove the document from the index if it is confirmed gone. Return True if removed.

    Call inside a transaction.
    """
    await documents.lock_urls(connection, url)
    document = await documents.find_document(connection, url)
    # a text that was held back and is confirmed is stored as a new version instead
    gone = document is not None and document.status != "gone" and document.misses >= documents.CONFIRMATIONS
    if document is None or not gone or document.miss_reason in (None, *documents.HELD):
        return False
    cursor = await connection.execute("SELECT missing_since, last_miss FROM documents WHERE id = %s", (document.id,))
    absent = [at for at in await cursor.fetchone() or () if at is not None]
    await _retire(connection, document.id, str(document.miss_reason), model_id, absent)
    return True


async def retire_absent(connection: AsyncConnection, document_id: int, model_id: int) -> None:
    """Remove a document from the index that ended in the history it was read from. Call inside a transaction."""
    await _retire(connection, document_id, Reason.NOT_FOUND.value, model_id, ())


async def _retire(
    connection: AsyncConnection, document_id: int, reason: str, model_id: int, absent: Sequence[datetime]
) -> None:
    """Take the document out of the index; `absent` are instants at which it was not there."""
    cursor = await connection.execute("SELECT acquirer FROM documents WHERE id = %s", (document_id,))
    acquirer = (await cursor.fetchone() or (None,))[0]
    for at in absent:
        await record_sighting(connection, document_id, Sighting(at, None, acquirer, basis_of(acquirer)))
    await cache_superseded(connection, model_id, document_id, None)  # the page may come back
    for table in (vector_table(model_id), sql.Identifier("lexical_postings"), sql.Identifier("lexical_documents")):
        await connection.execute(sql.SQL("DELETE FROM {} WHERE document_id = %s").format(table), (document_id,))
    await connection.execute("DELETE FROM chunks WHERE document_id = %s", (document_id,))
    await close_edges(connection, document_id)
    await connection.execute(
        "DELETE FROM link_candidates l USING document_versions v WHERE v.id = l.version_id AND v.document_id = %s",
        (document_id,),
    )
    await connection.execute(
        "UPDATE document_versions SET chunker = NULL, parent_count = NULL, child_count = NULL WHERE document_id = %s",
        (document_id,),
    )
    await connection.execute(
        "UPDATE documents SET status = 'gone', reason = %s, current_version = NULL, updated_at = now() WHERE id = %s",
        (reason, document_id),
    )
    await documents.log_change(connection, document_id, None, "gone")
