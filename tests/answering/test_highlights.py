"""Passages that are shown instead of an answer: what a sentence announces is shown with it."""

from __future__ import annotations

import asyncio

from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.compose.highlights import highlights
from webrag_core.answering.units import Unit, units_of
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.search import search_corpus

PLACES = (
    "<p>Drawings are kept until they are erased by hand.</p>"
    "<p>They are stored in the standard location on your local drive:</p>"
    "<dl><dt>Windows</dt><dd>The folder TuxDraw of the user's application data.</dd>"
    "<dt>macOS</dt><dd>The folder TuxDraw of the user's library.</dd></dl>"
    "<p>A picture frame is drawn around each thumbnail of them.</p>"
    "<h2>Printing</h2><p>The printer icon prints the drawing at once.</p>"
)


async def units_and_first(settings: Settings) -> tuple[list[Unit], int]:
    """The units of the page, and the place of the first sentence of it."""
    site = LocalSite({"/": page("Drawings", PLACES)})
    async with Corpus.open(settings, site) as corpus:
        await corpus.add(SITE + "/")
        results = await search_corpus(corpus, "Where are drawings stored?")
    units = units_of(results.chunks)
    return units, next(index for index, unit in enumerate(units) if unit.text.startswith("Drawings are kept"))


def test_what_a_colon_announces_is_shown_with_it(settings: Settings) -> None:
    units, first = asyncio.run(units_and_first(settings))
    shown = highlights(units, [first])
    texts = [units[index].text for index in shown[0].units]
    assert len(shown) == 1
    assert texts[1].endswith("local drive:")
    assert any("application data" in text for text in texts)
    assert any("user's library" in text for text in texts)
    assert not any("printer icon" in text for text in texts)


def test_little_room_is_not_overdrawn(settings: Settings) -> None:
    units, first = asyncio.run(units_and_first(settings))
    (shown,) = highlights(units, [first], max_words=24)
    assert sum(len(units[index].text.split()) for index in shown.units) <= 24


def test_of_what_is_announced_nothing_is_skipped(settings: Settings) -> None:
    units, first = asyncio.run(units_and_first(settings))
    for words in range(18, 60):
        for shown in highlights(units, [first], max_words=words):
            assert first in shown.units
            assert list(shown.units) == list(range(shown.units[0], shown.units[-1] + 1))
