"""Walk from some nodes to others, level by level: a bounded number of neighbours of each, a bounded number of nodes.

The neighbours of a node by kind of edge and strength are the beginning of an index, so a hub with 100,000 links costs
as much as any other page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from psycopg import AsyncConnection

from webrag_core.indexing.graph.model import EdgeKind, NodeKind

FAN_OUT = 20
"""Neighbours of one node by one kind of edge, in one direction."""
BEAM = 70
"""Nodes of a level from which the next one begins."""
_MOST_STEPS = 2_000  # of one level, the strongest

_LEVEL = """
SELECT s.previous, s.edge, s.other, s.weight, o.degree_in, o.kind, o.key, o.label FROM (
    SELECT f.id AS previous, e.id AS edge, e.other, f.weight * e.strength AS weight
    FROM unnest(%(nodes)s::int[], %(weights)s::float8[]) AS f (id, weight)
    CROSS JOIN unnest(%(kinds)s::text[]) AS k (kind)
    CROSS JOIN LATERAL (
        (SELECT x.id, x.dst AS other, x.strength FROM graph_edges x
         WHERE x.src = f.id AND x.kind = k.kind AND x.seen_until IS NULL ORDER BY x.strength DESC LIMIT %(fan_out)s)
        UNION ALL
        (SELECT x.id, x.src, x.strength FROM graph_edges x
         WHERE x.dst = f.id AND x.kind = k.kind AND x.seen_until IS NULL ORDER BY x.strength DESC LIMIT %(fan_out)s)
    ) e WHERE NOT (e.id = ANY(%(hidden)s::bigint[]))
    ORDER BY weight DESC, edge LIMIT %(most)s
) s JOIN graph_nodes o ON o.id = s.other ORDER BY s.weight DESC, s.edge
"""


class Step(NamedTuple):
    """One edge from a node of a level to the next: `weight` is the weight of `previous` times the strength of the edge,
    `incoming` counts the edges to `node`, whose kind, key and label follow."""

    previous: int
    edge: int
    node: int
    weight: float
    incoming: int
    kind: NodeKind
    key: str
    label: str


async def next_steps(
    connection: AsyncConnection,
    frontier: Mapping[int, float],
    kinds: Sequence[EdgeKind],
    *,
    fan_out: int = FAN_OUT,
    hidden: Sequence[int] = (),
) -> list[Step]:
    """Steps from the nodes of `frontier` (node -> weight) to their strongest neighbours: the 2,000 strongest, in order.

    `fan_out` bounds the neighbours of one node by one kind of edge, in one direction. `hidden` edges are not walked.
    """
    if not frontier:
        return []
    parameters = {
        "nodes": list(frontier),
        "weights": list(frontier.values()),
        "kinds": list(kinds),
        "fan_out": fan_out,
        "hidden": list(hidden),
        "most": _MOST_STEPS,
    }
    cursor = await connection.execute(_LEVEL, parameters)
    return [Step(*row) for row in await cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class NearNode:
    """A node, how strongly all paths lead to it (0, 1], and the edges of the strongest."""

    node: int
    score: float
    path: tuple[int, ...]


async def walk(
    connection: AsyncConnection,
    seeds: Sequence[int],
    kinds: Sequence[EdgeKind],
    depth: int,
    hidden: Sequence[int] = (),
) -> list[NearNode]:
    """Nodes within `depth` steps of the seeds, without them, strongest first.

    The strength of a path is the product of those of its edges, divided by ln(e + incoming edges) of each node that it
    leads through: a hub says little about what it joins, and much is linked to what is worth reading. Several paths to
    a node add up as independent chances do. `hidden` edges are not walked.
    """
    best: dict[int, NearNode] = {}
    start = set(seeds)
    frontier: dict[int, tuple[float, tuple[int, ...]]] = dict.fromkeys(seeds, (1.0, ()))
    for _ in range(depth):
        if not frontier:
            break
        weights = {node: weight for node, (weight, _) in frontier.items()}
        paths: dict[int, dict[int, tuple[float, int]]] = {}  # node -> previous node -> strongest edge
        incoming: dict[int, int] = {}
        for step in await next_steps(connection, weights, kinds, hidden=hidden):
            if step.node in start:
                continue
            incoming[step.node] = step.incoming
            by_previous = paths.setdefault(step.node, {})
            if step.previous not in by_previous or step.weight > by_previous[step.previous][0]:
                by_previous[step.previous] = (step.weight, step.edge)
        level: dict[int, NearNode] = {}
        for node, by_previous in paths.items():
            missed = 1.0
            for weight, _ in by_previous.values():
                missed *= 1.0 - min(weight, 1.0)
            previous, (_, edge) = max(by_previous.items(), key=lambda item: (item[1][0], -item[0]))
            level[node] = NearNode(node, 1.0 - missed, (*frontier[previous][1], edge))
        beam = sorted(level.values(), key=lambda step: (-step.score, step.node))[:BEAM]
        frontier = {
            step.node: (step.score / math.log(math.e + incoming[step.node]), step.path)
            for step in beam
            if step.node not in best
        }
        for entry in level.values():
            known = best.get(entry.node)
            score = entry.score if known is None else 1.0 - (1.0 - known.score) * (1.0 - entry.score)
            best[entry.node] = NearNode(entry.node, score, entry.path if known is None else known.path)
    return sorted(best.values(), key=lambda item: (-item.score, item.node))
