"""The graph at a time: the edges that held then, quoted from the text of that time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from psycopg import AsyncConnection

from webrag_core.corpus.documents import load_version
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.graph.edges import edges_of, page_inputs
from webrag_core.indexing.graph.model import Edge, EdgeKind
from webrag_core.indexing.graph.relations import LinkTarget
from webrag_core.retrieval.graph.keys import KeyMatch, resolve_keys
from webrag_core.retrieval.graph.models import EdgesAt, GraphEdge, PageState
from webrag_core.retrieval.graph.quotes import load_edges
from webrag_core.retrieval.graph.tasks import LINKED_KINDS

AT_KINDS: tuple[EdgeKind, ...] = ("contains", *LINKED_KINDS)
_MOST_SCANNED = 5_000

_AT = """
SELECT e.id, e.document_id, k.kind
FROM unnest(%(nodes)s::int[]) AS f (id) CROSS JOIN unnest(%(kinds)s::text[]) AS k (kind)
CROSS JOIN LATERAL (
    (SELECT x.* FROM graph_edges x WHERE x.src = f.id AND x.kind = k.kind AND x.seen_until IS NULL
     ORDER BY x.strength DESC LIMIT %(scan)s)
    UNION ALL
    (SELECT x.* FROM graph_edges x WHERE x.dst = f.id AND x.kind = k.kind AND x.seen_until IS NULL
     ORDER BY x.strength DESC LIMIT %(scan)s)
    UNION ALL
    (SELECT x.* FROM graph_edges x WHERE x.src = f.id AND x.kind = k.kind AND x.seen_until IS NOT NULL
     AND x.seen_from <= %(at)s ORDER BY x.seen_from DESC LIMIT %(scan)s)
    UNION ALL
    (SELECT x.* FROM graph_edges x WHERE x.dst = f.id AND x.kind = k.kind AND x.seen_until IS NOT NULL
     AND x.seen_from <= %(at)s ORDER BY x.seen_from DESC LIMIT %(scan)s)
) e WHERE e.seen_from <= %(at)s AND coalesce(e.seen_until, 'infinity') > %(at)s
ORDER BY array_position(%(kinds)s::text[], k.kind), e.strength DESC, e.document_id, e.char_start, e.id
"""
_PAGES = """
SELECT d.id, d.canonical_url, v.number, v.id, p.seen_from, p.seen_last, p.seen_until
FROM unnest(%(documents)s::int[]) AS w (id) JOIN documents d ON d.id = w.id
LEFT JOIN LATERAL (SELECT * FROM version_periods o WHERE o.document_id = d.id AND o.seen_from <= %(at)s
                   ORDER BY o.seen_from DESC LIMIT 1) p ON true
