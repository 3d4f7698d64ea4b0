"""docs/reference/views.md: the stable views of the database with their columns, out of a migrated database."""

from __future__ import annotations

from itertools import groupby

import psycopg

from webrag_core.corpus.tables import VIEWS

HEAD = """# Views for SQL

The tables change with each version. The views of schema `contract` stay: columns may be added, none goes. Read them
with any client; `webrag db url` prints the address of the database. This page is written by `make pages` from a
database with all migrations.

A first look, from a shell. `psql` is not part of WebRAG; the embedded server runs as long as a command of WebRAG does,
so keep `webrag up` open beside it:

```
psql "$(webrag db url)" -c 'SELECT status, count(*) FROM contract.v_document GROUP BY 1'
```
"""
_COLUMNS = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'contract'::regnamespace AND c.relkind = 'v' AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY c.relname, a.attnum
"""


def page(database_url: str) -> str:
    """The page as Markdown. Raises ValueError for a view without a purpose."""
    with psycopg.connect(database_url) as connection:
        rows = connection.execute(_COLUMNS).fetchall()
    parts = [HEAD]
    for view, columns in groupby(rows, key=lambda row: str(row[0])):
        if view not in VIEWS:
            raise ValueError(f"say in webrag_core/corpus/tables.py what contract.{view} is for")
        lines = [f"| `{name}` | {kind} |" for _, name, kind in columns]
        parts.append(
            "\n".join([f"## contract.{view}\n", VIEWS[view] + "\n", "| column | type |", "|---|---|", *lines, ""])
        )
    return "\n".join(parts)
