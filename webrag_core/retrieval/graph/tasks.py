"""The tasks of the graph over what pages say now: related nodes, hierarchies, linked items. Pure reading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from psycopg import AsyncConnection

from webrag_core.errors import InvalidInputError
from webrag_core.indexing.graph.model import EdgeKind, NodeKind
from webrag_core.retrieval.graph.keys import resolve_keys
from webrag_core.retrieval.graph.models import (
    GraphNode,
    Hierarchy,
    HierarchyItem,
    LinkedItems,
    Related,
    RelatedItem,
)
from webrag_core.retrieval.graph.quotes import load_edges
from webrag_core.retrieval.graph.walk import walk

RELATED_KINDS: tuple[EdgeKind, ...] = ("see_also", "links_to", "mentions", "defines", "replaces", "deprecates", "typed")
LINKED_KINDS: tuple[EdgeKind, ...] = (
    "defines",
    "deprecates",
    "replaces",
    "mentions",
    "see_also",
    "links_to",
    "cites",
    "modifies",
    "same_as",
    "typed",
)
MAX_DEPTH_RELATED = 2
MAX_DEPTH_HIERARCHY = 6
_MOST_ITEMS = 500  # of a hierarchy
_MOST_SCANNED = 5_000  # edges of one kind that a filter looks at

_NODES = (
    "SELECT n.id, n.kind, n.key, CASE n.kind WHEN 'page' THEN coalesce(v.title, '') ELSE n.label END, c.id,"
    " n.kind <> 'page' OR v.id IS NOT NULL"
    " FROM graph_nodes n LEFT JOIN documents d ON n.kind = 'page' AND d.canonical_url = n.key"
    " LEFT JOIN document_versions v ON v.id = d.current_version"
    " LEFT JOIN url_aliases a ON n.kind = 'page' AND a.url = n.key LEFT JOIN documents o ON o.id = a.document_id"
    " LEFT JOIN graph_nodes c ON c.key = o.canonical_url AND c.kind = 'page' WHERE n.id = ANY(%s)"
)
_CHILDREN = """
SELECT e.id, e.src, e.dst, e.document_id, e.char_start FROM unnest(%s::int[]) AS f (id) CROSS JOIN LATERAL (
    SELECT * FROM graph_edges x WHERE x.src = f.id AND x.kind = 'contains' AND x.seen_until IS NULL
    ORDER BY x.strength DESC LIMIT %s) e ORDER BY e.document_id, e.char_start, e.id
"""
_PARENTS = """
SELECT e.id, e.dst, e.src, e.document_id, e.char_start FROM unnest(%s::int[]) AS f (id) CROSS JOIN LATERAL (
    SELECT * FROM graph_edges x WHERE x.dst = f.id AND x.kind = 'contains' AND x.seen_until IS NULL
    ORDER BY x.strength DESC LIMIT %s) e ORDER BY e.document_id, e.char_start, e.id
"""
_LINKED = """
SELECT e.id, k.kind FROM unnest(%(nodes)s::int[]) AS f (id) CROSS JOIN unnest(%(kinds)s::text[]) AS k (kind)
CROSS JOIN LATERAL (
    SELECT y.id, y.strength FROM (
        SELECT x.id, x.strength, x.document_id FROM graph_edges x WHERE x.{end} = f.id AND x.kind = k.kind
        AND x.seen_until IS NULL ORDER BY x.strength DESC LIMIT %(scan)s) y
    WHERE %(sources)s::text[] IS NULL OR EXISTS (SELECT FROM documents d JOIN sources s ON s.id = d.source_id
        WHERE d.id = y.document_id AND s.key = ANY(%(sources)s))
    ORDER BY y.strength DESC, y.id LIMIT %(most)s) e
