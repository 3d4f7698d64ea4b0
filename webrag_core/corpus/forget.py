"""Removal on request: a page, a source or an answer goes with everything that was derived from it.

Each page goes in one transaction under the locks of its URLs, so a kill leaves it whole or gone, and running the same
command again goes on. What stays is a row of `removals` with digests and counts, and a mark in `forgotten_urls` that
keeps refreshes and answers from storing the page again. `webrag ingest URL` lifts it; so does attaching the source,
where the whole source was removed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal

from psycopg import AsyncConnection, sql
from psycopg.types.json import Jsonb
from pydantic import BaseModel

from webrag_core.acquisition.urls import canonicalise
from webrag_core.corpus.documents import find_document, lock_urls, log_change
from webrag_core.corpus.forgotten_words import (
    drop_names,
    drop_passages,
    drop_quotes,
    redact_feedback,
    redact_rounds,
    redact_runs,
    redact_tasks,
    redact_warnings,
    redact_watches,
)
from webrag_core.corpus.markup import forget_in_markup
from webrag_core.corpus.sources import Source, drop_empty_sources, find_source, lock_host
from webrag_core.corpus.tables import Rows, Subject, Table, rows_of
from webrag_core.corpus.works import leave_works
from webrag_core.errors import InvalidInputError, NotStoredError
from webrag_core.store.database import Database
from webrag_core.store.vector_tables import vector_table

Kind = Literal["page", "source", "answer"]


class Removal(BaseModel):
    """What was removed, or would be (`dry_run`). `counts` holds rows by kind, without those that are zero."""

    kind: Kind
    target: str
    subject_sha256: str
    dry_run: bool
    counts: dict[str, int]


async def forget(database: Database, target: str, *, removed_by: str, dry_run: bool = False) -> Removal:
    """Remove the page at a URL, a source by its key, or an answer by its number.

    `dry_run` removes nothing and returns the same counts; of a source they are summed page by page, so that a link
    between two of its pages counts twice. Raises InvalidInputError when nothing is stored under `target` or a file
    declares the source.
    """
    text = target.strip()
    if text.isdecimal():
        return await _forget_answer(database, int(text), removed_by, dry_run)
    if "://" in text:
        return await _forget_page(database, canonicalise(text), removed_by, dry_run)
    async with database.connection() as connection:
        source = await find_source(connection, text)
    return await _forget_source(database, source, removed_by, dry_run)


async def allow_again(connection: AsyncConnection, urls: Sequence[str]) -> bool:
    """Allow canonical `urls` to be stored again, on explicit request. True where one of them was not allowed; then the
    list of removals is to be written anew (`keep_removals`)."""
    digests = [digest_of(url) for url in urls]
    cursor = await connection.execute("DELETE FROM forgotten_urls WHERE url_sha256 = ANY(%s)", (digests,))
    return cursor.rowcount > 0


async def _forget_page(database: Database, url: str, removed_by: str, dry_run: bool) -> Removal:
    async with database.connection() as connection, connection.transaction(force_rollback=dry_run):
        counts = await remove_page(connection, url)
        if not counts:
            raise NotStoredError(f"nothing is stored of {url}; `webrag status` names the sources that there are")
        host = url.split("/", 3)[2]
        await lock_host(connection, host)
        await drop_empty_sources(connection, host)
        return await record_removal(connection, "page", url, counts, removed_by, dry_run)


async def _forget_source(database: Database, source: Source, removed_by: str, dry_run: bool) -> Removal:
    if source.declared_in is not None:
        raise InvalidInputError(f"{source.key} is declared in {source.declared_in}: delete it there first")
    counts: Counter[str] = Counter()
    if not dry_run:
        async with database.connection() as connection:  # prevents scheduled refreshes meanwhile
            await connection.execute("UPDATE sources SET paused = true WHERE id = %s", (source.id,))
    last = 0
    while True:
        async with database.connection() as connection, connection.transaction(force_rollback=dry_run):
            cursor = await connection.execute(
                "SELECT id, canonical_url FROM documents WHERE source_id = %s AND id > %s ORDER BY id LIMIT 1",
                (source.id, last),
            )
            row = await cursor.fetchone()
            if row is None:
                break
            last = int(row[0])
            counts += await remove_page(connection, str(row[1]), source.key)
    async with database.connection() as connection, connection.transaction(force_rollback=dry_run):
        counts += await remove_source(connection, source)
        return await record_removal(connection, "source", source.key, counts, removed_by, dry_run)


async def _forget_answer(database: Database, answer_id: int, removed_by: str, dry_run: bool) -> Removal:
    async with database.connection() as connection, connection.transaction(force_rollback=dry_run):
        counts = await remove_rows(connection, "answer", {"answer": answer_id})
        if not counts["answers"]:
            raise NotStoredError(f"there is no answer {answer_id}; `webrag answers list` names those that there are")
        return await record_removal(connection, "answer", str(answer_id), counts, removed_by, dry_run)


async def discard_answers(connection: AsyncConnection, answers: Sequence[int]) -> None:
    """Remove answer runs that say nothing new, of a question that was asked again: no removal is recorded."""
    for answer_id in answers:
        await remove_rows(connection, "answer", {"answer": answer_id})


async def record_removal(
    connection: AsyncConnection, kind: Kind, target: str, counts: Counter[str], removed_by: str, dry_run: bool = False
) -> Removal:
    """Keep the proof of a removal: digest and counts."""
    nonzero = {name: number for name, number in counts.items() if number}
    await connection.execute(
        "INSERT INTO removals (kind, subject_sha256, removed_by, counts) VALUES (%s, %s, %s, %s)",
        (kind, digest_of(target), removed_by, Jsonb(nonzero)),
    )
    return Removal(kind=kind, target=target, subject_sha256=digest_of(target), dry_run=dry_run, counts=nonzero)


async def remove_page(
    connection: AsyncConnection, url: str, source_key: str | None = None, *, alone: bool = False
) -> Counter[str]:
    """Remove one page under all of its URLs; call inside a transaction. Empty counts: nothing was stored of it.

    `alone`: nobody else has the corpus open, so that no URL is locked; a transaction has room for thousands of locks.
    """
    urls = await _urls_of(connection, url)
    if not alone:
        await lock_urls(connection, *urls)
    document = await find_document(connection, url)
    urls = sorted({*urls, *await _urls_of(connection, url)})
    counts: Counter[str] = Counter()
    counts["markup"], entities = await forget_in_markup(connection, urls)
    counts["edges"], names = await remove_edges(connection, None if document is None else document.id, urls, entities)
    if document is not None:
        names += await _titles(connection, document.id)
        await drop_quotes(connection, document.id)
        counts["task_passages"] = await drop_passages(connection, document.id)
        counts += await remove_rows(connection, "document", {"document": document.id})
    counts += await remove_rows(connection, "urls", {"urls": list(urls)})
    counts["answer_rounds"] = await redact_rounds(connection, urls)
    await drop_names(connection, names)
    for address in urls:
        for redact in (redact_feedback, redact_warnings, redact_runs, redact_tasks, redact_watches):
            await redact(connection, address)
    counts = +counts
    if counts:
        await connection.execute(
            "INSERT INTO forgotten_urls (url_sha256, source_sha256) SELECT unnest(%s::text[]), %s"
            " ON CONFLICT (url_sha256) DO NOTHING",
            ([digest_of(address) for address in urls], None if source_key is None else digest_of(source_key)),
        )
    return counts


async def _urls_of(connection: AsyncConnection, url: str) -> list[str]:
    """The URL, that of its document, and the document's aliases."""
    document = await find_document(connection, url)
    if document is None:
        return [url]
    cursor = await connection.execute("SELECT url FROM url_aliases WHERE document_id = %s", (document.id,))
    return sorted({url, document.canonical_url, *(str(row[0]) for row in await cursor.fetchall())})


