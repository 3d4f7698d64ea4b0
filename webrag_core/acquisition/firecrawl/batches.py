"""Batch jobs of Firecrawl: many pages by one request, whose results are asked for until all are there."""

from __future__ import annotations

import asyncio
from asyncio import sleep
from collections.abc import Callable, Sequence

from webrag_core.acquisition.firecrawl.api import FirecrawlApi
from webrag_core.acquisition.firecrawl.wire import Scraped, ScrapeFailure
from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError, Reason

AT_A_TIME = 50
"""Pages of one job: their results are in memory until they are stored."""
_POLL_S = 2.0


async def run_batch(
    api: FirecrawlApi, urls: Sequence[str], seconds: float, deliver: Callable[[str, Scraped], None]
) -> ScrapeFailure | None:
    """Scrape canonical `urls` by one job, and pass each page to `deliver` with the URL that it was asked under.

    Returns what is wrong with those that were not delivered; None when no job was started. A job that is not over
    within `seconds`, or whose caller goes away, is cancelled.
    """
    job: str | None = None
    over = False
    try:
        async with asyncio.timeout(seconds):
            started = await api.patiently(lambda left: api.start_batch(urls, left))
            if isinstance(started, ScrapeFailure):
                return None
            job, following, seen = started, None, set[str]()
            while True:
                page = await api.patiently(lambda left: api.batch_page(job, following))  # noqa: B023
                if isinstance(page, ScrapeFailure):
                    return page
                for document in page.documents:
                    source = _source(document)
                    if source is not None:
                        deliver(source, document)
                over = over or page.over
                if page.next in seen or (over and page.next is None):
                    return ScrapeFailure("Firecrawl delivered nothing for this URL")
                if over and page.next is not None:
                    following = page.next
                    seen.add(following)
                else:
                    await sleep(_POLL_S)
    except TimeoutError:
        return ScrapeFailure(f"Firecrawl did not deliver the page within {seconds:g} s", code=Reason.TIMEOUT)
    finally:
        if job is not None and not over:
            await asyncio.shield(api.cancel_batch(job))


def _source(document: Scraped) -> str | None:
    """Canonical URL that a document of a batch was asked under; results come in any order."""
    for name in ("source_url", "url"):
        try:
            return canonicalise(document.meta_text(name))
        except FetchError:
            continue
    return None
