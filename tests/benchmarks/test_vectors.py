"""The vector benchmark at a small size, end to end: real text, none twice, and figures that mean what they say."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import pytest

from benchmarks.retrieval.vector_data import CutPage, Page, cut_pages, embed_texts
from benchmarks.retrieval.vectors import Question, draw_scopes, measure
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing import embedding_models
from webrag_core.indexing.chunker import chunk_markdown
from webrag_core.retrieval import dense
from webrag_core.store.database import Database


def pages(words: int = 600) -> list[Page]:
    found = []
    for section in ("library", "howto"):
        for number in range(4):
            sentences = " ".join(f"Part {n} of {section} number {number} is about thing {n * 7}." for n in range(words))
            text = f"# {section} {number}\n\n{sentences}\n"
            parents = tuple(chunk_markdown(text, parent_max=1000, child_target=128))
            found.append(Page(f"https://h.example/{section}/{number}.html", section, text, parents))
    return found


def test_cuts_are_slices_of_the_page_and_no_text_comes_twice() -> None:
    cuts = cut_pages(pages(), 2000)
    pieces = [piece for cut in cuts for piece in cut.pieces]
    assert len(pieces) == len({piece.text for piece in pieces}) == 2000
    assert len({cut.url for cut in cuts}) == len(cuts)
    for cut in cuts:
        for piece in cut.pieces:
            assert cut.markdown[piece.start : piece.end].split()[-1] in piece.text
    assert cut_pages(pages(), 700)[0] == cuts[0]  # a smaller corpus is the beginning of a larger one


def test_pages_that_do_not_have_so_many_texts() -> None:
    with pytest.raises(InvalidInputError, match="different texts"):
        cut_pages(pages(words=3)[:1], 500)


def test_scopes_have_about_the_share_that_was_asked_for() -> None:
    cuts = cut_pages(pages(), 2000)
    sizes = np.array([len(cut.pieces) for cut in cuts])
    for share in (0.5, 0.1):
        for kind, drawn in draw_scopes(cuts, share).items():
            for scope in drawn:
                assert 0.4 * share <= sizes[scope].sum() / 2000 <= 1.6 * share, kind
    assert "sources" not in draw_scopes([_without(cut) for cut in cuts], 0.01)


def _without(cut: CutPage) -> CutPage:
    """The same document in one large source."""
    return CutPage(cut.url, "one", cut.title, cut.markdown, cut.pieces)


@pytest.mark.parametrize("graph_from", [0, 20_000])
def test_small_corpora_lose_nothing(settings: Settings, monkeypatch: pytest.MonkeyPatch, graph_from: int) -> None:
    monkeypatch.setattr(embedding_models, "HNSW_MIN_ROWS", graph_from)
    monkeypatch.setattr(dense, "HNSW_MIN_ROWS", graph_from)
    cuts = cut_pages(pages(), 1000)
    vectors = embed_texts([piece.text for cut in cuts for piece in cut.pieces], settings)
    asked = [Question("own", vector) for vector in embed_texts(["thing 21", "part seven of the howto"], settings)]

    async def body() -> Mapping[str, Any]:
        async with await Database.open(settings) as database:
            return await measure(database, settings, cuts, vectors, asked)

    figures = asyncio.run(body())
    assert figures["rows"] == 1000
    assert figures["graph"] == (graph_from == 0)
    searches = cast("list[dict[str, Any]]", figures["searches"])
    assert {"unfiltered", "documents 50 %", "mixed 50 %"} <= {row["scope"] for row in searches}
    for row in searches:
        assert row["recall"] == 1.0, row
        assert row["too_few"] == 0, row
