"""Documents whose URL now redirects to another document: they leave the index in the transaction that indexes it."""

from __future__ import annotations

from psycopg import AsyncConnection, sql

from webrag_core.ingestion import documents

_MOVED = (
    "SELECT o.id, o.canonical_url FROM url_aliases a JOIN documents o ON o.canonical_url = a.url"
    " WHERE a.document_id = %s AND o.id <> a.document_id AND o.status <> 'gone' ORDER BY o.id"
)


async def moved_urls(connection: AsyncConnection, document_id: int) -> list[str]:
    """URLs of documents of their own that have become aliases of this one."""
    cursor = await connection.execute(_MOVED, (document_id,))
    return [str(row[1]) for row in await cursor.fetchall()]


async def retire_moved(connection: AsyncConnection, document_id: int, vectors: sql.Identifier) -> None:
    """Take documents that moved to this one out of the index; their versions stay (answers may cite them).

    Call inside a transaction that holds the locks of their URLs.
    """
    cursor = await connection.execute(_MOVED, (document_id,))
    for moved, _ in await cursor.fetchall():
        for table in (vectors, sql.Identifier("lexical_postings"), sql.Identifier("lexical_documents")):
            await connection.execute(sql.SQL("DELETE FROM {} WHERE document_id = %s").format(table), (moved,))
        await connection.execute("DELETE FROM chunks WHERE document_id = %s", (moved,))
        await connection.execute(
            "DELETE FROM link_candidates l USING document_versions v WHERE v.id = l.version_id AND v.document_id = %s",
            (moved,),
        )
        await connection.execute(
            "UPDATE document_versions SET chunker = NULL, parent_count = NULL, child_count = NULL"
            " WHERE document_id = %s",
            (moved,),
        )
        await connection.execute(
            "UPDATE documents SET status = 'gone', reason = 'moved', current_version = NULL, updated_at = now()"
            " WHERE id = %s",
            (moved,),
        )
        await documents.log_change(connection, moved, None, "gone")
