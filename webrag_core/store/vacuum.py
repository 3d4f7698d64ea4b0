"""Vacuum after bulk loads: what is read from an index alone must not be looked up in its table all the same."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from psycopg import sql

from webrag_core.store.database import Database

logger = logging.getLogger(__name__)

_LEAST_ROWS = 1_000

# rows that came since the last vacuum, and those that changed or went since the planner last looked at them
_GROWN = """
SELECT s.relname FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
WHERE s.schemaname = current_schema() AND (s.relname = ANY(%(tables)s) OR s.relname ~ '^vectors_[0-9]+$')
AND pg_has_role(c.relowner, 'USAGE')
AND s.n_ins_since_vacuum + s.n_mod_since_analyze > greatest(%(least)s, s.n_live_tup / 10) ORDER BY 1
"""


async def vacuum_grown(database: Database, tables: Sequence[str]) -> list[str]:
    """Vacuum and analyse those of `tables`, and of the vector tables, of which a tenth is new or changed. Returns them.

    Counts of rows reach the server's statistics within about a second. Graphs of vectors are left as they are: to clean
    one takes long, and automatic vacuum does it. A table that somebody else vacuums is passed by.
    """
    async with database.long_job() as connection:
        cursor = await connection.execute(_GROWN, {"tables": list(tables), "least": _LEAST_ROWS})
        grown = [str(row[0]) for row in await cursor.fetchall()]
        for name in grown:
            cleanup = sql.SQL("OFF" if name.startswith("vectors_") else "AUTO")
            statement = sql.SQL("VACUUM (ANALYZE, SKIP_LOCKED, INDEX_CLEANUP {}) {}")
            await connection.execute(statement.format(cleanup, sql.Identifier(name)))
    if grown:
        logger.info("vacuumed %s", ", ".join(grown))
    return grown
