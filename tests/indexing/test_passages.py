"""What the scorer reads of a text: the same after storing, and beside every child."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.errors import IntegrityError
from webrag_core.indexing.chunks import embedding_text
from webrag_core.indexing.passages import Passage, extract_passages, term_codes
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.search import search_corpus

PAGES = {
    "/lions": page("Lions", "The lion is a large cat that lives in prides on the savannah. Lions hunt zebras."),
    "/cats": page("Cats", "The cat sleeps for sixteen hours. A cat hunts mice and the odd lizard."),
}


def test_term_codes_are_the_same_in_every_process() -> None:
    assert term_codes(["cat"]).tolist() == [0x9E5E43A8]


@pytest.mark.parametrize("text", ["", "the", "A cat hunts a cat.", "東京 naïve asyncio.to_thread"])
def test_a_stored_passage_is_the_one_that_was_cut(text: str) -> None:
    (passage,) = extract_passages([text])
    again = Passage.unpacked(passage.packed())
    assert np.array_equal(again.terms, passage.terms)
    assert np.array_equal(again.tokens, passage.tokens)
    assert (again.terms.dtype, again.tokens.dtype) == (np.uint32, np.uint16)


@pytest.mark.parametrize("cut", [1, 4, 7, 9])
def test_bytes_that_are_no_passage_are_refused(cut: int) -> None:
    whole = Passage(np.arange(2, dtype=np.uint32), np.empty(0, dtype=np.uint16)).packed()
    with pytest.raises(IntegrityError, match="truncated"):
        Passage.unpacked(whole[:cut])


def test_every_child_has_its_passage_and_a_search_finds_the_same_without(settings: Settings) -> None:
    async def body() -> None:
        async with Corpus.open(settings, LocalSite(dict(PAGES))) as corpus:
            for path in PAGES:
                await corpus.add(SITE + path)
            async with corpus.database.connection() as connection:
                cursor = await connection.execute(
                    "SELECT v.title, c.heading_path, k.text, c.passage FROM chunks c"
                    " JOIN document_versions v ON v.id = c.version_id JOIN contract.v_chunk k ON k.chunk_id = c.id"
                    " WHERE c.level = 'child'"
                )
                rows = await cursor.fetchall()
                assert len(rows) == 2
                for title, path, text, stored in rows:
                    assert stored == extract_passages([embedding_text(title, path, text)])[0].packed()
                found = await search_corpus(corpus, "Which cat hunts mice?")
                await connection.execute("UPDATE chunks SET passage = NULL")
                bare = await search_corpus(corpus, "Which cat hunts mice?")
                assert [one.chunk for one in found.chunks] == [one.chunk for one in bare.chunks]

    asyncio.run(body())
