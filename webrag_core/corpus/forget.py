"""Removal on request: a page, a source or an answer goes with everything that was derived from it.

Each page goes in one transaction under the locks of its URLs, so a kill leaves it whole or gone, and running the same
command again goes on. What stays is a row of `removals` with digests and counts, and a mark in `forgotten_urls` that
keeps refreshes and answers from storing the page again. `webrag ingest URL` lifts it; so does attaching the source,
where the whole source was removed.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from psycopg import AsyncConnection, sql
from psycopg.types.json import Jsonb
from pydantic import BaseModel

from webrag_core.acquisition.urls import canonicalise
from webrag_core.corpus.documents import find_document, lock_urls, log_change
from webrag_core.corpus.markup import forget_in_markup
from webrag_core.corpus.sources import Source, drop_empty_sources, find_source, lock_host
from webrag_core.corpus.stored_pages import LINKS_TO
from webrag_core.corpus.works import leave_works
from webrag_core.errors import InvalidInputError
from webrag_core.store.database import Database
from webrag_core.store.vector_tables import vector_table

Kind = Literal["page", "source", "answer"]
REMOVED = "removed:"
"""Before the digest that stands in answers for the address of a forgotten page."""
_NO_LONGER_ADDRESS = r"(?![.,:;!]*[[:alnum:]_/?&=%~+@-])"
"""Behind an address within words (PostgreSQL): no longer address begins with it; a fragment is of the same page."""

_OTHER_WARNINGS = (
    "(SELECT coalesce(jsonb_agg(w ORDER BY n), '[]') FROM jsonb_array_elements({column}) WITH ORDINALITY x (w, n)"
    " WHERE w ->> 'about' IS DISTINCT FROM %(url)s"
    " AND strpos(coalesce(w ->> 'text', w #>> '{{}}'), %(url)s) = 0)"
)
"""The warnings of a column (`Caution.stored`) that are not about `url`. Texts are searched for it, too: an old warning
is a text alone, and any may quote an address that it is not about."""


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


async def allow_again(connection: AsyncConnection, urls: Sequence[str]) -> None:
    """Allow canonical `urls` to be stored again, on explicit request."""
    await connection.execute("DELETE FROM forgotten_urls WHERE url_sha256 = ANY(%s)", ([_digest(url) for url in urls],))


async def _forget_page(database: Database, url: str, removed_by: str, dry_run: bool) -> Removal:
    async with database.connection() as connection, connection.transaction(force_rollback=dry_run):
        counts = await _remove_page(connection, url)
        if not counts:
            raise InvalidInputError(f"nothing is stored of {url}; `webrag status` names the sources that there are")
        host = url.split("/", 3)[2]
        await lock_host(connection, host)
        await drop_empty_sources(connection, host)
        return await _record(connection, "page", url, counts, removed_by, dry_run)


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
            counts += await _remove_page(connection, str(row[1]), source.key)
    async with database.connection() as connection, connection.transaction(force_rollback=dry_run):
        counts += await _remove_source(connection, source)
        return await _record(connection, "source", source.key, counts, removed_by, dry_run)


async def _forget_answer(database: Database, answer_id: int, removed_by: str, dry_run: bool) -> Removal:
    async with database.connection() as connection, connection.transaction(force_rollback=dry_run):
        counts: Counter[str] = Counter()
        for name in ("feedback", "exposures", "answer_sentences", "citations", "answer_rounds", "route_tasks"):
            counts[name] = await _delete(connection, name, "answer_id = %(answer)s", answer=answer_id)
        if not await _delete(connection, "answer_runs", "id = %(answer)s", answer=answer_id):
            raise InvalidInputError(f"there is no answer {answer_id}; `webrag answers list` names those that there are")
        counts["answers"] = 1
        return await _record(connection, "answer", str(answer_id), counts, removed_by, dry_run)


async def _record(
    connection: AsyncConnection, kind: Kind, target: str, counts: Counter[str], removed_by: str, dry_run: bool
) -> Removal:
    nonzero = {name: number for name, number in counts.items() if number}
    await connection.execute(
        "INSERT INTO removals (kind, subject_sha256, removed_by, counts) VALUES (%s, %s, %s, %s)",
        (kind, _digest(target), removed_by, Jsonb(nonzero)),
    )
    return Removal(kind=kind, target=target, subject_sha256=_digest(target), dry_run=dry_run, counts=nonzero)


async def _remove_page(connection: AsyncConnection, url: str, source_key: str | None = None) -> Counter[str]:
    """Remove one page under all of its URLs; call inside a transaction. Empty counts: nothing was stored of it."""
    urls = await _urls_of(connection, url)
    await lock_urls(connection, *urls)
    document = await find_document(connection, url)
    urls = sorted({*urls, *await _urls_of(connection, url)})
    counts: Counter[str] = Counter()
    counts["markup"], entities = await forget_in_markup(connection, urls)
    counts["edges"] = await _remove_edges(connection, None if document is None else document.id, urls, entities)
    if document is not None:
        counts += await _remove_document(connection, document.id)
    counts += await _remove_mentions(connection, urls)
    if counts:
        await connection.execute(
            "INSERT INTO forgotten_urls (url_sha256, source_sha256) SELECT unnest(%s::text[]), %s"
            " ON CONFLICT (url_sha256) DO NOTHING",
            ([_digest(one) for one in urls], None if source_key is None else _digest(source_key)),
        )
    return counts


async def _urls_of(connection: AsyncConnection, url: str) -> list[str]:
    """The URL, that of its document, and the document's aliases."""
    document = await find_document(connection, url)
    if document is None:
        return [url]
    cursor = await connection.execute("SELECT url FROM url_aliases WHERE document_id = %s", (document.id,))
    return sorted({url, document.canonical_url, *(str(row[0]) for row in await cursor.fetchall())})


