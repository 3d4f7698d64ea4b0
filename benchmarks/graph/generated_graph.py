"""A generated corpus of any size with hubs, written straight into the tables."""

from __future__ import annotations

from psycopg import AsyncConnection, sql

SECTIONS, LINKS, DEFINED, MENTIONS = 10, 27, 3, 34
"""Of every page; with `contains` for its sections and symbols that is about 65 edges for each."""
HOST = "https://bench.example"
TEXT = 400  # characters of a generated text: all that is read of it are quotes

_INDEXES = (
    "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'graph_edges' AND indexname <> 'graph_edges_pkey'"
)

# ids: pages 1..n, sections n + 10 (p - 1) + 1.., symbols after them; page 1 is the front page, to which all link, and
# squares of uniform numbers make the first pages and symbols far more popular than the last
_STATEMENTS = (
    "SELECT setseed(0.5)",
    "INSERT INTO sources (key) VALUES ('bench.example')",
    "INSERT INTO documents (source_id, canonical_url, status, current_version, last_outcome) SELECT 1,"
    " %(host)s || '/p' || p || '.html', 'running', NULL, 'fetched' FROM generate_series(1, %(pages)s) p",
    "INSERT INTO document_versions (document_id, number, markdown, sha256, title, http_status, media_type, fetched_at,"
    " extractor) SELECT p, 1, rpad('Page ' || p || ' says what it says. ', %(text)s, 'More words. '),"
    " md5(p::text) || md5(p::text), 'Page ' || p, 200, 'text/html', now() - interval '1 day', 'bench'"
    " FROM generate_series(1, %(pages)s) p",
    "UPDATE documents SET current_version = id, status = 'ready'",
    "INSERT INTO version_periods (document_id, version_id, seen_from, seen_last, basis) SELECT p, p,"
    " now() - interval '1 day', now() - interval '1 day', 'seen' FROM generate_series(1, %(pages)s) p",
    "INSERT INTO graph_nodes (kind, key, label) SELECT 'page', %(host)s || '/p' || p || '.html', ''"
    " FROM generate_series(1, %(pages)s) p ORDER BY p",
    "INSERT INTO graph_nodes (kind, key, label) SELECT 'section', %(host)s || '/p' || p || '.html#section-' || s,"
    " 'Section ' || s FROM generate_series(1, %(pages)s) p, generate_series(1, %(sections)s) s ORDER BY p, s",
    "INSERT INTO graph_nodes (kind, key, label) SELECT 'symbol', 'bench.example:module' || p || '.f' || s,"
    " 'module' || p || '.f' || s FROM generate_series(1, %(pages)s) p, generate_series(1, %(defined)s) s ORDER BY p, s",
    # half of the sections stand in another one
    "INSERT INTO edges SELECT p, CASE WHEN s % 2 = 1 THEN p ELSE section(p, s - 1) END, section(p, s), p, 'contains', 1"
    " FROM generate_series(1, %(pages)s) p, generate_series(1, %(sections)s) s",
    "INSERT INTO edges SELECT p, section(p, s), symbol(p, s), p, 'contains', 1"
    " FROM generate_series(1, %(pages)s) p, generate_series(1, %(defined)s) s",
    "INSERT INTO edges SELECT p, p, symbol(p, s), section(p, s), 'defines', 1"
    " FROM generate_series(1, %(pages)s) p, generate_series(1, %(defined)s) s",
    "INSERT INTO edges SELECT DISTINCT ON (p, q) p, p, q, section(p, 1),"
    " CASE WHEN l = 2 THEN 'see_also' ELSE 'links_to' END, round((.1 + .3 * random())::numeric, 4)"
    " FROM (SELECT p, l, CASE WHEN l = 1 THEN 1 ELSE"
    "  1 + floor(%(pages)s * CASE WHEN l %% 3 = 0 THEN power(random(), 3) ELSE random() END)::int END AS q"
    "  FROM generate_series(1, %(pages)s) p, generate_series(1, %(links)s) l) x WHERE p <> q"
    " ORDER BY p, q, l",  # the link that every page has to the front page comes before a chance one
    "INSERT INTO edges SELECT DISTINCT ON (p, y) p, p, y, section(p, 1 + m %% %(sections)s), 'mentions',"
    " round((.1 + .2 * random())::numeric, 4) FROM (SELECT p, m, symbol(CASE WHEN m <= 12 THEN p ELSE"
    "  1 + floor(%(pages)s * power(random(), 3))::int END, 1 + m %% %(defined)s) AS y"
    "  FROM generate_series(1, %(pages)s) p, generate_series(1, %(mentions)s) m) x",
    "INSERT INTO graph_edges (document_id, version_id, src, dst, place, kind, strength, origin, char_start, char_end,"
    " seen_from) SELECT p, p, src, dst, place, kind, strength, 'explicit', 0, 30, now() - interval '1 day' FROM edges",
    "DROP TABLE edges",
    "INSERT INTO graph_documents (document_id, version_id, extraction, source_key, inputs, edges, counted)"
    " SELECT document_id, document_id, 'bench', 'bench.example', 0, count(*), true FROM graph_edges GROUP BY 1",
    "UPDATE graph_nodes n SET degree_in = c.edges FROM (SELECT dst, count(*) AS edges FROM graph_edges GROUP BY 1) c"
    " WHERE c.dst = n.id",
)
_PREPARATIONS = (
    "CREATE FUNCTION pg_temp.section(p int, s int) RETURNS int LANGUAGE sql AS"
    " 'SELECT {pages} + {sections} * (p - 1) + s'",
    "CREATE FUNCTION pg_temp.symbol(p int, s int) RETURNS int LANGUAGE sql AS"
    " 'SELECT {pages} * (1 + {sections}) + {defined} * (p - 1) + s'",
    "CREATE TEMP TABLE edges (p int, src int, dst int, place int, kind text, strength real)",
)


async def fill(connection: AsyncConnection, pages: int) -> int:
    """Write a corpus of so many pages into empty, migrated tables; returns its edges. Needs no time limit."""
    sizes = {"pages": pages, "sections": SECTIONS, "links": LINKS, "defined": DEFINED, "mentions": MENTIONS}
    cursor = await connection.execute(_INDEXES)
    indexes = await cursor.fetchall()
    for name, _ in indexes:  # made at the end, at once
        await connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(str(name))))
    for statement in _PREPARATIONS:
        await connection.execute(statement.format(**sizes).encode())
    numbers = {name: str(number) for name, number in sizes.items()} | {"host": f"'{HOST}'", "text": str(TEXT)}
    for statement in _STATEMENTS:
        for function in ("section", "symbol"):
            statement = statement.replace(f"{function}(", f"pg_temp.{function}(")
        # only this module's own numbers and names: functions in a statement with parameters are not inlined
        await connection.execute((statement.replace(" % ", " %% ") % numbers).encode())
    for _, definition in indexes:
        await connection.execute(str(definition).encode())
    for table in ("documents", "document_versions", "version_periods", "graph_nodes", "graph_edges", "graph_documents"):
        await connection.execute(sql.SQL("VACUUM ANALYZE {}").format(sql.Identifier(table)))
    cursor = await connection.execute("SELECT count(*) FROM graph_edges")
    return int((await cursor.fetchone() or (0,))[0])