async def _titles(connection: AsyncConnection, document_id: int) -> list[str]:
    cursor = await connection.execute(
        "SELECT DISTINCT title FROM document_versions WHERE document_id = %s AND title IS NOT NULL", (document_id,)
    )
    return [str(row[0]) for row in await cursor.fetchall()]


async def remove_rows(connection: AsyncConnection, subject: Subject, parameters: Mapping[str, object]) -> Counter[str]:
    """Remove the rows that go with a subject from every table, by the name under which they are counted."""
    counts: Counter[str] = Counter()
    for table, rows in rows_of(subject):
        remove = _SPECIAL.get((subject, table.name), _delete)
        removed = await remove(connection, table, rows, parameters)
        if rows.counted is not None:
            counts[rows.counted] += removed
    return counts


async def _delete(connection: AsyncConnection, table: Table, rows: Rows, parameters: Mapping[str, object]) -> int:
    statement = sql.SQL("DELETE FROM {} WHERE {}").format(sql.Identifier(table.name), sql.SQL(rows.where))
    return (await connection.execute(statement, parameters)).rowcount


async def _delete_lines(connection: AsyncConnection, table: Table, rows: Rows, parameters: Mapping[str, object]) -> int:
    """Remove lines of the ledger, and count those of each run for the balance of its refresh."""
    statement = sql.SQL(
        "INSERT INTO removed_lines AS r (run_id, lines) SELECT run_id, count(*) FROM fetch_log"
        " WHERE ({}) AND run_id IS NOT NULL AND outcome <> 'skipped'"
        " GROUP BY run_id ORDER BY run_id ON CONFLICT (run_id) DO UPDATE SET lines = r.lines + EXCLUDED.lines"
    )
    await connection.execute(statement.format(sql.SQL(rows.where)), parameters)
    return await _delete(connection, table, rows, parameters)


