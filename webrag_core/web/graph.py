"""What is near a page, a symbol, a term or another thing: drawn, and listed with the quotes that say so."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webrag_core.application.refusals import Refusal
from webrag_core.application.services import Services
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.unit_text import unit_text
from webrag_core.page_text import one_line
from webrag_core.retrieval.graph.drawing import draw
from webrag_core.retrieval.graph.models import GraphEdge, GraphNode
from webrag_core.retrieval.graph.suggestions import named_like, well_known
from webrag_core.retrieval.graph.tasks import MAX_DEPTH_RELATED, expand_related
from webrag_core.retrieval.graph.wording import proof, relation
from webrag_core.web.paths import graph_path
from webrag_core.web.query import field
from webrag_core.web.rendering import page

GRAPH = "/graph"
NUMBERS = (10, 20, 40)
"""How many near things are shown."""
_SUGGESTED = 40  # keys of each kind that the search box knows
_LISTED = 12  # of these on the page without a key
_QUOTE_CHARS = 500


async def show_graph(request: Request) -> Response:
    """The neighbourhood of `key`; without one what there is to begin with, for a key that is none what is like it."""
    services: Services = await request.app.state.services()
    query = request.query_params
    key = field(query, "key")
    depth = next((steps for steps in range(1, MAX_DEPTH_RELATED + 1) if field(query, "depth") == str(steps)), 2)
    number = next((number for number in NUMBERS if field(query, "n") == str(number)), 20)
    outside = field(query, "outside") == "1"
    refusal, related, like = None, None, list[GraphNode]()
    async with services.corpus.database.snapshot() as connection:
        begin = await well_known(connection, limit=_SUGGESTED)
        if key:
            try:
                related = await expand_related(connection, [key], depth=depth, k=number, stored=not outside)
            except InvalidInputError as error:
                refusal = Refusal.of(error)
            if related is not None and related.keys[0].status == "unknown_key":
                like = await named_like(connection, key, limit=20)
    answer = None if related is None else related.keys[0]
    drawing = None if related is None or answer is None or answer.status != "found" else draw(related)
    return page(
        request,
        "graph",
        refusal,
        key=key,
        depth=depth,
        number=number,
        numbers=NUMBERS,
        outside=outside,
        problem="" if refusal is None else refusal.message,
        answer=answer,
        related=related,
        drawing=drawing,
        svg=None if drawing is None else drawing.svg(node_path(depth, number)),
        like=like,
        begin={kind: nodes[:_LISTED] for kind, nodes in begin.items()},
        known=[node for nodes in begin.values() for node in nodes],
        node_path=node_path(depth, number),
        node_name=node_name,
        quote=quote,
        relation=relation,
        proof=proof,
    )


def node_path(depth: int, number: int) -> Callable[[GraphNode], str]:
    """The function that tells where the neighbourhood of a node stands, of as many steps and things as this one."""
    more = {**({} if depth == 2 else {"depth": depth}), **({} if number == 20 else {"n": number})}
    return lambda node: graph_path(f"{node.kind}:{node.key}", **more)


def node_name(node: GraphNode) -> str:
    """What a reader calls a node: its label, of a page its title, else its key."""
    return one_line(node.label or node.key)


def quote(edge: GraphEdge) -> str:
    """The words of an edge without marks of Markdown, the beginning of long ones; "" where there are none."""
    text = one_line(unit_text(edge.quote or "", "paragraph"))
    return text if len(text) <= _QUOTE_CHARS else f"{text[:_QUOTE_CHARS]}…"


ROUTES = [Route(GRAPH, show_graph, methods=["GET"])]
