"""Pages that are new to the index are written together, and each fails alone."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks import server_work
from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules, rows
from webrag_core.config import Settings
from webrag_core.errors import StoreError
from webrag_core.gathering import Gathering
from webrag_core.indexing.indexer import Indexer
from webrag_core.indexing.pipeline import AddedDocument, Corpus

PAGES = {
    f"{HOME}{number}": html(f"Page {number % 5}", f"This page is about the number {number % 5}.")
    for number in range(12)
}
_CURRENT = "SELECT count(*) FROM documents WHERE current_version IS NOT NULL AND status = 'ready'"


def test_new_pages_share_a_transaction(settings: Settings) -> None:
    """Some of them have the same text."""

    async def run() -> None:
        added: dict[str, object] = {}
        async with Corpus.open(settings, ServedPages(dict(PAGES))) as corpus:
            with server_work.recorded(str) as statements:
                await corpus.add_all(PAGES, added.__setitem__)
            assert all(isinstance(page, AddedDocument) and page.embedded for page in added.values())
            written = [each for each in statements if "INSERT INTO lexical_documents" in str(each.query)]
            assert len(written) < len(PAGES) / 2, "a transaction for every page"
            assert await rows(corpus.database, _CURRENT) == [(len(PAGES),)]
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())


def test_a_page_that_cannot_be_written_fails_alone(settings: Settings) -> None:
    async def run() -> None:
        async with Corpus.open(settings, ServedPages(dict(PAGES))) as corpus:
            versions = [(await corpus.ingestor.ingest(url)).version_id for url in PAGES]
            async with corpus.database.connection() as connection:
                await connection.execute(
                    "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$"
                )
                await connection.execute(
                    "CREATE TRIGGER refused BEFORE INSERT ON chunks FOR EACH ROW"
                    f" WHEN (NEW.version_id = {versions[2]}) EXECUTE FUNCTION refuse()".encode()
                )
            with pytest.raises(StoreError):
                await corpus.indexer.index_new(versions[:4])
            assert await rows(corpus.database, _CURRENT) == [(0,)]
            together = Gathering(corpus.indexer.index_new, 4, 1.0)
            results = await asyncio.gather(*map(together.of, versions[:4]), return_exceptions=True)
            assert [isinstance(result, StoreError) for result in results] == [False, False, True, False]
            assert await rows(corpus.database, _CURRENT) == [(3,)]
            async with corpus.database.claims.hold(f"index version {versions[5]}"):  # somebody else indexes it
                other = Indexer(corpus.database, corpus.indexer.embedder, settings)
                outcomes = await other.index_new(versions[4:7])
            assert [outcome is not None and outcome.became_current for outcome in outcomes] == [True, False, True]
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())
