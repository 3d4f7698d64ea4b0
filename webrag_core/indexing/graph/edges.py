"""Tables `graph_nodes`, `graph_edges`, `graph_documents`: the edges of current pages, and when they were seen.

The edges of a page change with the transaction that makes a version current. What both versions say keeps the time
since which it is said and moves to the new span; what the new one does not say any more ends where its period begins.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from psycopg import AsyncConnection, AsyncCursor

from webrag_core.conversion.markup.models import PageMarkup
from webrag_core.corpus.documents import StoredVersion, lock_urls
from webrag_core.corpus.markup import decode
from webrag_core.errors import IntegrityError
from webrag_core.indexing.graph.extract import extract_edges
from webrag_core.indexing.graph.listed import ListedSymbol
from webrag_core.indexing.graph.model import EXTRACTION_VERSION, Edge, Extraction, Node
from webrag_core.indexing.graph.relations import LinkTarget
from webrag_core.indexing.markdown import Block
from webrag_core.store.database import Database

# removal on request deletes nodes, under the same lock for itself alone
_NODES_STAY = "SELECT pg_advisory_xact_lock_shared(hashtextextended('graph nodes', 0))"
_ATTEMPTS = 5  # to write edges whose nodes a removal deletes meanwhile

Identity = tuple[int, str, int, int, str]
"""What tells the edges of a page apart: source, kind, target, place, the property of a typed one."""

OF_PAGE = (
    "i.source_id = d.source_id AND i.page_url IN (SELECT d.canonical_url UNION ALL"
    " SELECT a.url FROM url_aliases a WHERE a.document_id = d.id)"
)
"""Condition: the inventory symbol `i` stands on the page of document `d`."""
INPUTS_HASH = (
    # as `concat_ws(' ', l.target_url, l.in_navigation, l.nofollow)`, of which hundreds took a third longer
    "((SELECT coalesce(bit_xor(hashtextextended(l.target_url || CASE"  # noqa: S608
    " WHEN l.in_navigation THEN CASE WHEN l.nofollow THEN ' t t' ELSE ' t f' END"
    " WHEN l.nofollow THEN ' f t' ELSE ' f f' END, 0)), 0)"
    "  FROM link_candidates l WHERE l.version_id = v.id)"
    " # coalesce((SELECT m.digest FROM version_markup m WHERE m.version_id = v.id), 0)"
    " # (SELECT coalesce(bit_xor(hashtextextended(concat_ws(' ', i.name, i.anchor), 1)), 0) FROM inventory_symbols i"
    f"  WHERE {OF_PAGE}))"
)
"""Hash of what the edges of version `v` of document `d` are made of beside the text, in any order."""
UP_TO_DATE = (
    "EXISTS (SELECT FROM graph_documents g JOIN sources s ON s.id = d.source_id WHERE g.document_id = d.id"
    f" AND g.version_id = v.id AND g.extraction = '{EXTRACTION_VERSION}' AND g.source_key = s.key"
    f" AND g.inputs = {INPUTS_HASH})"
)
"""Condition: the edges of document `d` are those of version `v`."""


_INPUTS = (
    f"SELECT v.id, s.key, {INPUTS_HASH}, m.content,"  # noqa: S608
    "  (SELECT array_agg(ARRAY[i.name, i.anchor] ORDER BY i.name, i.anchor) FROM inventory_symbols i"
    f"   WHERE {OF_PAGE}), l.urls, l.navigation, l.nofollow"
    " FROM document_versions v JOIN documents d ON d.id = v.document_id JOIN sources s ON s.id = d.source_id"
    " LEFT JOIN version_markup m ON m.version_id = v.id CROSS JOIN LATERAL"
    "  (SELECT array_agg(t.url) AS urls, array_agg(t.navigation) AS navigation, array_agg(t.nofollow) AS nofollow"
    "   FROM (SELECT c.target_url AS url, bool_and(c.in_navigation) AS navigation, bool_and(c.nofollow) AS nofollow"
    "    FROM link_candidates c WHERE c.version_id = v.id GROUP BY c.target_url) t) l"
    " WHERE v.id = {}"
)


@dataclass(frozen=True, slots=True)
class PageInputs:
    """What edges are made of, beside the text: the source's key, link candidates, markup, symbols that an inventory has
    on the page; and the hash of all these."""

    source_key: str
    links: Mapping[str, LinkTarget]
    markup: PageMarkup
    symbols: Sequence[ListedSymbol]
    digest: int


_LIVE = (
    "SELECT id, src, kind, dst, place, version_id, CASE kind WHEN 'typed' THEN label ELSE '' END, seen_from"
    " FROM graph_edges WHERE document_id = %s AND seen_until IS NULL"
)
_DONE = (
    "INSERT INTO graph_documents (document_id, version_id, extraction, source_key, inputs, edges, reason)"
    " SELECT * FROM unnest(%s::int[], %s::int[], %s::text[], %s::text[], %s::bigint[], %s::int[], %s::text[])"
    " ON CONFLICT (document_id) DO UPDATE SET version_id = EXCLUDED.version_id,"
    " extraction = EXCLUDED.extraction, source_key = EXCLUDED.source_key, inputs = EXCLUDED.inputs,"
    " edges = EXCLUDED.edges, reason = EXCLUDED.reason, counted = false"
)


class _Live(NamedTuple):
    """A live edge in the table: its id, the version that says so, the time since which one does."""

    id: int
    version_id: int
    seen_from: datetime


@dataclass(frozen=True, slots=True)
class _Row:
    src: int
    kind: str
    dst: int
    place: int
    edge: Edge

    @property
    def identity(self) -> Identity:
        return (self.src, self.kind, self.dst, self.place, self.edge.name)


async def ask_inputs(connection: AsyncConnection, versions: Sequence[int]) -> AsyncCursor:
    """Ask for what the edges of versions depend on; see `read_inputs`. May be part of a pipeline."""
    single = len(versions) == 1  # for a list the server plans anew each time
    return await connection.execute(
        _INPUTS.format("%s" if single else "ANY(%s)").encode(), (versions[0] if single else list(versions),)
    )


async def read_inputs(cursor: AsyncCursor) -> dict[int, PageInputs]:
    """Read what `ask_inputs` asked, by version."""
    inputs = {}
    for version, key, digest, content, listed, *columns in await cursor.fetchall():
        links = {
            str(url): LinkTarget(bool(navigation), bool(nofollow))
            for url, navigation, nofollow in zip(*(column or () for column in columns), strict=True)
        }
        symbols = [ListedSymbol(str(name), str(anchor)) for name, anchor in listed or ()]
        inputs[int(version)] = PageInputs(str(key), links, decode(content), symbols, int(digest))
    return inputs


_NO_INPUTS = PageInputs("", {}, decode(None), (), 0)


async def page_inputs(connection: AsyncConnection, version: StoredVersion) -> PageInputs:
    """Read what the edges of a version depend on."""
    return (await read_inputs(await ask_inputs(connection, [version.id]))).get(version.id, _NO_INPUTS)


def edges_of(version: StoredVersion, inputs: PageInputs, blocks: Sequence[Block] | None = None) -> Extraction:
    """The edges of a version."""
    return extract_edges(
        version.markdown,
        url=version.canonical_url,
        source=inputs.source_key,
        links=inputs.links,
        markup=inputs.markup,
        symbols=inputs.symbols,
        blocks=blocks,
    )


async def resolve_nodes(connection: AsyncConnection, extraction: Extraction) -> dict[Node, int]:
    """Ids of all nodes; new ones get one. Needs autocommit, as `TermLookup` does."""
    lookup = NodeLookup(extraction)
    for _ in range(2):
        await lookup.ask(connection)
        await lookup.read(connection)
    return lookup.ids


# what is new is not flushed by itself: the commit of the edges that need it is written behind it, and flushes both
_NODE_IDS = """
WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS is),
wanted AS (SELECT w.* FROM quick, unnest(%s::text[], %s::text[], %s::text[]) AS w (kind, key, label)
    WHERE quick.is = 'off'),
