"""Check the invariants of the stored corpus, or of some documents, against the tables.

The invariants rest on state: pruned ledger and outbox lines (see `retention_horizons`) violate none of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import LiteralString

from psycopg import AsyncConnection, sql
from psycopg.rows import class_row

from webrag_core.store.database import Database
from webrag_core.store.vector_tables import vector_table


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken invariant: rule, location and description (`found`)."""

    rule: str
    where: str
    found: str


@dataclass(frozen=True, slots=True)
class _Chunk:
    id: int
    parent_id: int | None
    level: str
    char_start: int
    char_end: int
    body: str | None


@dataclass(frozen=True, slots=True)
class _Version:
    """A version with the columns of its chunks, which are empty (None) without chunks."""

    id: int
    number: int
    markdown: str
    sha256: str
    chunker: str | None
    canonical_url: str
    current_version: int | None
    chunk_ids: list[int] | None
    parent_ids: list[int | None] | None
    levels: list[str] | None
    starts: list[int] | None
    ends: list[int] | None
    bodies: list[str | None] | None

    def chunks(self) -> list[_Chunk]:
        columns = (self.chunk_ids, self.parent_ids, self.levels, self.starts, self.ends, self.bodies)
        return [_Chunk(*row) for row in zip(*(column or () for column in columns), strict=True)]


@dataclass(slots=True)
class VerificationCounts:
    """Rows checked, by kind."""

    documents: int = 0
    versions: int = 0
    parents: int = 0
    children: int = 0
    vectors: int = 0
    ledger_rows: int = 0


async def verify_corpus(database: Database, counted: VerificationCounts) -> AsyncIterator[Violation]:
    """Yield every violation and fill `counted`. Streams the versions, changes nothing."""
    async with database.snapshot() as connection:
        await connection.execute("SET LOCAL statement_timeout = 0")  # it looks at every row
        async for violation in verify_versions(connection, None, counted):
            yield violation
        for rule in _RULES:
            for violation in await _check(connection, rule):
                yield violation
        cursor = await connection.execute("SELECT id FROM embedding_models WHERE state = 'live'")
        for (model_id,) in await cursor.fetchall():
            for violation in await verify_vectors(connection, None, model_id):
                yield violation
            total = await connection.execute(sql.SQL("SELECT count(*) FROM {}").format(vector_table(model_id)))
            counted.vectors = int((await total.fetchone() or (0,))[0])
        counts = await connection.execute("SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM fetch_log)")
        counted.documents, counted.ledger_rows = await counts.fetchone() or (0, 0)


async def verify_slices(
    connection: AsyncConnection, versions: Sequence[int], counted: VerificationCounts
) -> list[Violation]:
    """Check hashes, slices, cover and partition of these versions; adds to `counted`."""
    return [violation async for violation in verify_versions(connection, versions, counted)]


async def verify_counts(connection: AsyncConnection, documents: Sequence[int]) -> list[Violation]:
    """Compare chunks and lexical entries of these documents with their recorded counts."""
    return [violation for rule in _COUNTS for violation in await _check(connection, rule, documents)]


async def verify_ledger(connection: AsyncConnection, source: str, documents: Sequence[int]) -> list[Violation]:
    """Check the ledger lines of these documents and the balances of the latest refreshes of their source."""
    return [violation for rule in _LEDGER for violation in await _check(connection, rule, documents, source)]


async def verify_vectors(
    connection: AsyncConnection, documents: Sequence[int] | None, model_id: int
) -> list[Violation]:
    """Check that every child of a current version of these documents (None = all) has one vector, or is noted as
    without (`texts_without_vector`), and nothing else."""
    cursor = await connection.execute(
        sql.SQL(_VECTORS).format(vectors=vector_table(model_id), **_FRAGMENTS),
        {"documents": None if documents is None else list(documents), "model": model_id},
        prepare=False,
    )
    return [
        Violation("vectors", str(where), f"{without} children without a vector, {stray} vectors without a child")
        for where, without, stray in await cursor.fetchall()
    ]


async def verify_versions(
    connection: AsyncConnection, versions: Sequence[int] | None, counted: VerificationCounts
) -> AsyncIterator[Violation]:
    """Check hash, slices, cover and partition of these versions (None = all); adds to `counted`.

    Streams the versions with one query. Needs a transaction.
    """
    async with connection.cursor("versions", row_factory=class_row(_Version)) as cursor:
        cursor.itersize = _AT_A_TIME  # each fetch is a statement, so the statement timeout holds for few versions
        await cursor.execute(_VERSIONS, {"versions": None if versions is None else list(versions)}, binary=True)
        async for version in cursor:
            for violation in _verify_version(version, counted):
                yield violation


