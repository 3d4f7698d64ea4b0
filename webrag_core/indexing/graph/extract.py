"""Edges of one version, without any model: a pure function of its text, its address and its link candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webrag_core.indexing.graph.model import MAX_EDGES, Edge, Extraction, page_node
from webrag_core.indexing.graph.relations import LinkTarget, read_relations
from webrag_core.indexing.graph.structure import read_structure
from webrag_core.indexing.markdown import Block, parse_blocks


def extract_edges(
    text: str, *, url: str, source: str, links: Mapping[str, LinkTarget], blocks: Sequence[Block] | None = None
) -> Extraction:
    """Extract what a page says about itself and others.

    `url` is its canonical URL, `source` the key of its source, `links` its link candidates by canonical target: a link
    that is not among them is no edge. `blocks` are those of `text` where they are known. Bounded by MAX_SYMBOLS and
    MAX_EDGES; beyond them the first in the text count.
    """
    page = page_node(url)
    if page is None:
        return Extraction([], "address_too_long")
    blocks = parse_blocks(text) if blocks is None else blocks
    structure = read_structure(text, blocks, page, source)
    edges, complete = structure.edges[:MAX_EDGES], len(structure.edges) <= MAX_EDGES
    if complete and len(edges) < MAX_EDGES:
        relations, complete = read_relations(text, blocks, structure, links, MAX_EDGES - len(edges))
        edges = edges + relations
    reason = structure.reason or (None if complete else "too_many_edges")
    return Extraction(_distinct(edges), reason)


def _distinct(edges: Sequence[Edge]) -> list[Edge]:
    """The first edge of each (source, kind, target, place): what the table tells apart."""
    distinct: dict[tuple[str, str, str, str], Edge] = {}
    for edge in edges:
        distinct.setdefault((edge.src.key, edge.kind, edge.dst.key, edge.place.key), edge)
    return list(distinct.values())
