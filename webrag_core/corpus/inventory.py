"""Table `inventory_symbols`: where a site's own inventory says that its symbols are documented."""

from __future__ import annotations

from psycopg import AsyncConnection

from webrag_core.acquisition.sitemaps.models import SiteMap
from webrag_core.corpus.sources import Source


async def store_symbols(connection: AsyncConnection, source: Source, site_map: SiteMap) -> None:
    """Store the symbols of the source's section as a map has them. Call inside a transaction.

    What no inventory lists any more goes, but only when an inventory answered and none failed.
    """
    files = [file for file in site_map.files if file.kind == "inventory"]
    if not any(file.outcome == "read" for file in files):
        return
    symbols = [symbol for symbol in site_map.symbols if source.covers(symbol.url)]
    columns = (
        [symbol.url for symbol in symbols],
        [symbol.name for symbol in symbols],
        [symbol.role for symbol in symbols],
        [symbol.anchor for symbol in symbols],
    )
    await connection.execute(
        "CREATE TEMP TABLE listed (page_url text, name text, role text, anchor text) ON COMMIT DROP"
    )
    await connection.execute(
        "INSERT INTO listed SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[])", columns
    )
    if all(file.outcome != "failed" and file.reason is None for file in files):
        await connection.execute(
            "DELETE FROM inventory_symbols i WHERE i.source_id = %s AND NOT EXISTS (SELECT FROM listed l"
            " WHERE (l.page_url, l.name, l.role) = (i.page_url, i.name, i.role))",
            (source.id,),
        )
    await connection.execute(
        "INSERT INTO inventory_symbols AS old (source_id, page_url, name, role, anchor)"
        " SELECT %s, l.page_url, l.name, l.role, l.anchor FROM listed l"
        " JOIN (SELECT DISTINCT page_url FROM listed) p ON p.page_url = l.page_url AND NOT is_forgotten(p.page_url)"
        " ORDER BY l.page_url, l.name, l.role ON CONFLICT (source_id, page_url, name, role)"
        " DO UPDATE SET anchor = EXCLUDED.anchor WHERE old.anchor <> EXCLUDED.anchor",
        (source.id,),
    )
