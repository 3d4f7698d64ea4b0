"""Store the pages of a frozen site, and say what is not there: a figure over half a site would look like one of all."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from webrag_core.corpus.page_batches import gather_bounded
from webrag_core.errors import FetchError
from webrag_core.indexing.pipeline import Corpus

logger = logging.getLogger(__name__)


async def store_site(corpus: Corpus, name: str, pages: Sequence[str]) -> None:
    """Fetch, store and index the pages; log how many are not stored, with the first of them."""
    lost: list[str] = []

    def note(url: str, outcome: object) -> None:
        if isinstance(outcome, FetchError):
            lost.append(url)

    await gather_bounded(pages, corpus.add, note)
    if lost:
        logger.warning("%s: %d of %d pages are not stored, such as %s", name, len(lost), len(pages), lost[0])
