"""Conversion of pages in worker processes that can be killed: a page of the web may hang or blow up any parser.

Workers are started when the first page comes, kept, and given one page at a time. One that takes too long, needs too
much memory or crashes costs its page alone. They know none of our secrets: their environment is emptied.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from weakref import WeakKeyDictionary

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.html import ConvertedPage
from webrag_core.conversion.parse_process import ParseWorker

WORKERS = 2
MAX_SECONDS = 22.0  # the limit inside the conversion of PDF comes first
MAX_MEMORY_BYTES = 1024 * 1024 * 1024
CONVERSION = "webrag_core.conversion.convert:convert_page"


class WorkerPool:
    """Workers for any number of tasks, event loops and threads of this process."""

    def __init__(
        self,
        size: int = WORKERS,
        *,
        conversion: str = CONVERSION,
        seconds: float = MAX_SECONDS,
        memory_bytes: int = MAX_MEMORY_BYTES,
    ) -> None:
        """`size` conversions at the same time per event loop; `seconds` and `memory_bytes` are for one page.

        `conversion` is MODULE:FUNCTION as the worker imports it.
        """
        self._size = size
        self._limits = (conversion, seconds, memory_bytes)
        self._idle: list[ParseWorker] = []
        self._guard = threading.Lock()
        self._places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    async def convert(self, page: AcquiredPage) -> ConvertedPage:
        """As ParseWorker.convert. Cancelling it kills the worker. Time in the queue does not count."""
        places = self._places.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self._size))
        async with places:
            with self._guard:
                worker = self._idle.pop() if self._idle else ParseWorker(*self._limits)
            try:
                return await asyncio.to_thread(worker.convert, page)
            except asyncio.CancelledError:
                worker.kill()
                raise
            finally:
                with self._guard:
                    keep = not worker.killed and len(self._idle) < self._size
                    if keep:
                        self._idle.append(worker)
                if not keep and not worker.killed:
                    worker.close()

    def close(self) -> None:
        """End all idle workers. The next page starts one again."""
        with self._guard:
            workers, self._idle = self._idle, []
        for worker in workers:
            worker.close()

    def _forget(self) -> None:
        self._guard = threading.Lock()
        self._idle = []


_pool = WorkerPool()


async def convert_in_worker(page: AcquiredPage) -> ConvertedPage:
    """Markdown of a page, made in a worker process. Raises FetchError, WebragError."""
    return await _pool.convert(page)