def _verify_version(version: _Version, counted: VerificationCounts) -> Iterator[Violation]:
    chunks = version.chunks()
    counted.versions += 1
    text, where = version.markdown, f"{version.canonical_url} v{version.number}"
    if hashlib.sha256(text.encode()).hexdigest() != version.sha256:
        yield Violation("version-hash", where, "sha256 of the text differs from the stored one")
    by_id = {chunk.id: chunk for chunk in chunks}
    for chunk in chunks:
        if text[chunk.char_start : chunk.char_end] != _stored_text(chunk, by_id):
            yield Violation("slice", where, f"chunk {chunk.id} is not its slice")
    parents = [chunk for chunk in chunks if chunk.level == "parent"]
    children = [chunk for chunk in chunks if chunk.level == "child"]
    counted.parents += len(parents)
    counted.children += len(children)
    if version.current_version == version.id or version.chunker is not None:
        gap = _uncovered(text, 0, len(text), [(c.char_start, c.char_end) for c in parents])
        if gap is not None:
            yield Violation("parents-cover", where, f"text at {gap} lies in no parent or in two")
    families: dict[int, list[tuple[int, int]]] = {parent.id: [] for parent in parents}
    for child in children:
        if child.parent_id not in families:
            yield Violation("parent-exists", where, f"child {child.id} has no parent in its version")
        else:
            families[child.parent_id].append((child.char_start, child.char_end))
    for parent in parents:
        spans = families[parent.id]
        inside = spans and spans[0][0] >= parent.char_start and spans[-1][1] <= parent.char_end
        if not inside or _uncovered(text, parent.char_start, parent.char_end, spans) is not None:
            yield Violation("children-partition", where, f"children do not partition parent {parent.id}")


def _stored_text(chunk: _Chunk, by_id: Mapping[int, _Chunk]) -> str | None:
    """Return the text of a chunk; a child's text is a slice of its parent's body."""
    if chunk.body is not None:
        return chunk.body
    parent = by_id.get(chunk.parent_id or 0)
    if parent is None or parent.body is None:
        return None
    return parent.body[max(0, chunk.char_start - parent.char_start) : max(0, chunk.char_end - parent.char_start)]


