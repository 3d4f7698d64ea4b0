"""Edges of one version, without any model: a pure function of its text, its address, its links and its mark-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webrag_core.conversion.markup.models import NO_MARKUP, PageMarkup
from webrag_core.indexing.graph.listed import ListedSymbol, ListedSymbols
from webrag_core.indexing.graph.model import MAX_EDGES, Edge, Extraction, page_node
from webrag_core.indexing.graph.relations import LinkTarget, read_relations
from webrag_core.indexing.graph.statements import read_statements
from webrag_core.indexing.graph.structure import read_structure
from webrag_core.indexing.markdown import Block, parse_blocks


def extract_edges(
    text: str,
    *,
    url: str,
    source: str,
    links: Mapping[str, LinkTarget],
    markup: PageMarkup = NO_MARKUP,
    symbols: Sequence[ListedSymbol] = (),
    blocks: Sequence[Block] | None = None,
) -> Extraction:
    """Extract what a page says about itself and others.

    `url` is its canonical URL, `source` the key of its source, `links` its link candidates by canonical target: a link
    that is not among them is no edge. `symbols` are those that an inventory of the site has on this page. `blocks` are
    those of `text` where they are known. Bounded by MAX_SYMBOLS, MAX_EDGES and MAX_STATEMENTS; beyond them the first in
    the text count, and what the mark-up states comes last.
    """
    page = page_node(url)
    if page is None:
        return Extraction([], "address_too_long")
    blocks = parse_blocks(text) if blocks is None else blocks
    structure = read_structure(text, blocks, page, source, ListedSymbols(symbols, dict(markup.anchors)))
    edges, complete = structure.edges[:MAX_EDGES], len(structure.edges) <= MAX_EDGES
    if complete and len(edges) < MAX_EDGES:
        relations, complete = read_relations(text, blocks, structure, links, MAX_EDGES - len(edges))
        edges = edges + relations
    reason = structure.reason or (None if complete else "too_many_edges")
    if markup.nodes or markup.relations:
        statements, complete = read_statements(text, blocks, structure, markup, max(0, MAX_EDGES - len(edges)))
        edges = edges + statements
        reason = reason or (None if complete else "too_many_statements")
    return Extraction(_distinct(edges), reason)


def _distinct(edges: Sequence[Edge]) -> list[Edge]:
    """The first edge of each (source, kind, target, place, property): what the table tells apart."""
    distinct: dict[tuple[str, str, str, str, str], Edge] = {}
    for edge in edges:
        distinct.setdefault((edge.src.key, edge.kind, edge.dst.key, edge.place.key, edge.name), edge)
    return list(distinct.values())
