"""How an edge is put into words: the relation, and where what its page's mark-up states is proved."""

from __future__ import annotations

from webrag_core.page_text import one_line
from webrag_core.retrieval.graph.models import GraphEdge


def relation(edge: GraphEdge) -> str:
    """links to, see also; of a typed edge the property: author."""
    if edge.kind == "typed" and edge.anchor:
        return one_line(edge.anchor)
    return edge.kind.replace("_", " ")


def proof(edge: GraphEdge) -> str:
    """What stands before the statement of a page's mark-up: whether its text names the thing, too."""
    missing = ", not in its text" if edge.char_start is None else ""
    return f"stated in the page's mark-up{missing}"
