"""Statements of validity are kept with the version that makes them, those of older corpora too."""

from __future__ import annotations

import asyncio
from datetime import date

from psycopg.types.range import DateRange

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules, rows
from webrag_core.config import Settings
from webrag_core.corpus.validity import load_statements, read_missing, write_stated
from webrag_core.indexing.pipeline import Corpus

TERMS = f"{HOME}terms"
NEXT_YEAR = DateRange(date(2025, 1, 1), None)


def terms(since: str, fee: int) -> bytes:
    return html(
        "Terms", f"<p>Effective {since}</p><p>The yearly fee is {fee} crowns for every member of the house.</p>"
    )


def test_statements_are_kept_with_their_version(settings: Settings) -> None:
    async def work() -> None:
        site = ServedPages({TERMS: terms("1 January 2024", 10)}, {})
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(TERMS)
            site.pages[TERMS] = terms("1 January 2025", 12)
            await corpus.add(TERMS, refresh=True)
            stated = "SELECT version, kind, valid_from::text, valid_until, basis FROM contract.v_validity ORDER BY 1, 3"
            expected = [
                (1, "in_force", "2024-01-01", None, "text"),
                (2, "in_force", "2025-01-01", None, "text"),
            ]
            assert await rows(corpus.database, stated) == expected
            quoted = await rows(
                corpus.database,
                "SELECT substr(v.markdown, y.char_start + 1, y.char_end - y.char_start) FROM version_validity y"
                " JOIN document_versions v ON v.id = y.version_id ORDER BY v.number",
            )
            assert quoted == [("Effective 1 January 2024",), ("Effective 1 January 2025",)]
            assert await read_missing(corpus.database) == 0
            # as in a corpus from before statements were read
            await rows(corpus.database, "DELETE FROM version_validity RETURNING 1")
            await rows(corpus.database, "UPDATE document_versions SET dates_read = NULL RETURNING 1")
            assert await read_missing(corpus.database) == 2
            assert await rows(corpus.database, stated) == expected
            async with corpus.database.connection() as connection:
                loaded = await load_statements(connection, [1], ["in_force"])
            assert [one.statement.start.year for one in loaded[1] if one.statement.start] == [2024, 2025]
            assert not await broken_rules(corpus.database)
            law = {"@type": "Legislation", "legislationDateOfApplicability": "2025-07-01"}
            async with corpus.database.transaction() as connection:
                await write_stated(connection, 2, "# Terms\n\nEffective 1 January 2025\n", [law])
            assert await rows(corpus.database, stated) == [*expected, (2, "applicable", "2025-07-01", None, "metadata")]
            await rows(
                corpus.database, "UPDATE version_validity SET char_end = 9999 WHERE valid = %s RETURNING 1", NEXT_YEAR
            )
            assert await broken_rules(corpus.database) == {"statements-stand-in-their-text"}

    asyncio.run(work())