known AS MATERIALIZED (
    SELECT n.kind, n.key, n.id, n.kind = 'entity' AND n.label = '' AS nameless
    FROM wanted w JOIN graph_nodes n ON n.key = w.key AND n.kind = w.kind
),
new AS (
    INSERT INTO graph_nodes (kind, key, label)
    SELECT * FROM wanted w WHERE NOT EXISTS (SELECT FROM known k WHERE k.key = w.key AND k.kind = w.kind)
    ORDER BY w.kind COLLATE "C", w.key COLLATE "C"
    ON CONFLICT DO NOTHING RETURNING kind, key, id
)
TABLE known UNION ALL SELECT kind, key, id, false FROM new
"""


class NodeLookup:
    """The ids of the nodes of pages; new nodes get one. Ask, read, and once more where some are `unknown`: those that
    somebody else made meanwhile."""

    def __init__(self, *extractions: Extraction) -> None:
        self._nodes = _nodes(*extractions)
        # of two labels one that is not empty
        self._by_key = {(node.kind, node.key): node for node in sorted(self._nodes)}
        self._ids: dict[tuple[str, str], int] = {}
        self._cursor: AsyncCursor | None = None

    @property
    def ids(self) -> dict[Node, int]:
        """Id of each node that has one."""
        return {node: self._ids[node.kind, node.key] for node in self._nodes if (node.kind, node.key) in self._ids}

    @property
    def unknown(self) -> bool:
        """Whether a node has no id yet."""
        return len(self._ids) < len(self._by_key)

    async def ask(self, connection: AsyncConnection) -> None:
        """Send the statement, which may be part of a pipeline."""
        missing = sorted(self._by_key.keys() - self._ids.keys())
        if missing:
            labels = [self._by_key[part].label for part in missing]
            self._cursor = await connection.execute(
                _NODE_IDS, ([kind for kind, _ in missing], [key for _, key in missing], labels)
            )

    async def read(self, connection: AsyncConnection) -> None:
        """Take in what was asked last, and name entities that other pages only refer to."""
        cursor, self._cursor = self._cursor, None
        if cursor is None:
            return
        named: dict[int, str] = {}
        for kind, key, node, nameless in await cursor.fetchall():
            self._ids[str(kind), str(key)] = int(node)
            if nameless and self._by_key[kind, key].label:
                named[int(node)] = self._by_key[kind, key].label
        if named:
            await connection.execute(
                "UPDATE graph_nodes n SET label = w.label FROM (SELECT g.id, u.label FROM unnest(%s::int[], %s::text[])"
                " AS u (id, label) JOIN graph_nodes g ON g.id = u.id ORDER BY g.id FOR UPDATE OF g) w"
                " WHERE n.id = w.id AND n.label = ''",
                (list(named), list(named.values())),
            )


async def replace_edges(
    connection: AsyncConnection,
    version: StoredVersion,
    inputs: PageInputs,
    extraction: Extraction,
    ids: Mapping[Node, int],
) -> bool:
    """Make these the live edges of the version's document. False when a node was removed meanwhile: resolve again.

    Call inside the transaction that makes the version current, under the locks of its URL.
    """
    change = EdgeChange(version, inputs, extraction, ids)
    async with connection.pipeline():  # one way to the server and back for all
        await change.ask(connection)
    if not await change.read():
        return False
    async with connection.pipeline():
        await change.write(connection)
    await change.copy([change], connection)
    return True


async def ask_present(connection: AsyncConnection, ids: Mapping[Node, int]) -> AsyncCursor:
    """Keep nodes from being removed until the transaction ends, and ask how many are there; see `are_present`."""
    await connection.execute(_NODES_STAY)
    return await connection.execute("SELECT count(*) FROM graph_nodes WHERE id = ANY(%s)", (sorted(set(ids.values())),))


async def are_present(cursor: AsyncCursor, ids: Mapping[Node, int]) -> bool:
    """Whether no node was removed since its id was read."""
    return int((await cursor.fetchone() or (0,))[0]) == len(set(ids.values()))


async def ask_begins(connection: AsyncConnection, versions: Sequence[StoredVersion]) -> AsyncCursor:
    """Ask where the newest period of each version begins, in their order; now where none is recorded."""
    return await connection.execute(
        "SELECT coalesce((SELECT max(p.seen_from) FROM version_periods p WHERE p.document_id = w.document_id"
        " AND p.version_id = w.id), now()) FROM unnest(%s::int[], %s::int[]) WITH ORDINALITY"
        " AS w (document_id, id, place) ORDER BY w.place",
        ([version.document_id for version in versions], [version.id for version in versions]),
    )


class EdgeChange:
    """The change of a document's live edges, in the order of its methods; `ask` and `write` may be parts of a pipeline.

    Within the transaction that makes the version current, under the locks of its URL.
    """

    def __init__(
        self, version: StoredVersion, inputs: PageInputs, extraction: Extraction, ids: Mapping[Node, int]
    ) -> None:
        self._version = version
        self._inputs = inputs
        self._extraction = extraction
        self._ids = ids

    async def ask(self, connection: AsyncConnection) -> None:
        """Ask what is there."""
        self._present = await ask_present(connection, self._ids)
        self._stored = await connection.execute(_LIVE, (self._version.document_id,))
        self._began = await _begin(connection, self._version.document_id, self._version.id)

    async def read(self) -> bool:
        """Take that in. False when a node was removed meanwhile: resolve again."""
        begin = await _only(self._began)
        if not await are_present(self._present, self._ids) or len(self._ids) < len(_nodes(self._extraction)):
            return False
        self.begin_at(begin)
        self._live = {
            (src, kind, dst, place, name): _Live(int(edge), int(of), since)
            for edge, src, kind, dst, place, of, name, since in await self._stored.fetchall()
        }
        return True

    def begin_at(self, begin: datetime) -> None:
        """All edges are new, and seen from then on. For a document without edges, whose nodes are all there."""
        self._begin, self._live, ids = begin, dict[Identity, _Live](), self._ids
        self._rows = [
            _Row(ids[edge.src], edge.kind, ids[edge.dst], ids[edge.place], edge) for edge in self._extraction.edges
        ]

    async def write(self, connection: AsyncConnection) -> None:
        """Move the edges that stay, end the others, and write what they were made of."""
        await _write(connection, self._version, self._rows, self._live, self._begin)
        await self.note([self], connection)

    @staticmethod
    async def note(changes: Sequence[EdgeChange], connection: AsyncConnection) -> None:
        """Write what the edges of documents are made of."""
        lines = [
            (
                change._version.document_id,
                change._version.id,
                EXTRACTION_VERSION,
                change._inputs.source_key,
                change._inputs.digest,
                len(change._rows),
                change._extraction.reason,
            )
            for change in changes
        ]
        await connection.execute(_DONE, [list(column) for column in zip(*lines, strict=True)])

    @staticmethod
    async def copy(changes: Sequence[EdgeChange], connection: AsyncConnection) -> None:
        """Add the new edges of documents."""
        new = [(change, row) for change in changes for row in change._rows if row.identity not in change._live]
        if not new:
            return
        async with (
            connection.cursor() as writer,
            writer.copy(
                "COPY graph_edges (document_id, version_id, src, dst, place, kind, strength, origin, label, statement,"
                " char_start, char_end, seen_from) FROM STDIN WITH (FORMAT BINARY)"
            ) as copy,
        ):
            copy.set_types([*["int4"] * 5, "text", "float4", *["text"] * 3, "int4", "int4", "timestamptz"])
            for change, row in new:
                edge, version = row.edge, change._version
                where = (version.document_id, version.id, row.src, row.dst, row.place)
                what = (edge.kind, edge.strength, edge.origin, edge.label, edge.statement)
                await copy.write_row((*where, *what, edge.start, edge.end, change._begin))


async def rebuild_edges(database: Database, version: StoredVersion) -> bool:
    """Extract the edges of a version anew and write them; False when it is not current (any more)."""
    async with database.connection() as connection:
        inputs = await page_inputs(connection, version)
    extraction = await asyncio.to_thread(edges_of, version, inputs)
    for _ in range(_ATTEMPTS):
        async with database.connection() as connection:
            ids = await resolve_nodes(connection, extraction)
            async with connection.transaction():
                async with connection.pipeline():
                    await lock_urls(connection, version.canonical_url)
                    cursor = await connection.execute(
                        "SELECT true FROM documents WHERE current_version = %s AND status = 'ready'", (version.id,)
                    )
                if await cursor.fetchone() is None:
                    return False
                if await replace_edges(connection, version, inputs, extraction, ids):
                    return True
    raise IntegrityError(f"nodes of {version.canonical_url} disappeared {_ATTEMPTS} times")


async def close_edges(connection: AsyncConnection, document_id: int) -> None:
    """End all edges of a document that leaves the index, where its last period begins. Call inside a transaction."""
    cursor = await connection.execute(
        "SELECT id, version_id, seen_from FROM graph_edges WHERE document_id = %s AND seen_until IS NULL",
        (document_id,),
    )
    edges = [_Live(int(edge), int(of), since) for edge, of, since in await cursor.fetchall()]
    await _end(connection, edges, await _only(await _begin(connection, document_id, None)))
    await connection.execute(
        "UPDATE graph_documents SET version_id = NULL, edges = 0, counted = false WHERE document_id = %s",
        (document_id,),
    )


def _nodes(*extractions: Extraction) -> set[Node]:
    return {node for page in extractions for edge in page.edges for node in (edge.src, edge.dst, edge.place)}


async def _write(
    connection: AsyncConnection,
    version: StoredVersion,
    rows: Sequence[_Row],
    live: Mapping[Identity, _Live],
    begin: datetime,
) -> None:
    """Move the edges that stay to the version, and end the others where its period begins."""
    common = [(live[row.identity].id, row.edge) for row in rows if row.identity in live]
    identities = {row.identity for row in rows}
    obsolete = [edge for identity, edge in live.items() if identity not in identities]
    # what another extraction reads in the same version was never true
    false = [edge.id for edge in obsolete if edge.version_id == version.id]
    await _end(connection, [edge for edge in obsolete if edge.version_id != version.id], begin, false)
    if not common:
        return
    await connection.execute(
        "UPDATE graph_edges e SET version_id = %s, char_start = k.char_start, char_end = k.char_end,"
        " strength = k.strength, origin = k.origin, label = k.label, statement = k.statement"
        " FROM unnest(%s::bigint[], %s::int[], %s::int[], %s::real[], %s::text[], %s::text[], %s::text[])"
        " AS k (id, char_start, char_end, strength, origin, label, statement) WHERE e.id = k.id",
        (
            version.id,
            [edge_id for edge_id, _ in common],
            [edge.start for _, edge in common],
            [edge.end for _, edge in common],
            [edge.strength for _, edge in common],
            [edge.origin for _, edge in common],
            [edge.label for _, edge in common],
            [edge.statement for _, edge in common],
        ),
    )


async def _begin(connection: AsyncConnection, document_id: int, version_id: int | None) -> AsyncCursor:
    """Ask where the newest period of a version begins (None: of the page's absence); now where none is recorded."""
    return await connection.execute(
        "SELECT coalesce((SELECT max(seen_from) FROM version_periods WHERE document_id = %s"
        " AND version_id IS NOT DISTINCT FROM %s::integer), now())",
        (document_id, version_id),
    )


async def _only(cursor: AsyncCursor) -> datetime:
    row = await cursor.fetchone()
    assert row is not None
    time: datetime = row[0]
    return time


async def _end(connection: AsyncConnection, edges: Sequence[_Live], at: datetime, false: Sequence[int] = ()) -> None:
    """End edges; those that would end before they began were never seen, and go with the `false` ones."""
    never = [*false, *(edge.id for edge in edges if edge.seen_from >= at)]
    ended = [edge.id for edge in edges if edge.seen_from < at]
    if never:
        await connection.execute("DELETE FROM graph_edges WHERE id = ANY(%s)", (never,))
    if ended:
        await connection.execute("UPDATE graph_edges SET seen_until = %s WHERE id = ANY(%s)", (at, ended))


async def ask_missing_edges(connection: AsyncConnection, versions: Sequence[int]) -> AsyncCursor:
    """Ask which of the versions are current and have edges that are not those of this extraction, source and these
    links: a row with the id of each. May be part of a pipeline."""
    return await connection.execute(
        "SELECT v.id FROM document_versions v JOIN documents d ON d.current_version = v.id AND d.status = 'ready'"  # noqa: S608
        f" WHERE v.id = ANY(%s) AND NOT {UP_TO_DATE}".encode(),
        (list(versions),),
        prepare=True,
    )


async def count_degrees(database: Database, batch: int = 200) -> int:
    """Count the incoming edges of the targets of pages that changed; returns the nodes counted.

    Apart from writing pages: the transaction of every page would wait for the node of the front page.
    """
    nodes = 0
    async with database.claims.hold("graph degrees"):  # two that count the same nodes would deadlock
        while True:
            async with database.transaction() as connection:
                await connection.execute(_NODES_STAY)
                cursor = await connection.execute(
                    "UPDATE graph_documents SET counted = true WHERE document_id = ANY(ARRAY(SELECT document_id"
                    " FROM graph_documents WHERE NOT counted ORDER BY document_id LIMIT %s)) RETURNING document_id",
                    (batch,),
                )
                documents = [int(row[0]) for row in await cursor.fetchall()]
                if not documents:
                    return nodes
                cursor = await connection.execute(
                    "UPDATE graph_nodes n SET degree_in = c.edges FROM (SELECT t.dst, (SELECT count(*)"
                    "  FROM graph_edges e WHERE e.dst = t.dst AND e.seen_until IS NULL) AS edges FROM"
                    "  (SELECT DISTINCT dst FROM graph_edges WHERE document_id = ANY(%s)) t) c"
                    " WHERE n.id = c.dst AND n.degree_in <> c.edges",
                    (documents,),
                )
                nodes += cursor.rowcount