LEFT JOIN document_versions v ON v.id = p.version_id ORDER BY d.canonical_url
"""


@dataclass(frozen=True, slots=True)
class _Page:
    version_id: int | None
    state: PageState


@dataclass(frozen=True, slots=True)
class _PastText:
    """A text (empty where it is no longer kept), its hash, and its edges by source, kind, target, heading and
    property."""

    sha256: str
    text: str
    edges: Mapping[tuple[str, str, str, str, str], Edge]


class _AnyLink(Mapping[str, LinkTarget]):
    """Link candidates of a text of which none are kept: every link counts."""

    def __getitem__(self, key: str) -> LinkTarget:
        return LinkTarget(in_navigation=False, nofollow=False)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


async def version_at(
    connection: AsyncConnection,
    keys: Sequence[str],
    at: datetime,
    *,
    begin: datetime | None = None,
    kinds: Sequence[EdgeKind] = AT_KINDS,
    k: int = 50,
) -> list[EdgesAt]:
    """What held of each key at `at`: edges from and to it, and the pages that state them or that it names.

    Seen time, not validity. A page is `certain` when it was seen with that text at or after `begin` (default: `at`),
    `between` when nothing says when it changed, `not_seen` before its first sighting. Edges exist for the versions
    that became current. Quotes are of the text of that time; None where it is no longer kept or reads otherwise now.
    At most `k` edges of a kind. Raises InvalidInputError for a time in the future.
    """
    if at.tzinfo is None or (begin or at) > datetime.now(UTC):
        raise InvalidInputError(f"{at} has no zone or lies in the future")
    answers = []
    for key in await resolve_keys(connection, keys):
        answer = EdgesAt(key=key.answer)
        answers.append(answer)
        if key.answer.status != "found":
            continue
        rows = await _edges(connection, key, at, kinds)
        counts: dict[str, int] = {}
        best: list[tuple[int, int]] = []
        for edge, document, kind in rows:
            counts[kind] = counts.get(kind, 0) + 1
            if counts[kind] <= k:
                best.append((edge, document))
        pages = await _pages(connection, key, [document for _, document in best], at, begin or at)
        answer.pages = [page.state for page in pages.values()]
        answer.items = await _quoted(connection, best, pages)
    return answers


async def _edges(
    connection: AsyncConnection, key: KeyMatch, at: datetime, kinds: Sequence[EdgeKind]
) -> list[tuple[int, int, str]]:
    parameters = {"nodes": list(key.ids), "kinds": list(kinds), "at": at, "scan": _MOST_SCANNED}
    cursor = await connection.execute(_AT, parameters)
    return [(int(edge), int(document), str(kind)) for edge, document, kind in await cursor.fetchall()]


async def _pages(
    connection: AsyncConnection, key: KeyMatch, documents: Sequence[int], at: datetime, begin: datetime
) -> dict[int, _Page]:
    """State of these documents, and of the page that the key names, at that time."""
    node = key.answer.node
    url = node.key.partition("#")[0] if node is not None and node.kind in ("page", "section") else None
    cursor = await connection.execute("SELECT id FROM documents WHERE canonical_url = %s", (url,))
    document_ids = {int(row[0]) for row in await cursor.fetchall()} | set(documents)
    cursor = await connection.execute(_PAGES, {"documents": sorted(document_ids), "at": at})
    pages = {}
    for document, address, number, version, seen_from, seen_last, seen_until in await cursor.fetchall():
        certainty = "not_seen" if seen_from is None else "certain" if seen_last >= begin else "between"
        state = PageState(
            url=address,
            certainty=certainty,  # type: ignore[arg-type]
            version=number,
            seen_from=seen_from,
            seen_last=seen_last,
            seen_until=seen_until,
        )
        pages[int(document)] = _Page(version, state)
    return pages


async def _quoted(
    connection: AsyncConnection, best: Sequence[tuple[int, int]], pages: Mapping[int, _Page]
) -> list[GraphEdge]:
    """The edges, each with its span in the text of that time."""
    edges = await load_edges(connection, [edge for edge, _ in best])
    document_of = dict(best)
    texts: dict[int, _PastText] = {}
    for edge in edges:
        page = pages[document_of[edge.edge_id]]
        if page.version_id is None or page.state.version == edge.version:
            continue
        if page.version_id not in texts:
            texts[page.version_id] = await _read(connection, page.version_id)
        past = texts[page.version_id]
        name = edge.anchor or "" if edge.kind == "typed" else ""
        edge_then = past.edges.get((edge.src.key, edge.kind, edge.dst.key, edge.section or "", name))
        edge.version_id, edge.version = page.version_id, page.state.version or edge.version
        edge.version_sha256, edge.quote = past.sha256, None
        if edge_then is not None:
            edge.char_start, edge.char_end, edge.statement = edge_then.start, edge_then.end, edge_then.statement
            edge.quote = None if edge_then.start is None else past.text[edge_then.start : edge_then.end]
    return edges


async def _read(connection: AsyncConnection, version_id: int) -> _PastText:
    version = await load_version(connection, version_id)
    if version is None:
        cursor = await connection.execute("SELECT sha256 FROM document_versions WHERE id = %s", (version_id,))
        return _PastText(str((await cursor.fetchone() or ("",))[0]), "", {})
    inputs = replace(await page_inputs(connection, version), links=_AnyLink())
    edges: dict[tuple[str, str, str, str, str], Edge] = {}
    for edge in edges_of(version, inputs).edges:
        edges.setdefault((edge.src.key, edge.kind, edge.dst.key, edge.place.label, edge.name), edge)
    return _PastText(version.sha256, version.markdown, edges)
