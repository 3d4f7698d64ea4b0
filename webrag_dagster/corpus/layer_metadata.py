"""Metadata of a layer's asset: its totals, those of its graph, and the database table behind it as the UI shows tables:
its columns, its rows, its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.corpus.layers import CHUNKS, DOCUMENTS, EMBEDDINGS, LINKS
from webrag_dagster.metadata import Metadata
from webrag_dagster.page_addresses import graph_address

if TYPE_CHECKING:
    from psycopg import AsyncConnection

    from webrag_core.indexing.graph.totals import GraphTotals
    from webrag_dagster.corpus.state import Layer, Page


_TABLES = {DOCUMENTS: "documents", LINKS: "link_candidates", CHUNKS: "chunks", "citations": "citations"}
_COUNTED_UP_TO = 1_000_000
"""Rows up to which they are counted; a larger table has the planner's estimate."""


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


def rows_of(asset: str, pages: Sequence[Page], layer: Layer) -> int:
    """Rows of a source in the table of a layer: the newest versions count."""
    if asset == DOCUMENTS:
        return len(pages)
    if asset == EMBEDDINGS:
        return layer.totals["vectors"]
    return sum(count.rows for count in layer.per_version.values())


async def table_metadata(connection: AsyncConnection, asset: str, rows: int) -> Metadata:
    """Columns, name and number of rows of the table of an asset, and that of the `rows` that belong to the partition.

    Empty when there is no table: before the first vector.
    """
    table = _TABLES.get(asset) or await _live_vectors(connection)
    if table is None:
        return {}
    cursor = await connection.execute(
        "SELECT a.attname, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull, col_description(c.oid, a.attnum),"
        " current_database() || '.' || n.nspname || '.' || c.relname, c.reltuples::bigint"
        " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid"
        " WHERE c.oid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
        (table,),
    )
    columns = await cursor.fetchall()
    estimated = int(columns[0][5])
    if estimated <= _COUNTED_UP_TO:
        cursor = await connection.execute(f"SELECT count(*) FROM {table}".encode())  # noqa: S608 (a name of ours)
        counted = await cursor.fetchone()
        estimated = int(counted[0]) if counted is not None else 0
    schema = dg.TableSchema(
        [
            dg.TableColumn(name, kind, description=comment, constraints=dg.TableColumnConstraints(nullable=nullable))
            for name, kind, nullable, comment, _, _ in columns
        ]
    )
    return {
        "dagster/column_schema": dg.MetadataValue.table_schema(schema),
        "dagster/table_name": dg.MetadataValue.text(str(columns[0][4])),
        "dagster/row_count": dg.MetadataValue.int(estimated),
        "dagster/partition_row_count": dg.MetadataValue.int(rows),
    }


async def _live_vectors(connection: AsyncConnection) -> str | None:
    cursor = await connection.execute("SELECT id FROM embedding_models WHERE state = 'live'")
    row = await cursor.fetchone()
    return None if row is None else f"vectors_{int(row[0])}"
