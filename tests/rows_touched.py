"""How many rows the statements of a piece of code read, counted by the server: work is measured without a clock.

The counters are those of `pg_stat_user_tables`. Whatever runs the statements is counted, this process or another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

_LONGEST_MS = 60_000

# a session adds up its numbers at its end at the latest
_END_SESSIONS = """
SELECT pg_terminate_backend(pid, %s) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
# a row of an index is counted there, so that scans of the index alone count as well
_READ = """
SELECT t.relname, t.seq_tup_read + coalesce((SELECT sum(i.idx_tup_read) FROM pg_stat_user_indexes i
                                             WHERE i.relid = t.relid), 0)
FROM pg_stat_user_tables t WHERE t.schemaname = 'public' AND t.relname <> 'schema_migrations'
"""


@contextmanager
def rows_touched(database_url: str) -> Iterator[Counter[str]]:
    """Rows of each table that the block reads, by scans of the table and of its indexes, matching or not. The counter
    is filled at the end of the block. Ends all other sessions of the database, which must be idle, before and after.
    """
    touched: Counter[str] = Counter()
    with psycopg.connect(database_url, autocommit=True) as connection:
        before = _read(connection)
        yield touched
        touched.update(_read(connection) - before)


def _read(connection: psycopg.Connection) -> Counter[str]:
    while connection.execute(_END_SESSIONS, (_LONGEST_MS,)).fetchall():
        pass  # one that was about to end by itself is no longer there to be ended
    return Counter({str(table): int(rows) for table, rows in connection.execute(_READ).fetchall()})
