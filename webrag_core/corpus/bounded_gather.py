"""Many pages, a few at a time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from webrag_core.errors import FetchError

CONCURRENT_PAGES = 4
"""Pages in work at once. How many of one host are fetched at a time is for its queue to say."""

Result = TypeVar("Result")


async def take_all(
    urls: Iterable[str], take: Callable[[str], Awaitable[Result]], done: Callable[[str, Result | FetchError], None]
) -> None:
    """`take` every URL and tell `done` what came of it, in the order in which they end.

    A page that fails with FetchError is a result. Anything else ends the work and is raised; what was done is kept.
    """
    queue = deque(urls)

    async def work() -> None:
        while queue:
            url = queue.popleft()
            try:
                result: Result | FetchError = await take(url)
            except FetchError as error:
                result = error
            done(url, result)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(CONCURRENT_PAGES, len(queue))):
                group.create_task(work())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None  # what went wrong first is what the caller can act on
