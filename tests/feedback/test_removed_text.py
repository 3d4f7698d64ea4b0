"""Removed text is recognised in other records, by address, phrase and rare word, and nothing else is."""

from __future__ import annotations

import asyncio

import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from webrag_core.config import Settings
from webrag_core.corpus.forget import forget
from webrag_core.feedback.removed_text import RemovedText
from webrag_core.indexing.lexical import unused_terms
from webrag_core.indexing.pipeline import Corpus

GONE = f"{HOME}ann-smith"
PAGES = {
    GONE: html("Ann Smith", "Ann Smith of Sutton brews quinquina in her cellar at night."),
    HOME: html("Home", "Pages about tea: who brews it in her cellar, and how. Sutton is a town."),
}


@pytest.fixture
def removed(settings: Settings) -> RemovedText:
    async def work() -> RemovedText:
        text = RemovedText()
        async with Corpus.open(settings, ServedPages(PAGES)) as corpus:
            for url in PAGES:
                await corpus.add(url)
            await text.read(corpus.database, GONE)
            await forget(corpus.database, GONE, removed_by="test")
            async with corpus.database.connection() as connection:
                await text.read_digests(connection)
                text.only(await unused_terms(connection))
        return text

    return asyncio.run(work())


def test_removed_text_is_recognised(removed: RemovedText) -> None:
    for text in (
        GONE,
        f"read (<{GONE}>)",
        f"at {GONE}#cellar.",
        GONE.removeprefix(HOME[:-1]),
        "| **Quinquina** |",
        "she brews Quinquina",
        "“Ann Smith of Sutton brews …”",
        "SMITH of Sutton\nbrews quinquina",
    ):
        assert removed.is_in([text]), text
    for text in ("", HOME, f"{GONE}s", "/tea", "Sutton", "brews it in her cellar", "17", "who brews in Sutton"):
        assert not removed.is_in([text]), text