def _uncovered(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> int | None:
    """Return the offset of the first character covered by no span or by several; blanks between spans are ignored."""
    position = start
    for begin, stop in spans:
        if begin < position or text[position:begin].strip():
            return position
        position = stop
    return position if text[position:end].strip() else None


@dataclass(frozen=True, slots=True)
class _Rule:
    """An invariant: a query that selects (where, description) of each violation.

    `%(documents)s` limits it to some documents and `%(source)s` to one source; NULL means all.
    """

    name: str
    query: LiteralString


_SELECTED = "(%(documents)s::integer[] IS NULL OR d.id = ANY(%(documents)s::integer[]))"
_FRAGMENTS = {
    "selected": sql.SQL(_SELECTED),
    "ledger_pruned": sql.SQL(
        "(SELECT coalesce(max(pruned_before), '-infinity') FROM retention_horizons WHERE history = 'fetch_log')"
    ),
    "outbox_pruned": sql.SQL(
        "(SELECT coalesce(max(pruned_before), '-infinity') FROM retention_horizons WHERE history = 'corpus_log')"
    ),
}
_REFRESHES = 20
"""The latest refreshes of a source whose balance is checked with it."""

_COUNTS = (
    _Rule(
        "chunk-count",
        "SELECT d.canonical_url || ' v' || v.number, count(c.id) FILTER (WHERE c.level = 'parent') || ' + ' ||"
        " count(c.id) FILTER (WHERE c.level = 'child') || ' chunks, expected ' || concat_ws(' + ',"
        "  coalesce(v.parent_count::text, '?'), coalesce(v.child_count::text, '?'))"
        " FROM document_versions v JOIN documents d ON d.id = v.document_id LEFT JOIN chunks c ON c.version_id = v.id"
        " WHERE {selected} AND (v.chunker IS NOT NULL OR v.id = d.current_version) GROUP BY v.id, d.canonical_url"
        " HAVING count(c.id) FILTER (WHERE c.level = 'parent') IS DISTINCT FROM v.parent_count"
        " OR count(c.id) FILTER (WHERE c.level = 'child') IS DISTINCT FROM v.child_count ORDER BY 1",
    ),
    _Rule(
        "lexical-parent-count",
        "SELECT d.canonical_url, coalesce(l.parents, 0) || ' parents in the lexical index, ' ||"
        " coalesce(v.parent_count, 0) || ' chunked' FROM documents d JOIN document_versions v"
        " ON v.id = d.current_version LEFT JOIN lexical_documents l ON l.document_id = d.id"
        " WHERE {selected} AND l.parents IS DISTINCT FROM v.parent_count ORDER BY 1",
    ),
    _Rule(
        "ready-has-chunks",
        "SELECT d.canonical_url, 'no chunk of its current version' FROM documents d WHERE {selected}"
        " AND d.status = 'ready' AND NOT EXISTS (SELECT FROM chunks c WHERE c.version_id = d.current_version)"
        " ORDER BY 1",
    ),
)
_LEDGER = (
    _Rule(
        "ledger-knows-document",
        "SELECT d.canonical_url, CASE WHEN d.last_outcome IS NULL THEN 'no outcome of a fetch'"
        " WHEN f.id IS NULL THEN 'its last line is missing from the ledger'"
        " ELSE 'last outcome ' || d.last_outcome || ', in the ledger ' || f.outcome END"
        " FROM documents d LEFT JOIN fetch_log f ON f.id = d.last_fetch WHERE {selected} AND (d.last_outcome IS NULL"
        " OR f.id IS NULL AND d.last_fetch_at >= {ledger_pruned}"
        " OR (f.outcome, f.reason, f.run_id) IS DISTINCT FROM (d.last_outcome, d.last_reason, d.last_run)"
        " AND f.id IS NOT NULL) ORDER BY 1",
    ),
    # for selected documents the last lines, for the whole corpus all lines
    _Rule(
        "ledger-leads-to-document",
        "SELECT f.url, f.outcome || ', but no document exists' FROM ("
        "  SELECT l.url, l.final_url, l.outcome FROM fetch_log l WHERE %(documents)s::integer[] IS NULL"
        "  UNION ALL SELECT l.url, l.final_url, l.outcome FROM documents o JOIN fetch_log l ON l.id = o.last_fetch"
        "  WHERE o.id = ANY(%(documents)s::integer[])) f WHERE f.outcome IN ('fetched', 'unchanged')"
        " AND NOT EXISTS (SELECT FROM documents d WHERE d.canonical_url = coalesce(f.final_url, f.url))"
        " AND NOT EXISTS (SELECT FROM url_aliases a WHERE a.url = f.url) ORDER BY 1",
    ),
    # lines of forgotten pages are gone; a refresh that ran meanwhile may have counted them or not
    _Rule(
        "refresh-balances",
        "SELECT r.key || ' ' || r.run_id, r.discovered || ' known; ' || r.fetched || ' fetched, ' || r.unchanged"
        " || ' unchanged, ' || r.failed || ' failed, ' || r.skipped || ' skipped, ' || r.not_due || ' not due, '"
        " || r.put_off || ' put off;"
        " ledger: '"
        " || f.fetched || ' fetched, ' || f.unchanged || ' unchanged, ' || f.failed || ' failed, ' || r.removed"
        " || ' removed' FROM (SELECT x.*, s.key, coalesce(n.lines, 0) AS removed FROM refresh_runs x"
        "  JOIN sources s ON s.id = x.source_id LEFT JOIN removed_lines n ON n.run_id = x.run_id"
        "  WHERE %(source)s::text IS NULL OR s.key = %(source)s ORDER BY x.started_at DESC LIMIT %(refreshes)s) r"
        " CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE l.outcome = 'fetched') AS fetched,"
        "  count(*) FILTER (WHERE l.outcome = 'unchanged') AS unchanged,"
        "  count(*) FILTER (WHERE l.outcome = 'failed') AS failed FROM fetch_log l WHERE l.run_id = r.run_id) f"
        " WHERE r.discovered <> r.fetched + r.unchanged + r.failed + r.skipped + r.not_due + r.put_off"
        " OR r.started_at >= {ledger_pruned} AND CASE WHEN r.removed = 0"
        "  THEN (r.fetched, r.unchanged, r.failed) <> (f.fetched, f.unchanged, f.failed)"
        "  ELSE r.fetched + r.unchanged + r.failed - f.fetched - f.unchanged - f.failed NOT BETWEEN 0 AND r.removed END"
        " ORDER BY 1",
    ),
)
_RULES = (
    *_COUNTS,
    _Rule(
        "sizes-of-sources",
        "SELECT s.key, concat(k.sizes::text, ' kept, ', a.sizes::text, ' added up') FROM ("
        "  SELECT source_id, kind, ARRAY[sum(documents), sum(parents), sum(children), sum(tokens), sum(indexed),"
        "   sum(length)] AS sizes FROM source_sizes GROUP BY source_id, kind) k FULL JOIN ("
        "  SELECT source_id, kind, ARRAY[count(z.document_id), coalesce(sum(z.parents), 0),"
        "   coalesce(sum(z.children), 0), coalesce(sum(z.tokens), 0), coalesce(sum(l.parents), 0),"
        "   coalesce(sum(l.length), 0)] AS sizes FROM documents d LEFT JOIN document_sizes z ON z.document_id = d.id"
        "  LEFT JOIN lexical_documents l ON l.document_id = d.id GROUP BY source_id, kind) a USING (source_id, kind)"
        " JOIN sources s ON s.id = source_id CROSS JOIN (SELECT array_fill(0.0, ARRAY[6]) AS sizes) z"
        " WHERE coalesce(k.sizes, z.sizes) <> coalesce(a.sizes, z.sizes) ORDER BY 1, 2",
    ),
    _Rule(
        "sizes-of-months",
        "SELECT s.key, concat(k.sizes::text, ' kept, ', a.sizes::text, ' added up') FROM ("
        "  SELECT source_id, kind, months, ARRAY[sum(documents), sum(parents), sum(children), sum(tokens),"
        "   sum(indexed), sum(length)] AS sizes FROM month_sizes GROUP BY source_id, kind, months) k FULL JOIN ("
        "  SELECT source_id, kind, months, ARRAY[count(z.document_id), coalesce(sum(z.parents), 0),"
        "   coalesce(sum(z.children), 0), coalesce(sum(z.tokens), 0), coalesce(sum(l.parents), 0),"
        "   coalesce(sum(l.length), 0)] AS sizes FROM documents d LEFT JOIN document_sizes z ON z.document_id = d.id"
        "  LEFT JOIN lexical_documents l ON l.document_id = d.id WHERE months <> 0 GROUP BY source_id, kind, months) a"
        " USING (source_id, kind, months) JOIN sources s ON s.id = source_id"
        " CROSS JOIN (SELECT array_fill(0.0, ARRAY[6]) AS sizes) z"
        " WHERE coalesce(k.sizes, z.sizes) <> coalesce(a.sizes, z.sizes) ORDER BY 1, 2",
    ),
    *_LEDGER,
    _Rule(
        "current-version-of-its-document",
        "SELECT d.canonical_url, 'its current version belongs to another document' FROM documents d"
        " JOIN document_versions v ON v.id = d.current_version WHERE {selected} AND v.document_id <> d.id",
    ),
    _Rule(
        "kind-of-current-version",
        "SELECT d.canonical_url, 'noted: ' || coalesce(k.kind::text, 'nothing') || ', its current version: '"
        " || w.kind::text FROM documents d JOIN document_versions v ON v.id = d.current_version CROSS JOIN LATERAL ("
        "  SELECT (language, declared, type) AS kind FROM kind_words(v.language, v.detected_language, v.media_type)) w"
        " LEFT JOIN LATERAL (SELECT (language, declared, type) AS kind FROM page_kinds WHERE id = d.kind) k ON true"
        " WHERE {selected} AND k.kind IS DISTINCT FROM w.kind ORDER BY 1",
    ),
    _Rule(
        "months-of-current-version",
        "SELECT d.canonical_url, 'noted: ' || coalesce(m.months::text, 'nothing') || ', its current version: '"
        " || w.months::text FROM documents d JOIN document_versions v ON v.id = d.current_version CROSS JOIN LATERAL ("
        "  SELECT (month_of(v.published), month_of(v.modified)) AS months) w"
        " LEFT JOIN LATERAL (SELECT (published, modified) AS months FROM page_months WHERE id = d.months) m ON true"
        " WHERE {selected} AND m.months IS DISTINCT FROM w.months"
        " AND (d.months <> 0 OR v.published IS NOT NULL OR v.modified IS NOT NULL) ORDER BY 1",
    ),
    _Rule(
        "newest-version-is-noted",
        "SELECT d.canonical_url, 'the version that was read last is another than the noted one' FROM documents d"
        " WHERE {selected} AND d.newest_version IS DISTINCT FROM (SELECT v.id FROM document_versions v"
        "  WHERE v.document_id = d.id ORDER BY v.fetched_at DESC, v.number DESC LIMIT 1) ORDER BY 1",
    ),
    _Rule(
        "needed-text-is-kept",
        "SELECT d.canonical_url || ' v' || v.number, 'current or cited, and its text was pruned'"
        " FROM document_versions v JOIN documents d ON d.id = v.document_id WHERE {selected}"
        " AND v.pruned_at IS NOT NULL"
        " AND (v.id = d.current_version OR EXISTS (SELECT FROM citations c WHERE c.version_id = v.id))",
    ),
    _Rule(
        "suggestions-stand-in-their-text",
        "SELECT d.canonical_url || ' v' || v.number, 'the span that feedback ' || f.id || ' suggests is another'"
        " FROM feedback f JOIN document_versions v ON v.id = f.suggested_version JOIN documents d"
        " ON d.id = v.document_id WHERE {selected} AND f.state <> 'rejected' AND (v.markdown IS NULL"
        "  OR substring(v.markdown FROM (f.suggested ->> 'char_start')::integer + 1"
        "   FOR (f.suggested ->> 'char_end')::integer - (f.suggested ->> 'char_start')::integer)"
        "  <> f.suggested ->> 'quote' OR encode(sha256(convert_to(f.suggested ->> 'quote', 'UTF8')), 'hex')"
        "  <> f.suggested ->> 'sha256') ORDER BY f.id",
    ),
    _Rule(
        "shown-passages-are-quoted",
        "SELECT DISTINCT 'answer ' || e.answer_id, 'says that it shows a passage, and quotes none of its page'"
        " FROM exposures e JOIN chunks k ON k.id = e.chunk_id JOIN documents d ON d.id = k.document_id"
        " WHERE {selected} AND e.shown AND NOT EXISTS (SELECT FROM citations c WHERE c.answer_id = e.answer_id"
        "  AND c.version_id = k.version_id AND c.char_start < k.char_end AND k.char_start < c.char_end) ORDER BY 1",
    ),
    _Rule(
        "gone-is-out-of-the-index",
        "SELECT d.canonical_url, 'gone, and indexed' FROM documents d WHERE {selected} AND d.status = 'gone'"
        " AND (d.current_version IS NOT NULL OR EXISTS (SELECT FROM chunks c WHERE c.document_id = d.id))",
    ),
    _Rule(
        "postings-of-current-parents",
        "SELECT DISTINCT p.chunk_id::text, 'postings of no current parent' FROM lexical_postings p"
        " LEFT JOIN chunks c ON c.id = p.chunk_id LEFT JOIN documents d ON d.id = p.document_id"
        " WHERE {selected} AND (c.id IS NULL OR c.level <> 'parent'"
        "  OR c.version_id IS DISTINCT FROM d.current_version)",
    ),
    _Rule(
        "outbox-knows-version",
        "SELECT d.canonical_url, 'its current version was not announced' FROM documents d"
        " WHERE {selected} AND d.current_version IS NOT NULL AND ("
        "  d.announced_version IS DISTINCT FROM d.current_version OR d.announced_at >= {outbox_pruned} AND NOT EXISTS"
        "  (SELECT FROM corpus_log l WHERE l.id = d.announcement AND l.version_id = d.current_version))",
    ),
    _Rule(
        "periods-follow-each-other",
        "SELECT p.canonical_url, 'its period from ' || p.seen_from || ' ends ' || coalesce(p.seen_until::text, 'never')"
        " || ', the next begins ' || coalesce(p.next_from::text, 'never') FROM (SELECT d.canonical_url, o.*,"
        "  lead(o.seen_from) OVER (PARTITION BY o.document_id ORDER BY o.seen_from) AS next_from"
        "  FROM version_periods o JOIN documents d ON d.id = o.document_id WHERE {selected}) p"
        " WHERE p.seen_until IS DISTINCT FROM p.next_from",
    ),
    _Rule(
        "periods-of-their-source",
        "SELECT d.canonical_url, count(*) || ' periods are listed with another source' FROM version_periods p"
        " JOIN documents d ON d.id = p.document_id WHERE {selected} AND p.source_id <> d.source_id"
        " GROUP BY d.canonical_url ORDER BY 1",
    ),
    _Rule(
        "sightings-lie-in-periods",
        "SELECT d.canonical_url || ' v' || v.number, 'seen ' || s.at || ', outside of its periods' FROM"
        "  (SELECT id AS version_id, fetched_at AS at FROM document_versions"
        "   UNION SELECT version_id, seen_at FROM fetch_log WHERE version_id IS NOT NULL) s"
        " JOIN document_versions v ON v.id = s.version_id JOIN documents d ON d.id = v.document_id"
        # of two texts at one instant the newer one has the period
        " WHERE {selected} AND NOT EXISTS (SELECT FROM version_periods p WHERE p.document_id = d.id"
        "  AND p.version_id >= v.id AND s.at BETWEEN p.seen_from AND p.seen_last)"
        # texts that a history has, dated by when they hold, need never have been seen as the page
        " AND NOT EXISTS (SELECT FROM version_validity y WHERE y.version_id = v.id"
        "  AND y.basis IN ('history', 'undated'))",
    ),
    _Rule(
        "statements-stand-in-their-text",
        "SELECT d.canonical_url || ' v' || v.number, 'says something of its validity beyond its end'"
        " FROM version_validity y JOIN document_versions v ON v.id = y.version_id"
        " JOIN documents d ON d.id = v.document_id WHERE {selected} AND v.pruned_at IS NULL"
        " AND y.char_end > length(v.markdown) ORDER BY 1",
    ),
    _Rule(
        "edges-stand-in-their-text",
        "SELECT d.canonical_url, count(*) || ' edges beyond the end of their text' FROM graph_edges e"
        " JOIN document_versions v ON v.id = e.version_id JOIN documents d ON d.id = e.document_id WHERE {selected}"
        " AND v.pruned_at IS NULL AND (v.document_id <> d.id OR e.char_end > v.characters)"
        " GROUP BY d.canonical_url ORDER BY 1",
    ),
    _Rule(
        "stated-edges-have-their-markup",
        "SELECT d.canonical_url, count(*) || ' edges that neither text nor markup states' FROM graph_edges e"
        " JOIN documents d ON d.id = e.document_id WHERE {selected} AND e.statement IS NOT NULL"
        " AND e.seen_until IS NULL AND NOT EXISTS (SELECT FROM version_markup m WHERE m.version_id = e.version_id)"
        " GROUP BY d.canonical_url ORDER BY 1",
    ),
    _Rule(
        "live-edges-are-of-the-current-version",
        "SELECT d.canonical_url, count(*) || ' live edges of another version' FROM graph_edges e"
        " JOIN documents d ON d.id = e.document_id WHERE {selected} AND e.seen_until IS NULL"
        " AND d.current_version IS DISTINCT FROM e.version_id GROUP BY d.canonical_url ORDER BY 1",
    ),
    _Rule(
        "edges-are-counted",
        "SELECT d.canonical_url, g.edges || ' edges written, ' || n.edges || ' there' FROM graph_documents g"
        " JOIN documents d ON d.id = g.document_id CROSS JOIN LATERAL (SELECT count(*) AS edges FROM graph_edges e"
        "  WHERE e.document_id = d.id AND e.seen_until IS NULL) n WHERE {selected} AND n.edges <> g.edges ORDER BY 1",
    ),
    _Rule(
        "edges-have-nodes",
        "SELECT d.canonical_url, count(*) || ' edges of nodes that do not exist' FROM graph_edges e"
        " JOIN documents d ON d.id = e.document_id WHERE {selected}"
        " AND (NOT EXISTS (SELECT FROM graph_nodes n WHERE n.id = e.src)"
        "  OR NOT EXISTS (SELECT FROM graph_nodes n WHERE n.id = e.dst)"
        "  OR NOT EXISTS (SELECT FROM graph_nodes n WHERE n.id = e.place)) GROUP BY d.canonical_url ORDER BY 1",
    ),
    _Rule(
        "edges-have-a-page",
        "SELECT 'document ' || e.document_id, count(*) || ' edges of no document' FROM graph_edges e"
        " WHERE %(documents)s::integer[] IS NULL AND NOT EXISTS (SELECT FROM documents d WHERE d.id = e.document_id)"
        " GROUP BY e.document_id ORDER BY 1",
    ),
    _Rule(
        "alias-is-no-document",
        "SELECT a.url, 'an alias, and a searchable document' FROM url_aliases a JOIN documents d"
        " ON d.canonical_url = a.url AND d.id <> a.document_id"
        " WHERE {selected} AND d.current_version IS NOT NULL",
    ),
    _Rule(
        "window-vectors-have-unit-length",
        "SELECT 'text ' || text_sha256, 'length ' || round(l2_norm(embedding)::numeric, 3) FROM window_vectors"
        " WHERE %(documents)s::integer[] IS NULL AND abs(l2_norm(embedding) - 1) > .01 ORDER BY 1",
    ),
)
RULES = (
    *("version-hash", "slice", "parents-cover", "parent-exists", "children-partition", "vectors"),
    *(rule.name for rule in _RULES),
)
"""Names of all rules. `tables` says which tables each is about."""
_VECTORS = (
    "SELECT coalesce(d.canonical_url, 'document ' || w.document_id), count(*) FILTER (WHERE w.vector IS NULL),"
    " count(*) FILTER (WHERE w.child IS NULL) FROM"
    " (SELECT coalesce(c.document_id, e.document_id) AS document_id, c.id AS child, e.chunk_id AS vector FROM"
    "  (SELECT k.id, k.document_id, k.embed_sha256 FROM chunks k JOIN documents d ON d.current_version = k.version_id"
    "   WHERE k.level = 'child' AND {selected}) c"
    "  FULL JOIN (SELECT chunk_id, document_id FROM {vectors} WHERE %(documents)s::integer[] IS NULL"
    "   OR document_id = ANY(%(documents)s::integer[])) e ON e.chunk_id = c.id"
    "  WHERE c.id IS NULL OR (e.chunk_id IS NULL AND NOT EXISTS (SELECT FROM texts_without_vector t"
    "   WHERE t.model_id = %(model)s AND t.text_sha256 = c.embed_sha256))) w"
    " LEFT JOIN documents d ON d.id = w.document_id GROUP BY 1, w.document_id ORDER BY 1"
)


_AT_A_TIME = 20
_VERSIONS = (
    "SELECT v.id, v.number, v.markdown, v.sha256, v.chunker, d.canonical_url, d.current_version,"
    " c.chunk_ids, c.parent_ids, c.levels, c.starts, c.ends, c.bodies"
    " FROM document_versions v JOIN documents d ON d.id = v.document_id CROSS JOIN LATERAL"
    "  (SELECT array_agg(o.id) AS chunk_ids, array_agg(o.parent_id) AS parent_ids, array_agg(o.level) AS levels,"
    "   array_agg(o.char_start) AS starts, array_agg(o.char_end) AS ends, array_agg(o.body) AS bodies"
    "   FROM (SELECT * FROM chunks k WHERE k.version_id = v.id ORDER BY k.char_start, k.char_end) o) c"
    " WHERE v.pruned_at IS NULL AND (%(versions)s::integer[] IS NULL OR v.id = ANY(%(versions)s::integer[]))"
    " ORDER BY v.id"
)


async def explain_ledger(
    connection: AsyncConnection, source: str, documents: Sequence[int]
) -> list[tuple[str, list[str]]]:
    """Return the plans of `verify_ledger` as (rule, lines), for benchmarks."""
    plans = []
    for rule in _LEDGER:
        query = sql.SQL("EXPLAIN (COSTS OFF) ") + sql.SQL(rule.query).format(**_FRAGMENTS)
        cursor = await connection.execute(query, _parameters(documents, source), prepare=False)
        plans.append((rule.name, [str(row[0]) for row in await cursor.fetchall()]))
    return plans


def _parameters(documents: Sequence[int] | None, source: str | None) -> dict[str, object]:
    return {
        "documents": None if documents is None else list(documents),
        "source": source,
        "refreshes": None if source is None else _REFRESHES,
    }


async def _check(
    connection: AsyncConnection, rule: _Rule, documents: Sequence[int] | None = None, source: str | None = None
) -> list[Violation]:
    # never prepared: a generic plan could not drop the filters that are NULL
    query = sql.SQL(rule.query).format(**_FRAGMENTS)
    cursor = await connection.execute(query, _parameters(documents, source), prepare=False)
    return [Violation(rule.name, str(where), str(description)) for where, description in await cursor.fetchall()]