async def _delete_feedback(
    connection: AsyncConnection, table: Table, rows: Rows, parameters: Mapping[str, object]
) -> int:
    """Remove feedback that quotes a document, or is about one of its quotes. What else is said of answers that quote it
    loses its words: nobody can tell whether they are the page's."""
    removed = await _delete(connection, table, rows, parameters)
    await connection.execute(
        "UPDATE feedback f SET text = NULL WHERE f.text IS NOT NULL AND EXISTS (SELECT FROM citations c"
        " JOIN document_versions v ON v.id = c.version_id WHERE c.answer_id = f.answer_id"
        " AND v.document_id = %(document)s)",
        parameters,
    )
    return removed


async def _delete_citations(
    connection: AsyncConnection, table: Table, rows: Rows, parameters: Mapping[str, object]
) -> int:
    """Remove the quotes of a document; answers keep their rows and say how many quotes they lost."""
    statement = sql.SQL(
        "WITH lost AS (DELETE FROM citations WHERE {} RETURNING answer_id),"
        " counted AS (SELECT answer_id, count(*) AS quotes FROM lost GROUP BY answer_id),"
        " warned AS (UPDATE answer_runs a SET warnings = a.warnings || to_jsonb(n.quotes || CASE n.quotes WHEN 1"
        "  THEN ' quote' ELSE ' quotes' END || ' of a page that was removed on request') FROM counted n"
        "  WHERE a.id = n.answer_id)"
        " SELECT coalesce(sum(quotes), 0) FROM counted"
    )
    cursor = await connection.execute(statement.format(sql.SQL(rows.where)), parameters)
    return int((await cursor.fetchone() or (0,))[0])


async def _delete_vectors(
    connection: AsyncConnection, table: Table, rows: Rows, parameters: Mapping[str, object]
) -> int:
    """Remove vectors of all models."""
    removed = 0
    cursor = await connection.execute("SELECT id FROM embedding_models ORDER BY id")
    for (model_id,) in await cursor.fetchall():
        statement = sql.SQL("DELETE FROM {} WHERE {}").format(vector_table(model_id), sql.SQL(rows.where))
        removed += (await connection.execute(statement, parameters)).rowcount
    return removed


async def _count_versions(
    connection: AsyncConnection, table: Table, rows: Rows, parameters: Mapping[str, object]
) -> int:
    """Count the versions, which go with their document."""
    statement = sql.SQL("SELECT count(*) FROM {} WHERE {}").format(sql.Identifier(table.name), sql.SQL(rows.where))
    return int((await (await connection.execute(statement, parameters)).fetchone() or (0,))[0])


async def _leave_works(connection: AsyncConnection, table: Table, rows: Rows, parameters: Mapping[str, object]) -> int:
    document_id = parameters["document"]
    assert isinstance(document_id, int)
    await leave_works(connection, document_id)
    return 0


async def _delete_document(
    connection: AsyncConnection, table: Table, rows: Rows, parameters: Mapping[str, object]
) -> int:
    """Remove the document, and announce that its source changed."""
    document_id = parameters["document"]
    assert isinstance(document_id, int)
    await log_change(connection, document_id, None, "gone")
    return await _delete(connection, table, rows, parameters)


_SPECIAL: dict[tuple[Subject, str], Callable[[AsyncConnection, Table, Rows, Mapping[str, object]], Awaitable[int]]] = {
    ("urls", "fetch_log"): _delete_lines,
    ("document", "feedback"): _delete_feedback,
    ("document", "citations"): _delete_citations,
    ("document", "document_versions"): _count_versions,
    ("document", "vectors_"): _delete_vectors,
    ("document", "work_members"): _leave_works,
    ("document", "documents"): _delete_document,
}
"""Tables of which rows do not go by their condition alone."""


