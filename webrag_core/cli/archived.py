"""`webrag ingest URL --archived DATE`: store what a web archive has of pages."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import datetime

from webrag_core.acquisition.memento.acquirer import MementoAcquirer
from webrag_core.cli.addresses import canonical_urls
from webrag_core.cli.output import complain, print_json, print_line
from webrag_core.cli.progress import progress
from webrag_core.config import load_settings
from webrag_core.errors import FetchError
from webrag_core.history.as_of import AsOf

EVERY = "all"
_MOST_COPIES = 50  # of one page


async def ingest_archived(urls: Sequence[str], dates: Sequence[str], *, as_json: bool) -> int:
    """Store the archive's copies nearest to the end of each date, or (`all`) at most 50 of all that it lists, spread
    evenly; one after the other. Returns 1 when one failed, else 0.

    Raises InvalidInputError without MEMENTO_TIMEGATE and for an unreadable date.
    """
    from webrag_core.corpus.acquirers import make_memento_acquirer
    from webrag_core.indexing.pipeline import Corpus
    from webrag_core.store.database import Database

    settings = load_settings()
    moments = [AsOf.parse(date, "--archived").end for date in dates if date != EVERY]
    failed: dict[str, str] = {}
    copies: list[dict[str, object]] = []
    pages = canonical_urls(urls, failed)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(await Database.open(settings))
        acquirer = make_memento_acquirer(settings, database)
        stack.push_async_callback(acquirer.aclose)
        corpus = Corpus(database, acquirer, settings)
        stack.push_async_callback(corpus.embedder.aclose)
        with progress(None, "ingest") as advance:
            for url in pages:
                try:
                    moments_of_page = moments + (await _all_moments(acquirer, url) if EVERY in dates else [])
                    for acquirer.at in sorted(set(moments_of_page)):
                        page = await corpus.add(url, refresh=True)
                        moment = acquirer.at.isoformat()
                        copies.append({"url": page.url, "asked": moment, "version_id": page.version_id})
                        for warning in page.warnings:
                            complain(warning)
                        advance(f"{url} {acquirer.at:%Y-%m-%d}")
                except FetchError as error:
                    failed[url] = error.reason.value
                    complain(f"{url}: {error.message}")
        await corpus.indexer.finish_bulk()
    if as_json:
        print_json({"requested": len(urls), "copies": copies, "failed": failed})
    else:
        texts = len({copy["version_id"] for copy in copies})
        print_line(f"{len(copies)} copies of {len(pages)} pages, {texts} different texts; {len(failed)} pages failed")
    return 1 if failed else 0


async def _all_moments(acquirer: MementoAcquirer, url: str) -> list[datetime]:
    copies = [copy.at for copy in await acquirer.copies(url)]
    if len(copies) <= _MOST_COPIES:
        return copies
    return [copies[round(place * (len(copies) - 1) / (_MOST_COPIES - 1))] for place in range(_MOST_COPIES)]
