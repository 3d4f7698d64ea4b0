"""The invariants of some documents alone: what a check of one source asks, without reading the whole corpus."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import AsyncConnection, sql

from webrag_core.corpus.verification import Verified, Violation, verify_version
from webrag_core.store.vector_tables import vector_table

COUNT_RULES = frozenset({"chunk-count", "lexical-parent-count", "ready-has-chunks"})

_COUNTS = (
    "SELECT 'ready-has-chunks', d.canonical_url, 'no chunk of its current version' FROM documents d"
    " WHERE d.id = ANY(%(documents)s) AND d.status = 'ready'"
    " AND NOT EXISTS (SELECT FROM chunks c WHERE c.version_id = d.current_version)"
    " UNION ALL SELECT 'lexical-parent-count', d.canonical_url,"
    " coalesce(l.parents, 0) || ' parents in the lexical index, ' || v.parent_count || ' chunked' FROM documents d"
    " JOIN document_versions v ON v.id = d.current_version LEFT JOIN lexical_documents l ON l.document_id = d.id"
    " WHERE d.id = ANY(%(documents)s) AND l.parents IS DISTINCT FROM v.parent_count ORDER BY 1, 2"
)

_LEDGER = (
    "SELECT 'ledger-knows-document', d.canonical_url, 'no line of the ledger leads to it' FROM documents d"
    " WHERE d.id = ANY(%(documents)s) AND NOT EXISTS"
    " (SELECT FROM fetch_log f WHERE f.url = d.canonical_url OR f.final_url = d.canonical_url)"
    " UNION ALL SELECT 'ledger-leads-to-document', f.url, f.outcome || ', and no document came of it' FROM fetch_log f"
    " WHERE (starts_with(f.url, %(https)s) OR starts_with(f.url, %(http)s)) AND f.outcome <> 'skipped'"
    " AND NOT EXISTS (SELECT FROM documents d WHERE d.canonical_url = coalesce(f.final_url, f.url))"
    " AND NOT EXISTS (SELECT FROM url_aliases a WHERE a.url = f.url)"
    " UNION ALL SELECT 'refresh-balances', r.run_id, r.discovered || ' known; ' || r.fetched || ' fetched, '"
    " || r.unchanged || ' unchanged, ' || r.failed || ' failed, ' || r.skipped || ' skipped, ' || r.not_due"
    " || ' not due; ledger: ' || f.fetched || ' fetched, ' || f.unchanged || ' unchanged, ' || f.failed || ' failed'"
    " FROM (SELECT x.* FROM refresh_runs x JOIN sources s ON s.id = x.source_id WHERE s.key = %(source)s"
    "  ORDER BY x.started_at DESC LIMIT %(runs)s) r CROSS JOIN LATERAL"
    " (SELECT count(*) FILTER (WHERE l.outcome = 'fetched') AS fetched,"
    "  count(*) FILTER (WHERE l.outcome = 'unchanged') AS unchanged,"
    "  count(*) FILTER (WHERE l.outcome = 'failed') AS failed FROM fetch_log l WHERE l.run_id = r.run_id) f"
    " WHERE r.discovered <> r.fetched + r.unchanged + r.failed + r.skipped + r.not_due"
    " OR (r.fetched, r.unchanged, r.failed) <> (f.fetched, f.unchanged, f.failed) ORDER BY 1, 2"
)
_REFRESHES = 20
"""The latest refreshes of a source whose balance is looked at."""


async def verify_slices(connection: AsyncConnection, versions: Sequence[int], counted: Verified) -> list[Violation]:
    """Hashes, slices, cover and partition of these versions; `counted` is added to."""
    return [
        violation
        for version_id in versions
        async for violation in verify_version(connection, version_id, counted)
        if violation.rule not in COUNT_RULES
    ]


async def verify_counts(
    connection: AsyncConnection, versions: Sequence[int], documents: Sequence[int]
) -> list[Violation]:
    """Chunks of these versions and lexical entries of these documents are as many as was written down."""
    cursor = await connection.execute(
        "SELECT d.canonical_url || ' v' || v.number, count(c.id) FILTER (WHERE c.level = 'parent'),"
        " count(c.id) FILTER (WHERE c.level = 'child'), v.parent_count, v.child_count"
        " FROM document_versions v JOIN documents d ON d.id = v.document_id LEFT JOIN chunks c ON c.version_id = v.id"
        " WHERE v.id = ANY(%s) AND v.chunker IS NOT NULL GROUP BY v.id, d.canonical_url ORDER BY 1",
        (list(versions),),
    )
    found = [
        Violation("chunk-count", str(where), f"{parents} + {children} chunks, expected {had} + {should}")
        for where, parents, children, had, should in await cursor.fetchall()
        if (parents, children) != (had, should)
    ]
    return found + await _rules(connection, _COUNTS, {"documents": list(documents)})


async def verify_ledger(connection: AsyncConnection, source: str, documents: Sequence[int]) -> list[Violation]:
    """Every document is in the ledger, every line leads to a document, and the latest refreshes balance."""
    return await _rules(
        connection,
        _LEDGER,
        {
            "source": source,
            "documents": list(documents),
            "https": f"https://{source}/",
            "http": f"http://{source}/",
            "runs": _REFRESHES,
        },
    )


async def verify_vectors(connection: AsyncConnection, documents: Sequence[int], model_id: int) -> list[Violation]:
    """One vector of the model for every child of a current version of these documents, and no other."""
    cursor = await connection.execute(
        sql.SQL(
            "SELECT d.canonical_url, count(*) FILTER (WHERE w.has IS NULL),"
            " count(*) FILTER (WHERE w.child IS NULL) FROM"
            " (SELECT coalesce(c.document_id, e.document_id) AS document_id, c.id AS child, e.chunk_id AS has FROM"
            "  (SELECT k.id, k.document_id FROM chunks k JOIN documents o ON o.current_version = k.version_id"
            "   WHERE k.level = 'child' AND o.id = ANY(%(documents)s)) c"
            "  FULL JOIN (SELECT * FROM {} v WHERE v.document_id = ANY(%(documents)s)) e ON e.chunk_id = c.id) w"
            " JOIN documents d ON d.id = w.document_id GROUP BY d.canonical_url"
            " HAVING count(*) FILTER (WHERE w.has IS NULL OR w.child IS NULL) > 0 ORDER BY 1"
        ).format(vector_table(model_id)),
        {"documents": list(documents)},
        prepare=False,
    )
    return [
        Violation("vectors", str(url), f"{without} children without a vector, {stray} vectors without a child")
        for url, without, stray in await cursor.fetchall()
    ]


async def _rules(connection: AsyncConnection, query: str, parameters: dict[str, object]) -> list[Violation]:
    cursor = await connection.execute(query.encode(), parameters)
    return [Violation(str(rule), str(where), str(found)) for rule, where, found in await cursor.fetchall()]