async def remove_edges(
    connection: AsyncConnection, document_id: int | None, urls: Sequence[str], entities: Sequence[str]
) -> tuple[int, list[str]]:
    """Remove the edges that a page states, those that lead to it or to `entities` (things that are named after its
    address), and every node that is left without an edge. Returns the edges' number and the labels of these nodes."""
    # writers of edges hold it shared: none of them relies on a node that goes
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('graph nodes', 0))")
    cursor = await connection.execute(
        "WITH own AS (SELECT n.id FROM unnest(%(urls)s::text[]) u JOIN graph_nodes n ON n.key = u AND n.kind = 'page'"
        "  UNION SELECT n.id FROM unnest(%(entities)s::text[]) u"
        "   JOIN graph_nodes n ON n.key = u AND n.kind = 'entity'),"
        # each part has an index of its own
        " lost AS (DELETE FROM graph_edges WHERE id IN ("
        "  SELECT e.id FROM graph_edges e WHERE e.document_id = %(document)s"
        "  UNION SELECT e.id FROM graph_edges e JOIN own ON e.src = own.id WHERE e.seen_until IS NULL"
        "  UNION SELECT e.id FROM graph_edges e JOIN own ON e.dst = own.id WHERE e.seen_until IS NULL"
        "  UNION SELECT e.id FROM graph_edges e JOIN own ON e.src = own.id WHERE e.seen_until IS NOT NULL"
        "  UNION SELECT e.id FROM graph_edges e JOIN own ON e.dst = own.id WHERE e.seen_until IS NOT NULL)"
        "  RETURNING document_id, src, dst, place, seen_until),"
        " counted AS (UPDATE graph_documents g SET edges = g.edges - l.edges, counted = false FROM"
        "  (SELECT document_id, count(*) AS edges FROM lost WHERE seen_until IS NULL GROUP BY document_id) l"
        "  WHERE l.document_id = g.document_id)"
        " SELECT (SELECT count(*) FROM lost),"
        "  (SELECT array_agg(DISTINCT n) FROM lost CROSS JOIN LATERAL unnest(ARRAY[src, dst, place]) n)",
        {"document": document_id, "urls": list(urls), "entities": list(entities)},
    )
    edges, nodes = await cursor.fetchone() or (0, None)
    cursor = await connection.execute(
        "DELETE FROM graph_nodes n WHERE (n.id = ANY(%(nodes)s) OR n.key = ANY(%(urls)s) AND n.kind = 'page')"
        " AND NOT EXISTS (SELECT FROM graph_edges e WHERE e.src = n.id AND e.seen_until IS NULL)"
        " AND NOT EXISTS (SELECT FROM graph_edges e WHERE e.dst = n.id AND e.seen_until IS NULL)"
        " AND NOT EXISTS (SELECT FROM graph_edges e WHERE e.src = n.id AND e.seen_until IS NOT NULL)"
        " AND NOT EXISTS (SELECT FROM graph_edges e WHERE e.dst = n.id AND e.seen_until IS NOT NULL)"
        " RETURNING n.label",
        {"nodes": nodes or [], "urls": list(urls)},
    )
    return int(edges), [str(row[0]) for row in await cursor.fetchall() if row[0]]


async def remove_source(connection: AsyncConnection, source: Source) -> Counter[str]:
    """Remove what is left of a source without documents: ledger lines of pages that were never stored, its own row."""
    counts: Counter[str] = Counter()
    place = source.key.partition("/")[0] + source.path_prefix
    cursor = await connection.execute(
        "WITH gone AS (DELETE FROM fetch_log f WHERE starts_with(substr(url, strpos(url, '://') + 3), %s)"
        "  AND NOT EXISTS (SELECT FROM documents d WHERE d.canonical_url IN (f.url, f.final_url))"
        "  AND NOT EXISTS (SELECT FROM url_aliases a WHERE a.url = f.url) RETURNING run_id, outcome),"
        " counted AS (INSERT INTO removed_lines AS r (run_id, lines) SELECT run_id, count(*) FROM gone"
        "  WHERE run_id IS NOT NULL AND outcome <> 'skipped' GROUP BY run_id"
        "  ON CONFLICT (run_id) DO UPDATE SET lines = r.lines + EXCLUDED.lines)"
        " SELECT count(*) FROM gone",
        (place,),
    )
    counts["ledger_lines"] = int((await cursor.fetchone() or (0,))[0])
    return counts + await remove_rows(connection, "source", {"source": source.id})


def digest_of(text: str) -> str:
    """SHA-256 of a canonical URL, the key of a source or the number of an answer, as removals are kept."""
    return hashlib.sha256(text.encode()).hexdigest()
