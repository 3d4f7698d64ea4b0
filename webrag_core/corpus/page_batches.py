"""Work on several pages at a time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from webrag_core.corpus.unforeseen import contained
from webrag_core.errors import FetchError

CONCURRENT_PAGES = 4
"""Pages in progress at once. Requests per host are limited by its queue."""
Item = TypeVar("Item")
Result = TypeVar("Result")


async def gather_bounded(
    urls: Iterable[Item],
    work: Callable[[Item], Awaitable[Result]],
    done: Callable[[Item, Result | FetchError], None],
    *,
    pages: int = CONCURRENT_PAGES,
) -> None:
    """Run `work` for each URL, for `pages` at a time; pass each result to `done` in order of completion.

    A FetchError is a result, and so is what nobody foresaw (INTERNAL_ERROR). Another error of this package cancels the
    remaining work and is raised.
    """
    queue = deque(urls)

    async def worker() -> None:
        while queue:
            url = queue.popleft()
            try:
                with contained(str(url)):
                    result: Result | FetchError = await work(url)
            except FetchError as error:
                result = error
            done(url, result)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(pages, len(queue))):
                group.create_task(worker())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None  # the first failure is the actionable one