ORDER BY array_position(%(kinds)s::text[], k.kind), e.strength DESC, e.id
"""


async def expand_related(
    connection: AsyncConnection,
    keys: Sequence[str],
    *,
    depth: int = 2,
    kinds: Sequence[EdgeKind] = RELATED_KINDS,
    of: Sequence[NodeKind] | None = None,
    k: int = 10,
    stored: bool = True,
    hidden: Sequence[int] = (),
) -> Related:
    """The `k` nodes nearest to all keys together, within `depth` (1 or 2) steps, each with its strongest path.

    `of` keeps nodes of these kinds only, `stored` only pages that the corpus has; `hidden` edges are left out (for
    evaluation).
    Raises InvalidInputError for a depth or a number out of range.
    """
    _check_number("depth", depth, MAX_DEPTH_RELATED)
    _check_number("k", k, 200)
    matches = await resolve_keys(connection, keys)
    seeds = list(dict.fromkeys(node for match in matches for node in match.ids))
    near = await walk(connection, seeds, kinds, depth, hidden) if seeds else []
    nodes = await _load_nodes(connection, [neighbour.node for neighbour in near[: 10 * k + 200]])
    best: dict[str, tuple[GraphNode, float, tuple[int, ...]]] = {}
    for neighbour in near:
        if neighbour.node not in nodes or len(best) >= k:
            continue
        canonical, node, is_stored = nodes[neighbour.node]
        if canonical in seeds or (of is not None and node.kind not in of) or (stored and not is_stored):
            continue
        best.setdefault(node.key, (node, neighbour.score, neighbour.path))
    edges = await load_edges(connection, list(dict.fromkeys(edge for _, _, path in best.values() for edge in path)))
    by_id = {edge.edge_id: edge for edge in edges}
    items = [
        RelatedItem(node=node, score=score, chain=[by_id[edge] for edge in path if edge in by_id])
        for node, score, path in best.values()
    ]
    return Related(keys=[match.answer for match in matches], items=items)


async def hierarchy(
    connection: AsyncConnection,
    keys: Sequence[str],
    *,
    direction: Literal["down", "up"] = "down",
    depth: int = MAX_DEPTH_HIERARCHY,
) -> list[Hierarchy]:
    """What each key contains (`down`: sections of a page, members of a class) or what contains it (`up`).

    Every node once, at its least depth, so that a circle ends by itself; at most 500. Raises InvalidInputError.
    """
    _check_number("depth", depth, MAX_DEPTH_HIERARCHY)
    answers = []
    for key in await resolve_keys(connection, keys):
        answer = Hierarchy(key=key.answer)
        answers.append(answer)
        if key.answer.status == "found":
            steps, answer.complete = await _levels(
                connection, key.ids, _CHILDREN if direction == "down" else _PARENTS, depth
            )
            nodes = await _load_nodes(connection, [node for node, *_ in steps] + [parent for _, parent, *_ in steps])
            edges = await load_edges(connection, [edge for *_, edge in steps])
            by_id = {edge.edge_id: edge for edge in edges}
            answer.items = [
                HierarchyItem(node=nodes[node][1], depth=level, parent=nodes[parent][1].key, edge=by_id[edge])
                for node, parent, level, edge in _in_order(key.ids, steps, nested=direction == "down")
                if edge in by_id
            ]
    return answers


async def linked_items(
    connection: AsyncConnection,
    keys: Sequence[str],
    *,
    kinds: Sequence[EdgeKind] = LINKED_KINDS,
    direction: Literal["in", "out"] = "in",
    sources: Sequence[str] | None = None,
    k: int = 20,
) -> list[LinkedItems]:
    """What defines, mentions, recommends, links to, deprecates, replaces or describes each key (`in`), or what it does
    so itself.

    At most `k` edges of a kind, strongest first; with `sources` only what pages of these sources say (among the 5,000
    strongest of a kind). Raises InvalidInputError.
    """
    _check_number("k", k, 1_000)
    query = _LINKED.replace("{end}", "dst" if direction == "in" else "src").encode()
    answers = []
    for key in await resolve_keys(connection, keys):
        parameters = {
            "nodes": list(key.ids),
            "kinds": list(kinds),
            "sources": None if sources is None else list(sources),
            "scan": k + 1 if sources is None else _MOST_SCANNED,
            "most": k + 1,
        }
        rows = await (await connection.execute(query, parameters)).fetchall() if key.ids else []
        by_kind: dict[EdgeKind, list[int]] = {}
        for edge, kind in rows:
            by_kind.setdefault(kind, []).append(int(edge))
        shown = [edge for edges in by_kind.values() for edge in edges[:k]]
        items = await load_edges(connection, shown)
        more = [kind for kind, edges in by_kind.items() if len(edges) > k]
        answers.append(LinkedItems(key=key.answer, items=items, more=more))
    return answers


async def _levels(
    connection: AsyncConnection, seeds: Sequence[int], query: str, depth: int
) -> tuple[list[tuple[int, int, int, int]], bool]:
    """([(node, next node on the way, level, edge)] in order of the text within each level, whether that is all)."""
    visited, steps, frontier = set(seeds), list[tuple[int, int, int, int]](), list(seeds)
    for level in range(1, depth + 1):
        if not frontier:
            return steps, True
        cursor = await connection.execute(query.encode(), (frontier, _MOST_ITEMS + 1))
        frontier = []
        for edge, at, node, *_ in await cursor.fetchall():
            if node in visited:
                continue
            if len(steps) >= _MOST_ITEMS:
                return steps, False
            visited.add(node)
            frontier.append(node)
            steps.append((node, at, level, edge))
    if not frontier:
        return steps, True
    cursor = await connection.execute(query.encode(), (frontier, 1))
    return steps, all(row[2] in visited for row in await cursor.fetchall())


def _in_order(
    seeds: Sequence[int], steps: list[tuple[int, int, int, int]], *, nested: bool
) -> list[tuple[int, int, int, int]]:
    """Each node followed by what it contains; upwards from near to far."""
    if not nested:
        return steps
    below: dict[int, list[tuple[int, int, int, int]]] = {}
    for step in steps:
        below.setdefault(step[1], []).append(step)
    ordered: list[tuple[int, int, int, int]] = []
    stack = [step for seed in reversed(seeds) for step in reversed(below.get(seed, []))]
    while stack:
        step = stack.pop()
        ordered.append(step)
        stack += reversed(below.get(step[0], []))
    return ordered


async def _load_nodes(connection: AsyncConnection, ids: Sequence[int]) -> dict[int, tuple[int, GraphNode, bool]]:
    """Nodes by id, as (id, node, whether it is stored); another address of a page is that page."""
    cursor = await connection.execute(_NODES, (sorted(set(ids)),))
    rows = {int(row[0]): row for row in await cursor.fetchall()}
    further = {int(row[4]) for row in rows.values() if row[4] is not None and int(row[4]) not in rows}
    if further:
        cursor = await connection.execute(_NODES, (sorted(further),))
        rows |= {int(row[0]): row for row in await cursor.fetchall()}
    nodes = {}
    for node in set(ids) & rows.keys():
        canonical = rows[node][4]
        row = rows.get(canonical, rows[node]) if canonical is not None else rows[node]
        nodes[node] = (int(row[0]), GraphNode(kind=row[1], key=row[2], label=row[3]), bool(row[5]))
    return nodes


def _check_number(name: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise InvalidInputError(f"{name} must lie between 1 and {most}, not {value}")
