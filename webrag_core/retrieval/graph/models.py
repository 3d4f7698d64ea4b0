"""Results of the four tasks of the graph."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from webrag_core.indexing.graph.model import EdgeKind, NodeKind, Origin
from webrag_core.retrieval.models import Contract

KeyStatus = Literal["found", "unknown_key", "ambiguous"]
Certainty = Literal["certain", "between", "not_seen"]


class GraphNode(Contract):
    """A page, section, symbol, term or entity. `label` is what a reader would call it; of a page its title."""

    kind: NodeKind
    key: str
    label: str


class GraphEdge(Contract):
    """`src` is related to `dst`, as `quote` says: the exact slice [char_start, char_end) of that version of the page.

    `section` is the heading it stands under (None: before any). `quote` is None where the text is no longer kept.
    `statement` is what the page's mark-up states (JSON-LD and the like; None for what the text says): `quote` then only
    names `dst`, and there is neither quote nor span where the text does not name it. `anchor` is the text of a link, or
    the property of a typed edge.
    `strength` in (0, 1] says how much of the page the edge is; `seen_until` None = the page still says so.
    """

    edge_id: int
    kind: EdgeKind
    src: GraphNode
    dst: GraphNode
    url: str
    title: str | None
    section: str | None
    version_id: int
    version: int
    version_sha256: str
    char_start: int | None
    char_end: int | None
    quote: str | None
    statement: str | None
    anchor: str | None
    strength: float
    origin: Origin
    seen_from: datetime
    seen_until: datetime | None


class KeyAnswer(Contract):
    """What became of one key. `candidates` are nodes that an ambiguous key may mean, at most 20."""

    asked: str
    status: KeyStatus
    node: GraphNode | None = None
    candidates: list[GraphNode] = Field(default_factory=list)


class RelatedItem(Contract):
    """A node near the keys: `score` in (0, 1], and the strongest path to it, edge after edge from a key."""

    node: GraphNode
    score: float
    chain: list[GraphEdge]


class Related(Contract):
    """Outcome of `expand_related`: nodes near any of the keys, best first."""

    keys: list[KeyAnswer]
    items: list[RelatedItem]


class HierarchyItem(Contract):
    """A node `depth` levels below (or above) the key, next to `parent` on the way to it, and the edge that says so."""

    node: GraphNode
    depth: int
    parent: str
    edge: GraphEdge


class Hierarchy(Contract):
    """Outcome of `hierarchy` for one key: in reading order downwards, from near to far upwards. `complete` is False
    when there is more than was asked for."""

    key: KeyAnswer
    items: list[HierarchyItem] = Field(default_factory=list)
    complete: bool = True


class LinkedItems(Contract):
    """Outcome of `linked_items` for one key: edges by kind, strongest first. `more` names kinds with further edges."""

    key: KeyAnswer
    items: list[GraphEdge] = Field(default_factory=list)
    more: list[EdgeKind] = Field(default_factory=list)


class PageState(Contract):
    """What a page was at a time, as `history.pages` says it: `version` None = absent, or not seen then."""

    url: str
    certainty: Certainty
    version: int | None
    seen_from: datetime | None
    seen_last: datetime | None
    seen_until: datetime | None


class EdgesAt(Contract):
    """Outcome of `version_at` for one key: the edges that held then, with the text of that time, and the pages that
    state them."""

    key: KeyAnswer
    pages: list[PageState] = Field(default_factory=list)
    items: list[GraphEdge] = Field(default_factory=list)
