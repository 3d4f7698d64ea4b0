"""Agent `graph`: what stored pages say about things and about each other, each with the passage that says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from psycopg import AsyncConnection

from webrag_core.corpus.quotes import Quote
from webrag_core.history.as_of import AsOf
from webrag_core.result_warnings import Caution
from webrag_core.retrieval.graph.models import GraphEdge, GraphNode, KeyAnswer
from webrag_core.retrieval.graph.past import version_at
from webrag_core.retrieval.graph.tasks import LINKED_KINDS, expand_related, hierarchy, linked_items
from webrag_core.retrieval.graph.wording import relation
from webrag_core.routing.agents.protocol import Context
from webrag_core.routing.plan import GraphAt, GraphHierarchy, GraphLinked, GraphRelated, Task
from webrag_core.routing.results import Finding, Output

_MOST = 40  # findings of one task
_INCOMING: dict[str, str] = {
    "mentions": "mentions",
    "links_to": "links to",
    "defines": "documents",
    "see_also": "recommends",
    "deprecates": "deprecates",
    "replaces": "replaces",
    "cites": "cites",
    "modifies": "modifies",
}


class GraphAgent:
    """Implements `Agent`."""

    async def run(self, task: Task, context: Context) -> Output:
        """Read the graph; every finding is the passage of an edge."""
        params = task.params
        async with context.corpus.database.connection() as connection:
            if isinstance(params, GraphLinked):
                return await _linked(connection, params)
            if isinstance(params, GraphRelated):
                related = await expand_related(connection, params.keys, depth=params.depth, k=params.k)
                chains = [(item.chain[-1], _name(item.node)) for item in related.items if item.chain]
                return _output(related.keys, [_finding(edge, "Related", name) for edge, name in chains])
            if isinstance(params, GraphHierarchy):
                trees = await hierarchy(connection, params.keys, direction=params.direction, depth=params.depth)
                group = "Contains" if params.direction == "down" else "Stands in"
                rows = [_finding(item.edge, group, _name(item.node)) for tree in trees for item in tree.items]
                return _output([tree.key for tree in trees], rows)
            assert isinstance(params, GraphAt)
            at = AsOf.parse(params.at)
            states = await version_at(connection, params.keys, at.end, begin=at.start)
            rows = [_finding(edge, f"Said at {at.text}", _edge_name(edge)) for state in states for edge in state.items]
            return _output([state.key for state in states], rows)


async def _linked(connection: AsyncConnection, params: GraphLinked) -> Output:
    answers = await linked_items(
        connection,
        params.keys,
        kinds=params.kinds or LINKED_KINDS,
        direction=params.direction,
        sources=params.sources or None,
        k=params.k,
    )
    rows = [
        _finding(edge, _group(edge, params.direction), _edge_name(edge)) for answer in answers for edge in answer.items
    ]
    output = _output([answer.key for answer in answers], rows)
    more = sorted({kind.replace("_", " ") for answer in answers for kind in answer.more})
    if more:
        text = f"there are more than {params.k} of: {', '.join(more)} (webrag graph linked)"
        output.warnings.append(Caution(text))
    return output


def _group(edge: GraphEdge, direction: str) -> str:
    if direction == "in":
        return f"{_INCOMING.get(edge.kind, relation(edge)).capitalize()} {_name(edge.dst)}"
    return f"{_name(edge.src)} {_INCOMING.get(edge.kind, relation(edge))}"


def _edge_name(edge: GraphEdge) -> str:
    return edge.title or edge.url


def _name(node: GraphNode) -> str:
    return node.label or node.key


def _finding(edge: GraphEdge, group: str, label: str) -> Finding | None:
    """None where the text does not say it: what a page's mark-up states cannot be quoted."""
    if edge.quote is None or edge.char_start is None:
        return None
    return Finding.of(
        edge.quote,
        group=group,
        label=label,
        url=edge.url,
        title=edge.title,
        heading=edge.section,
        version_id=edge.version_id,
        char_start=edge.char_start,
    )


def _output(keys: Sequence[KeyAnswer], findings: Iterable[Finding | None]) -> Output:
    distinct: dict[Quote, Finding] = {}
    for finding in findings:
        if finding is not None:
            distinct.setdefault(finding.as_quote(), finding)
    rows = list(distinct.values())
    warnings = [
        Caution(f"the name {key.asked} means several things: {', '.join(_name(node) for node in key.candidates[:5])}")
        for key in keys
        if key.status == "ambiguous"
    ]
    if len(rows) > _MOST:
        warnings.append(Caution(f"of {len(rows)} passages the first {_MOST} are listed"))
    note = "" if rows else f"nothing stored says so of {', '.join(key.asked for key in keys)}"
    return Output(findings=rows[:_MOST], note=note, warnings=warnings)
