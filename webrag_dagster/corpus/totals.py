"""Totals of a corpus layer as metadata of its asset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.metadata import Metadata
from webrag_dagster.page_addresses import graph_address

if TYPE_CHECKING:
    from webrag_core.indexing.graph.totals import GraphTotals
    from webrag_dagster.corpus.state import Layer


def layer_metadata(layer: Layer) -> Metadata:
    """Totals of one layer of a source."""
    return {name: dg.MetadataValue.int(total) for name, total in layer.totals.items()}


def graph_metadata(totals: GraphTotals, source: str) -> Metadata:
    """The picture of a source's graph, its nodes and edges, edges by kind, and the pages of whose edges or mark-up only
    a part is there."""
    return {
        **({"graph_page": dg.MetadataValue.url(graph_address(source))} if totals.edges else {}),
        "graph_nodes": dg.MetadataValue.int(totals.nodes),
        "graph_edges": dg.MetadataValue.int(sum(totals.edges.values())),
        "graph_edges_by_kind": dg.MetadataValue.json(totals.edges),
        "pages_with_too_large_a_graph": dg.MetadataValue.int(sum(totals.left_out.values())),
        "pages_with_markup_left_out": dg.MetadataValue.json(totals.markup_left_out),
    }