async def _remove_document(connection: AsyncConnection, document_id: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    counts["feedback"] = await _remove_feedback(connection, document_id)
    counts["citations"] = await _remove_citations(connection, document_id)
    counts["task_passages"] = await _remove_task_passages(connection, document_id)
    counts["exposures"] = await _delete(
        connection,
        "exposures",
        "chunk_id IN (SELECT c.id FROM chunks c WHERE c.document_id = %(document)s)",
        document=document_id,
    )
    # a cached vector goes unless a chunk of another page has the same text
    counts["cached_vectors"] = await _delete(
        connection,
        "embedding_cache",
        "text_sha256 IN (SELECT c.embed_sha256 FROM chunks c WHERE c.document_id = %(document)s)"
        " AND NOT EXISTS (SELECT FROM chunks o WHERE o.embed_sha256 = embedding_cache.text_sha256"
        "  AND o.document_id <> %(document)s)",
        document=document_id,
    )
    cursor = await connection.execute("SELECT id FROM embedding_models ORDER BY id")
    for (model_id,) in await cursor.fetchall():
        done = await connection.execute(
            sql.SQL("DELETE FROM {} WHERE document_id = %s").format(vector_table(model_id)), (document_id,)
        )
        counts["vectors"] += done.rowcount
    for name in ("lexical_postings", "lexical_documents", "chunks"):
        counts[name] = await _delete(connection, name, "document_id = %(document)s", document=document_id)
    counts["links"] = await _delete(
        connection,
        "link_candidates",
        "version_id IN (SELECT id FROM document_versions WHERE document_id = %(document)s)",
        document=document_id,
    )
    counts["outbox_lines"] = await _delete(connection, "corpus_log", "document_id = %(document)s", document=document_id)
    await log_change(connection, document_id, None, "gone")  # announce the source's change
    counts["aliases"] = await _delete(connection, "url_aliases", "document_id = %(document)s", document=document_id)
    await leave_works(connection, document_id)
    cursor = await connection.execute("SELECT count(*) FROM document_versions WHERE document_id = %s", (document_id,))
    counts["versions"] = int((await cursor.fetchone() or (0,))[0])
    counts["documents"] = await _delete(connection, "documents", "id = %(document)s", document=document_id)
    return counts


async def _remove_edges(
    connection: AsyncConnection, document_id: int | None, urls: Sequence[str], entities: Sequence[str]
) -> int:
    """Remove the edges that a page states, those that lead to it or to `entities` (things that are named after its
    address), and every node that is left without an edge."""
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
    await connection.execute(
        "DELETE FROM graph_nodes n WHERE (n.id = ANY(%(nodes)s) OR n.key = ANY(%(urls)s) AND n.kind = 'page')"
        " AND NOT EXISTS (SELECT FROM graph_edges e WHERE e.src = n.id AND e.seen_until IS NULL)"
        " AND NOT EXISTS (SELECT FROM graph_edges e WHERE e.dst = n.id AND e.seen_until IS NULL)"
        " AND NOT EXISTS (SELECT FROM graph_edges e WHERE e.src = n.id AND e.seen_until IS NOT NULL)"
        " AND NOT EXISTS (SELECT FROM graph_edges e WHERE e.dst = n.id AND e.seen_until IS NOT NULL)",
        {"nodes": nodes or [], "urls": list(urls)},
    )
    return int(edges)


async def _remove_feedback(connection: AsyncConnection, document_id: int) -> int:
    """Remove feedback that quotes a document, or is about one of its quotes. What else is said of answers that quote it
    loses its words: nobody can tell whether they are the page's."""
    removed = await _delete(
        connection,
        "feedback",
        "suggested_version IN (SELECT v.id FROM document_versions v WHERE v.document_id = %(document)s)"
        " OR EXISTS (SELECT FROM citations c JOIN document_versions v ON v.id = c.version_id"
        "  WHERE v.document_id = %(document)s AND c.answer_id = feedback.answer_id AND (c.number = feedback.citation"
        "  OR EXISTS (SELECT FROM sentence_citations n WHERE n.answer_id = c.answer_id AND n.number = c.number"
        "   AND n.ordinal = feedback.sentence)))",
        document=document_id,
    )
    await connection.execute(
        "UPDATE feedback f SET text = NULL WHERE f.text IS NOT NULL AND EXISTS (SELECT FROM citations c"
        " JOIN document_versions v ON v.id = c.version_id WHERE c.answer_id = f.answer_id AND v.document_id = %s)",
        (document_id,),
    )
    return removed


async def _remove_citations(connection: AsyncConnection, document_id: int) -> int:
    """Remove the quotes of a document, the sentences made of them and the labels of those that are listed; answers keep
    their rows and say which quotes and sentences they lost. The numbers of the others stay."""
    await connection.execute(
        "WITH lost AS (DELETE FROM answer_sentences s USING sentence_citations n, citations c, document_versions v"
        "  WHERE n.answer_id = s.answer_id AND n.ordinal = s.ordinal AND c.answer_id = n.answer_id"
        "  AND c.number = n.number AND v.id = c.version_id AND v.document_id = %s RETURNING s.answer_id, s.ordinal),"
        " gone AS (SELECT answer_id, jsonb_agg(ordinal) AS ordinals FROM lost GROUP BY answer_id)"
        " UPDATE answer_runs a SET prose = a.prose || jsonb_build_object('forgotten_sentences',"
        "  coalesce(a.prose -> 'forgotten_sentences', '[]') || g.ordinals) FROM gone g WHERE a.id = g.answer_id",
        (document_id,),
    )
    cursor = await connection.execute(
        "WITH lost AS (DELETE FROM citations c USING document_versions v WHERE v.id = c.version_id"
        "  AND v.document_id = %s RETURNING c.answer_id, c.number),"
        " counted AS (SELECT answer_id, count(*) AS quotes, jsonb_agg(number) AS numbers FROM lost GROUP BY answer_id),"
        " warned AS (UPDATE answer_runs a SET warnings = a.warnings || to_jsonb(n.quotes || CASE n.quotes WHEN 1"
        "  THEN ' quote' ELSE ' quotes' END || ' of a page that was removed on request'),"
        "  prose = a.prose || jsonb_build_object("
        "  'forgotten_citations', coalesce(a.prose -> 'forgotten_citations', '[]') || n.numbers,"
        "  'listed', (SELECT coalesce(jsonb_agg(l ORDER BY place), '[]') FROM jsonb_array_elements(a.prose -> 'listed')"
        "   WITH ORDINALITY e (l, place) WHERE NOT n.numbers @> (l -> 'citation'))) FROM counted n"
        "  WHERE a.id = n.answer_id)"
        " SELECT coalesce(sum(quotes), 0) FROM counted",
        (document_id,),
    )
    return int((await cursor.fetchone() or (0,))[0])


async def _remove_task_passages(connection: AsyncConnection, document_id: int) -> int:
    """Remove a document's passages and findings from the recorded tasks of answers. Returns the tasks."""
    cursor = await connection.execute(
        "WITH versions AS (SELECT id FROM document_versions WHERE document_id = %(document)s)"
        " UPDATE route_tasks t SET output = jsonb_set(jsonb_set(t.output,"
        " '{evidence}', (SELECT coalesce(jsonb_agg(e ORDER BY n), '[]')"
        "  FROM jsonb_array_elements(t.output -> 'evidence')"
        "  WITH ORDINALITY x (e, n) WHERE (e -> 'chunk' ->> 'document_id')::integer <> %(document)s)),"
        " '{findings}', (SELECT coalesce(jsonb_agg(f ORDER BY n), '[]')"
        "  FROM jsonb_array_elements(t.output -> 'findings')"
        "  WITH ORDINALITY x (f, n) WHERE (f ->> 'version_id')::integer NOT IN (SELECT id FROM versions)))"
        " WHERE EXISTS (SELECT FROM jsonb_array_elements(t.output -> 'evidence') e"
        "  WHERE (e -> 'chunk' ->> 'document_id')::integer = %(document)s)"
        " OR EXISTS (SELECT FROM jsonb_array_elements(t.output -> 'findings') f"
        "  WHERE (f ->> 'version_id')::integer IN (SELECT id FROM versions))",
        {"document": document_id},
    )
    return cursor.rowcount


async def _remove_mentions(connection: AsyncConnection, urls: Sequence[str]) -> Counter[str]:
    """Remove rows of other tables about these URLs."""
    counts: Counter[str] = Counter()
    await connection.execute(
        "INSERT INTO removed_lines AS r (run_id, lines) SELECT run_id, count(*) FROM fetch_log"
        " WHERE (url = ANY(%(urls)s) OR final_url = ANY(%(urls)s)) AND run_id IS NOT NULL AND outcome <> 'skipped'"
        " GROUP BY run_id ORDER BY run_id ON CONFLICT (run_id) DO UPDATE SET lines = r.lines + EXCLUDED.lines",
        {"urls": list(urls)},
    )
    counts["ledger_lines"] = await _delete(
        connection, "fetch_log", "url = ANY(%(urls)s) OR final_url = ANY(%(urls)s)", urls=list(urls)
    )
    counts["links"] = await _delete(connection, "link_candidates", LINKS_TO, urls=list(urls))
    counts["map_entries"] = await _delete(connection, "site_map_pages", "url = ANY(%(urls)s)", urls=list(urls))
    counts["inventory_symbols"] = await _delete(
        connection, "inventory_symbols", "page_url = ANY(%(urls)s)", urls=list(urls)
    )
    counts["skipped_urls"] = await _delete(connection, "skipped_urls", "url = ANY(%(urls)s)", urls=list(urls))
    counts["answer_rounds"] = await _redact_answers(connection, urls)
    for url in urls:
        await connection.execute(
            "UPDATE feedback SET text = replace(text, %(url)s, %(digest)s) WHERE strpos(text, %(url)s) > 0",
            {"url": url, "digest": REMOVED + _digest(url)},
        )
        await connection.execute(
            f"UPDATE refresh_runs SET warnings = {_OTHER_WARNINGS.format(column='warnings')}"  # noqa: S608
            " WHERE strpos(warnings::text, %(url)s) > 0",
            {"url": url},
        )
    return counts


async def _redact_tasks(connection: AsyncConnection, url: str) -> None:
    """Remove a URL from recorded tasks: as an address, and with every message that names it."""
    others = _OTHER_WARNINGS.format(column="output -> 'warnings'")
    await connection.execute(
        "UPDATE route_tasks SET"  # noqa: S608 (this module's own)
        " params = replace(params::text, to_json(%(url)s::text)::text, to_json(%(digest)s::text)::text)::jsonb,"
        " error = CASE WHEN strpos(error::text, %(url)s) > 0"
        "  THEN jsonb_set(error, '{message}', to_jsonb('about a page that was removed on request'::text))"
        "  ELSE error END,"
        " output = replace(jsonb_set(jsonb_set(output,"
        "  '{note}', CASE WHEN strpos(output ->> 'note', %(url)s) > 0 THEN '\"\"' ELSE output -> 'note' END),"
        f"  '{{warnings}}', {others})::text,"
        "  to_json(%(url)s::text)::text, to_json(%(digest)s::text)::text)::jsonb"
        " WHERE strpos(params::text || output::text || coalesce(error::text, ''), %(url)s) > 0",
        {"url": url, "digest": REMOVED + _digest(url)},
    )


async def _redact_answers(connection: AsyncConnection, urls: Sequence[str]) -> int:
    """Remove these URLs from stored answers: candidates and passages of rounds, seeds, options. Returns the rounds."""
    cursor = await connection.execute(
        "UPDATE answer_rounds SET"
        " chunks = (SELECT coalesce(jsonb_agg(c ORDER BY n), '[]') FROM jsonb_array_elements(chunks)"
        "  WITH ORDINALITY e (c, n) WHERE NOT c ->> 'url' = ANY(%(urls)s)),"
        " candidates = (SELECT coalesce(jsonb_agg(c ORDER BY n), '[]') FROM jsonb_array_elements(candidates)"
        "  WITH ORDINALITY e (c, n) WHERE NOT c ->> 'url' = ANY(%(urls)s) AND NOT c ->> 'from_url' = ANY(%(urls)s))"
        " WHERE EXISTS (SELECT FROM jsonb_array_elements(chunks || candidates) c"
        "  WHERE c ->> 'url' = ANY(%(urls)s) OR c ->> 'from_url' = ANY(%(urls)s))",
        {"urls": list(urls)},
    )
    for url in urls:
        await connection.execute(
            "UPDATE answer_runs SET"
            " seed_url = CASE WHEN seed_url = %(url)s THEN %(digest)s ELSE seed_url END,"
            " options = replace(options::text, to_json(%(url)s::text)::text, to_json(%(digest)s::text)::text)::jsonb,"
            " prose = regexp_replace(prose::text, %(named)s, %(digest)s, 'g')::jsonb,"
            " plan = regexp_replace(plan::text, %(named)s, %(digest)s, 'g')::jsonb,"
            " warnings = regexp_replace(warnings::text, %(named)s, %(digest)s, 'g')::jsonb"
            " WHERE seed_url = %(url)s OR strpos(options::text, %(url)s) > 0"
            " OR strpos(prose::text, %(url)s) > 0 OR strpos(plan::text, %(url)s) > 0"
            " OR strpos(warnings::text, %(url)s) > 0",
            {"url": url, "named": re.escape(url) + _NO_LONGER_ADDRESS, "digest": REMOVED + _digest(url)},
        )
        await _redact_tasks(connection, url)
    return cursor.rowcount


async def _remove_source(connection: AsyncConnection, source: Source) -> Counter[str]:
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
    await _delete(connection, "absent_map_files", "source_id = %(source)s", source=source.id)
    for name in ("site_map_pages", "inventory_symbols", "refresh_runs"):
        counts[name] = await _delete(connection, name, "source_id = %(source)s", source=source.id)
    counts["outbox_lines"] = await _delete(connection, "corpus_log", "source_id = %(source)s", source=source.id)
    # a refresh that runs may have stored a page since: the source stays with it, and the command can be run again
    counts["sources"] = await _delete(
        connection,
        "sources",
        "id = %(source)s AND NOT EXISTS (SELECT FROM documents WHERE source_id = %(source)s)",
        source=source.id,
    )
    return counts


async def _delete(connection: AsyncConnection, table: str, condition: str, **parameters: object) -> int:
    statement = f"DELETE FROM {table} WHERE {condition}"  # noqa: S608 (both are this module's own)
    return (await connection.execute(statement.encode(), parameters)).rowcount


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
