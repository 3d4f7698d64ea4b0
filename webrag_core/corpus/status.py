"""What the corpus holds, in numbers."""

from __future__ import annotations

from datetime import datetime

from psycopg import AsyncConnection
from psycopg.rows import class_row, dict_row
from pydantic import BaseModel


class SourceStatus(BaseModel):
    """One source: documents by state (`due` = their time to be asked again has come), chunks, tokens of its parents."""

    key: str
    documents: int
    ready: int
    failed: int
    gone: int
    due: int
    parents: int
    children: int
    tokens: int
    last_checked: datetime | None


class CorpusStatus(BaseModel):
    """The whole corpus. `answers` counts runs that gave one, `failures` documents by reason."""

    sources: list[SourceStatus]
    embedding_model: str | None
    answers: int
    failures: dict[str, int]
    database_bytes: int


async def corpus_status(connection: AsyncConnection) -> CorpusStatus:
    """Read the numbers; nothing is changed."""
    async with connection.cursor(row_factory=class_row(SourceStatus)) as typed:
        await typed.execute(
            "SELECT s.key, count(d.id) AS documents, count(*) FILTER (WHERE d.status = 'ready') AS ready,"
            " count(*) FILTER (WHERE d.status = 'failed') AS failed, count(*) FILTER (WHERE d.status = 'gone') AS gone,"
            " count(*) FILTER (WHERE d.status <> 'gone' AND d.next_check <= now()) AS due,"
            " coalesce(sum(v.parent_count), 0) AS parents,"
            " coalesce(sum(v.child_count), 0) AS children, coalesce(sum(t.tokens), 0) AS tokens,"
            " max(d.last_checked) AS last_checked"
            " FROM sources s LEFT JOIN documents d ON d.source_id = s.id"
            " LEFT JOIN document_versions v ON v.id = d.current_version"
            " LEFT JOIN LATERAL (SELECT sum(c.token_count) AS tokens FROM chunks c"
            "   WHERE c.version_id = d.current_version AND c.level = 'parent') t ON true"
            " GROUP BY s.key ORDER BY s.key"
        )
        sources = await typed.fetchall()
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(
            "SELECT (SELECT name FROM embedding_models WHERE state = 'live') AS embedding_model,"
            " (SELECT count(*) FROM answer_runs WHERE state = 'done') AS answers,"
            " pg_database_size(current_database()) AS database_bytes,"
            " (SELECT coalesce(jsonb_object_agg(reason, n), '{}') FROM"
            "   (SELECT reason, count(*) AS n FROM documents WHERE status = 'failed' GROUP BY reason) f) AS failures"
        )
        row = await cursor.fetchone()
    assert row is not None
    return CorpusStatus(sources=sources, **row)
