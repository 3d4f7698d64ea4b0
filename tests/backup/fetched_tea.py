"""The tea corpus without the page that nobody fetched, for backups of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.conftest import fresh_database
from tests.web.tea_corpus import LOST, store


@contextmanager
def fetched_tea(server_url: str, folder: Path) -> Iterator[str]:
    """The address of a database that holds it; its home is `folder`."""
    with fresh_database(server_url) as url:
        store(url, folder)
        with psycopg.connect(url) as connection:
            connection.execute("DELETE FROM documents WHERE canonical_url = %s", (LOST,))
        yield url
