"""What tests ask of a corpus."""

from __future__ import annotations

from typing import Any

from webrag_core.corpus.verification import VerificationCounts, verify_corpus
from webrag_core.indexing.pipeline import Corpus
from webrag_core.store.database import Database


async def rows(database: Database, query: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Result of one query of the test itself."""
    async with database.connection() as connection:
        return await (await connection.execute(query.encode(), parameters)).fetchall()


async def broken_rules(database: Database) -> set[str]:
    """Names of the invariants that do not hold."""
    return {violation.rule async for violation in verify_corpus(database, VerificationCounts())}


async def texts(corpus: Corpus) -> dict[str, str]:
    """Text of every searchable document by URL, put together from its parents."""
    found = await rows(
        corpus.database,
        "SELECT d.canonical_url, string_agg(c.body, E'\\n' ORDER BY c.ordinal) FROM documents d"
        " JOIN chunks c ON c.version_id = d.current_version AND c.level = 'parent' GROUP BY 1",
    )
    return dict(found)
