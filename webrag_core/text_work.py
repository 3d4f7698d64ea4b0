"""Work on page text beside the event loop, so that no page keeps other requests waiting.

It runs in a few threads of its own, apart from those that wait for files and processes: whoever sends many large pages
fills this queue alone. Work is bounded by the characters that callers pass, and by `CpuBudget` where it goes on for
longer than its text lets expect. Patterns over such text are linear (`tests/test_patterns.py`): one call of a pattern
holds the interpreter, in whatever thread it runs.
"""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

_THREADS = 2  # each one more shortens the loop's share of the interpreter
_POOL = ThreadPoolExecutor(_THREADS, thread_name_prefix="webrag-text")

P = ParamSpec("P")
T = TypeVar("T")


async def beside_loop(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work` in one of the threads and return what it returns. Raises what it raises.

    Who is cancelled leaves the work to its end, which its bounds bring about.
    """
    bound = partial(contextvars.copy_context().run, work, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_POOL, bound)


class CpuBudget:
    """Processor time that work may take in the thread that makes the budget, in seconds."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.thread_time() + seconds

    @property
    def is_spent(self) -> bool:
        """True from when the thread has used the time."""
        return time.thread_time() >= self._ends
